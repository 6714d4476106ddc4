/*
 * kernels.c - `copyspy kernels`: what the kernels in a file do with their parameters, from their machine code. One
 * thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/command/command.h"
#include "analysis/command/kernels.h"

struct listing {
    struct cs_kernel_reader reader;
    bool json;
    size_t printed, files; /* kernels so far; files that could be read */
    int failure;           /* errno of the output that could not be written; 0: none */
    /* the file at hand */
    const char *path;
    uint8_t *bytes;
    size_t size, released;
    /* progress */
    bool shows_progress, progress_shown;
    struct timespec told;
};

enum { OPTION_TEXT = 256, OPTION_JSON, OPTION_ARCH, OPTION_MATCH };
enum { BIG_FILE = 16 << 20, RELEASE_STEP = 16 << 20, MILLISECONDS_BETWEEN = 100 };

static const struct option options[] = {
    {"text", no_argument, NULL, OPTION_TEXT},
    {"json", no_argument, NULL, OPTION_JSON},
    {"arch", required_argument, NULL, OPTION_ARCH},
    {"match", required_argument, NULL, OPTION_MATCH},
    {NULL, 0, NULL, 0},
};

/* "sm_90" or "90". */
static int parse_architecture(struct listing *listing, const char *value)
{
    char *end;
    const char *digits = strncmp(value, "sm_", 3) == 0 ? value + 3 : value;
    unsigned long number = strtoul(digits, &end, 10);
    if (end == digits || *end || *digits < '1' || *digits > '9' || number > 999)
        return cs_command_fail("kernels: --arch=%s: expected an architecture such as sm_90", value);
    listing->reader.architecture = (uint32_t)number;
    return 0;
}

static int parse(struct listing *listing, int count, char **arguments)
{
    int option, status;
    opterr = 0;
    optind = 1;
    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) {
        switch (option) {
        case OPTION_TEXT:
        case OPTION_JSON:
            listing->json = option == OPTION_JSON;
            break;
        case OPTION_ARCH:
            if ((status = parse_architecture(listing, optarg)))
                return status;
            break;
        case OPTION_MATCH:
            listing->reader.match = optarg;
            break;
        default:
            return cs_command_fail("kernels: %s: expected --text, --json, --arch=sm_NN or --match=TEXT",
                                   arguments[optind - 1]);
        }
    }
    return 0;
}

/* ---- progress: one line on a terminal, for big files ---- */

static void hide_progress(struct listing *listing)
{
    if (listing->progress_shown)
        fputs("\r\033[K", stderr);
    listing->progress_shown = false;
}

static void show_progress(struct listing *listing, size_t done)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long passed = (now.tv_sec - listing->told.tv_sec) * 1000 + (now.tv_nsec - listing->told.tv_nsec) / 1000000;
    if (passed < MILLISECONDS_BETWEEN)
        return;
    listing->told = now;
    listing->progress_shown = true;
    fprintf(stderr, "\r%s: %zu %%, %zu kernels\033[K", listing->path, done * 100 / listing->size,
            listing->reader.totals.kernels);
    fflush(stderr);
}

/* Bytes that are done need not stay in memory; they come back from the file if they are looked at again. */
static void release_pages(struct listing *listing, size_t done)
{
    if (done < listing->released || done - listing->released < RELEASE_STEP)
        return;
    size_t end = done / RELEASE_STEP * RELEASE_STEP;
    madvise(listing->bytes + listing->released, end - listing->released, MADV_DONTNEED);
    listing->released = end;
}

static void go_on(void *context, size_t done)
{
    struct listing *listing = context;
    release_pages(listing, done);
    if (listing->shows_progress && listing->size >= BIG_FILE)
        show_progress(listing, done);
}

/* ---- output ---- */

static int print_kernel(void *context, const struct cs_kernel_entry *entry)
{
    struct listing *listing = context;
    if (isatty(STDOUT_FILENO))
        hide_progress(listing);
    int status = 0;
    errno = ENOMEM; /* what JSON fails of, if not of the output */
    if (listing->json) {
        fputs(listing->printed ? ",\n" : "[\n", stdout);
        status = cs_kernels_print_json(stdout, listing->path, entry);
    } else {
        if (listing->printed)
            fputc('\n', stdout);
        cs_kernels_print_text(stdout, entry);
    }
    listing->printed++;
    if (status != 0 || ferror(stdout))
        listing->failure = errno;
    return listing->failure;
}

/* ---- files ---- */

static int map_file(struct listing *listing)
{
    struct stat about;
    int file = open(listing->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int failed = file < 0 || fstat(file, &about) != 0 ? errno : S_ISREG(about.st_mode) ? 0 : EISDIR;
    listing->bytes = NULL;
    listing->size = listing->released = 0;
    if (!failed && about.st_size > 0) {
        listing->size = (size_t)about.st_size;
        void *bytes = mmap(NULL, listing->size, PROT_READ, MAP_PRIVATE, file, 0);
        failed = bytes == MAP_FAILED ? errno : 0;
        listing->bytes = failed ? NULL : bytes;
    }
    if (file >= 0)
        close(file);
    if (failed == EISDIR)
        return cs_command_fail("kernels: %s: expected a regular file", listing->path);
    return failed ? cs_command_fail("kernels: %s: %s", listing->path, strerror(failed)) : 0;
}

static void note_what_has_no_code(const struct listing *listing, const struct cs_kernel_totals *before)
{
    const struct cs_kernel_totals *after = &listing->reader.totals;
    if (after->cubins == before->cubins && after->unlinked > before->unlinked)
        fprintf(stderr, "copyspy: kernels: %s: no machine code: PTX or other intermediate code alone\n", listing->path);
}

static int list(struct listing *listing)
{
    struct cs_error error;
    struct cs_kernel_totals before = listing->reader.totals;
    int failed = map_file(listing);
    if (failed)
        return failed;
    int status = cs_kernels_read(listing->bytes, listing->size, &listing->reader, &error);
    hide_progress(listing);
    if (listing->bytes)
        munmap(listing->bytes, listing->size);
    if (status < 0)
        return cs_command_fail("kernels: %s: %s", listing->path, error.message);
    listing->files++;
    note_what_has_no_code(listing, &before);
    return 0;
}

/* The array is there once a file could be read, so that what was printed is JSON whatever happens after. */
static int finish(struct listing *listing)
{
    if (listing->json && (listing->printed || listing->files))
        fputs(listing->printed ? "\n]\n" : "[]\n", stdout);
    if (fflush(stdout) != 0 && !listing->failure)
        listing->failure = errno;
    return listing->failure ? cs_command_fail("kernels: standard output: %s", strerror(listing->failure)) : 0;
}

int cs_command_kernels(int count, char **arguments)
{
    struct listing listing = {.reader = {.kernel = print_kernel, .progress = go_on},
                              .shows_progress = isatty(STDERR_FILENO)};
    char *help[] = {"help", NULL};
    listing.reader.context = &listing;
    if (count == 2 && !strcmp(arguments[1], "--help"))
        return cs_command_help(1, help);
    int status = parse(&listing, count, arguments);
    if (status)
        return status;
    if (optind == count)
        return cs_command_fail("kernels: no file given; expected cubins, fat binaries, libraries or programs");
    for (int i = optind; i < count && !listing.failure; i++) {
        listing.path = arguments[i];
        if (count - optind > 1 && !listing.json)
            printf("%s%s:\n", i > optind ? "\n" : "", arguments[i]);
        listing.printed = listing.json ? listing.printed : 0;
        int failed = list(&listing);
        status = failed ? failed : status;
    }
    int failed = finish(&listing);
    return failed ? failed : status;
}
