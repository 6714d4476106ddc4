/*
 * code.c - see code.h. Writers are the program's threads inside CUPTI's module callback; the analysis thread reads. The
 * lock covers only the table and is never held across a call that could come back to us.
 */
#include "interpose/code.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interpose/emit.h"
#include "interpose/warn.h"

struct image {
    uint64_t offset;
    size_t size;
};

static struct {
    pthread_mutex_t lock;
    int file;        /* -1: not opened yet */
    struct stat own; /* of the file: a program may close what it does not know, and its number goes to another */
    uint64_t end;
    uint32_t count, room;
    struct image *images; /* id - 1 is the index */
} store = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = -1};

enum { PAGE = 4096 };

/* Out of the way of programs that count on low numbers. */
enum { LOWEST_FILE = 200 };

static int open_unnamed(void)
{
    const char *folder = getenv("TMPDIR");
    int file = folder ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
    if (file < 0)
        file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return file >= 0 ? file : memfd_create("copyspy-code", MFD_CLOEXEC);
}

static void open_store(void)
{
    int file = open_unnamed();
    int high = file >= 0 ? fcntl(file, F_DUPFD_CLOEXEC, LOWEST_FILE) : -1;
    if (high >= 0) {
        close(file);
        file = high;
    }
    if (file >= 0 && fstat(file, &store.own) == 0)
        store.file = file;
}

/* The store's file, or -1 when it cannot be had or its number means another file by now. */
static int own_file(void)
{
    struct stat now;
    bool own = store.file >= 0 && fstat(store.file, &now) == 0 && now.st_dev == store.own.st_dev &&
               now.st_ino == store.own.st_ino;
    return own ? store.file : -1;
}

static int write_all(int file, const unsigned char *bytes, size_t size, uint64_t offset)
{
    while (size) {
        ssize_t written = pwrite(file, bytes, size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return -1;
        bytes += written;
        offset += (uint64_t)written;
        size -= (size_t)written;
    }
    return 0;
}

/* Reserves room for an image; its id, or 0. */
static uint32_t reserve(size_t size, int *file, uint64_t *offset)
{
    uint32_t id = 0;
    pthread_mutex_lock(&store.lock);
    if (store.file < 0)
        open_store();
    *file = own_file();
    if (*file >= 0 && store.count == store.room) {
        uint32_t room = store.room ? 2 * store.room : 64;
        struct image *images = realloc(store.images, room * sizeof *images);
        if (images) {
            store.images = images;
            store.room = room;
        }
    }
    if (*file >= 0 && store.count < store.room) {
        *offset = store.end;
        store.end += (size + PAGE - 1) / PAGE * PAGE;
        store.images[store.count] = (struct image){*offset, 0};
        id = ++store.count;
    }
    pthread_mutex_unlock(&store.lock);
    return id;
}

void cs_code_loaded(const void *image, size_t size)
{
    int file;
    uint64_t offset;
    uint32_t id = image && size ? reserve(size, &file, &offset) : 0;
    if (!id || write_all(file, image, size, offset) != 0) {
        cs_warn_once("code store", "GPU code could not be kept in a temporary file; kernels from it count as "
                                   "reading and writing everything");
        return;
    }
    pthread_mutex_lock(&store.lock);
    store.images[id - 1].size = size;
    pthread_mutex_unlock(&store.lock);
    struct cs_code *event = cs_emit_begin(CS_EVENT_CODE_LOADED, sizeof *event);
    if (!event)
        return;
    event->id = id;
    event->size = size;
    cs_emit_end(event);
}

int cs_code_map(void *context, uint32_t id, const void **image, size_t *size)
{
    (void)context;
    struct image found = {0, 0};
    pthread_mutex_lock(&store.lock);
    int file = own_file();
    if (id >= 1 && id <= store.count)
        found = store.images[id - 1];
    pthread_mutex_unlock(&store.lock);
    if (!found.size || file < 0)
        return -1;
    void *mapping = mmap(NULL, found.size, PROT_READ, MAP_PRIVATE, file, (off_t)found.offset);
    if (mapping == MAP_FAILED)
        return -1;
    *image = mapping;
    *size = found.size;
    return 0;
}

void cs_code_unmap(void *context, uint32_t id, const void *image, size_t size)
{
    (void)context;
    (void)id;
    munmap((void *)(uintptr_t)image, size);
}

uint64_t cs_code_bytes(void)
{
    pthread_mutex_lock(&store.lock);
    uint64_t bytes = store.end;
    pthread_mutex_unlock(&store.lock);
    return bytes;
}
