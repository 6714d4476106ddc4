/*
 * stack_files.c - see stack_files.h. The loader's list is walked anew for every new stack, so that a library that was
 * closed and another that took its place are told apart; a few microseconds for 300 libraries.
 */
#include "interpose/stack_files.h"

#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "interpose/emit.h"

static void range_of(const struct dl_phdr_info *info, uint64_t *start, uint64_t *end)
{
    *start = UINT64_MAX, *end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD)
            continue;
        uint64_t low = info->dlpi_addr + segment->p_vaddr, high = low + segment->p_memsz;
        *start = low < *start ? low : *start;
        *end = high > *end ? high : *end;
    }
}

struct range_query {
    uint64_t address, start, end;
};

static int find_range(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct range_query *query = context;
    range_of(info, &query->start, &query->end);
    return query->address >= query->start && query->address < query->end;
}

bool cs_files_range(uint64_t address, uint64_t *start, uint64_t *end)
{
    struct range_query query = {.address = address};
    if (!dl_iterate_phdr(find_range, &query))
        return false;
    *start = query.start;
    *end = query.end;
    return true;
}

/* Files found in one walk of the loader's list; the rest are found by the next walk. */
enum { BATCH = 4, KEY_WORDS = 4 };
struct found_file {
    struct cs_record *record;
    uint32_t
        closed; /* how often the program had closed a library, plus 1: the definition is good until the next time */
    uint64_t start, end, bias;
    char name[1024];
};
struct files_query {
    struct cs_table *files;
    const uint64_t *addresses;
    size_t count, found;
    struct found_file batch[BATCH];
};

static bool holds_any(const struct files_query *query, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < query->count; i++) {
        if (query->addresses[i] - 1 >= start && query->addresses[i] - 1 < end)
            return true;
    }
    return false;
}

static uint64_t text_hash(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

static int collect(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct files_query *query = context;
    uint64_t start, end;
    uint32_t closed = (uint32_t)info->dlpi_subs + 1; /* after a dlclose a place may have had another file meanwhile */
    range_of(info, &start, &end);
    if (!holds_any(query, start, end))
        return 0;
    const char *name = info->dlpi_name ? info->dlpi_name : "";
    uint64_t key[KEY_WORDS] = {start, end, info->dlpi_addr, text_hash(name)};
    struct cs_record *record = cs_table_intern(query->files, key, KEY_WORDS, cs_table_hash(key, KEY_WORDS));
    if (!record || atomic_load_explicit(&record->defined, memory_order_acquire) == closed)
        return 0;
    struct found_file *file = &query->batch[query->found++];
    *file =
        (struct found_file){.record = record, .closed = closed, .start = start, .end = end, .bias = info->dlpi_addr};
    if (strlen(name) < sizeof file->name)
        strcpy(file->name, name);
    return query->found == BATCH;
}

/* The loader names the program itself "" and may know a library by a relative path. The vdso has no file. */
static void absolute_path(const char *name, char path[PATH_MAX])
{
    char directory[PATH_MAX / 2];
    path[0] = '\0';
    if (name[0] == '/') {
        snprintf(path, PATH_MAX, "%s", name);
    } else if (name[0] == '\0') {
        ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
        path[length > 0 ? length : 0] = '\0';
    } else if (strchr(name, '/') && getcwd(directory, sizeof directory)) {
        snprintf(path, PATH_MAX, "%s/%s", directory, name);
    }
}

static bool define(const struct found_file *file)
{
    char path[PATH_MAX];
    absolute_path(file->name, path);
    size_t bytes = strlen(path) + 1;
    struct cs_object_file *event = cs_emit_begin(CS_EVENT_OBJECT_FILE, sizeof *event + bytes);
    if (!event)
        return false;
    event->id = file->record->id;
    event->start = file->start;
    event->end = file->end;
    event->bias = file->bias;
    memcpy(event->path, path, bytes);
    cs_emit_end(event);
    atomic_store_explicit(&file->record->defined, file->closed, memory_order_release);
    return true;
}

void cs_files_define(struct cs_table *files, const uint64_t *addresses, size_t count)
{
    struct files_query query = {.files = files, .addresses = addresses, .count = count};
    do {
        query.found = 0;
        dl_iterate_phdr(collect, &query);
        for (size_t i = 0; i < query.found; i++) {
            if (!define(&query.batch[i]))
                return; /* no room for events: these frames stay unnamed until another new stack has them */
        }
    } while (query.found == BATCH);
}
