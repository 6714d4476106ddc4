/*
 * survey.c - prints the summary of every kernel in cubins, and how many memory instructions were traced to parameters
 * and how fast. With -q, only the totals; with -n TEXT, only kernels whose name contains the text.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/sass/cubin.h"
#include "analysis/sass/summary.h"

struct totals {
    size_t kernels, failed, incomplete, opaque_read, opaque_write, text;
    size_t memory, unresolved;
    size_t classes[5];
    double seconds, slowest;
};

struct options {
    bool quiet;
    const char *name;
};

static const char *const class_names[] = {"compute", "copy", "relayout", "cast", "fill"};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void print_summary(const char *name, const struct cs_kernel_summary *summary, double seconds)
{
    static const char *const kinds[] = {"pointer", "map", "table"};
    printf("%s\n   class %s, %.1f ms, %u memory instructions, %u unresolved%s%s%s\n", name, class_names[summary->class],
           seconds * 1e3, summary->memory_instructions, summary->unresolved_instructions,
           summary->opaque_read ? ", opaque read" : "", summary->opaque_write ? ", opaque write" : "",
           summary->incomplete ? ", INCOMPLETE" : "");
    for (size_t i = 0; i < summary->slot_count; i++) {
        const struct cs_slot *slot = &summary->slots[i];
        printf("   +%u %s of %u:%s%s%s%s\n", slot->offset, kinds[slot->kind], slot->size,
               slot->access & CS_ACCESS_READ ? " read" : "", slot->access & CS_ACCESS_WRITE ? " write" : "",
               slot->access & CS_ACCESS_ATOMIC ? " atomic" : "", slot->access & CS_ACCESS_STORED ? " stored" : "");
    }
}

static void survey_kernel(const struct cs_cubin *cubin, size_t kernel, const struct options *options,
                          struct totals *totals)
{
    struct cs_kernel_summary summary;
    struct cs_error error;
    double begin = now();
    if (cs_summarize(cubin, kernel, &summary, &error) != 0) {
        printf("%s\n", error.message);
        totals->failed++;
        return;
    }
    double taken = now() - begin;
    totals->seconds += taken;
    if (taken > totals->slowest)
        totals->slowest = taken;
    totals->kernels++;
    totals->text += cubin->sections[cubin->kernels[kernel].text].bytes.size;
    totals->incomplete += summary.incomplete;
    totals->opaque_read += summary.opaque_read;
    totals->opaque_write += summary.opaque_write;
    totals->memory += summary.memory_instructions;
    totals->classes[summary.class]++;
    totals->unresolved += summary.unresolved_instructions;
    if (!options->quiet)
        print_summary(cs_cubin_kernel_name(cubin, kernel), &summary, taken);
    cs_summary_release(&summary);
}

static int survey(const char *path, const struct options *options, struct totals *totals)
{
    struct stat about;
    struct cs_error error;
    struct cs_cubin *cubin;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    void *image = MAP_FAILED;
    if (file >= 0 && fstat(file, &about) == 0)
        image = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (file >= 0)
        close(file);
    if (image == MAP_FAILED) {
        perror(path);
        return 1;
    }
    int status = cs_cubin_open(image, (size_t)about.st_size, &cubin, &error);
    if (status != 0)
        printf("%s: %s\n", path, error.message);
    for (size_t i = 0; status == 0 && i < cs_cubin_kernel_count(cubin); i++)
        if (!options->name || strstr(cs_cubin_kernel_name(cubin, i), options->name))
            survey_kernel(cubin, i, options, totals);
    cs_cubin_close(status == 0 ? cubin : NULL);
    munmap(image, (size_t)about.st_size);
    return status != 0;
}

int main(int count, char **arguments)
{
    struct totals totals = {0};
    struct options options = {0};
    int status = 0, option;
    while ((option = getopt(count, arguments, "qn:")) != -1) {
        if (option == 'q')
            options.quiet = true;
        else if (option == 'n')
            options.name = optarg;
        else
            return 2;
    }
    for (int i = optind; i < count; i++)
        status |= survey(arguments[i], &options, &totals);
    double resolved = totals.memory ? 100.0 - 100.0 * (double)totals.unresolved / (double)totals.memory : 100.0;
    printf("%zu kernels, %zu failed, %zu incomplete, %zu opaque read, %zu opaque write\n", totals.kernels,
           totals.failed, totals.incomplete, totals.opaque_read, totals.opaque_write);
    printf("%zu memory instructions, %zu unresolved: %.3f %% resolved\n", totals.memory, totals.unresolved, resolved);
    for (size_t i = 0; i < sizeof class_names / sizeof *class_names; i++)
        printf("%s%zu %s", i ? ", " : "", totals.classes[i], class_names[i]);
    printf("\n%.1f MB of code in %.3f s: %.1f MB/s, %.3f ms a kernel, at most %.3f ms\n", (double)totals.text * 1e-6,
           totals.seconds, totals.seconds > 0 ? (double)totals.text * 1e-6 / totals.seconds : 0.0,
           totals.kernels ? totals.seconds * 1e3 / (double)totals.kernels : 0.0, totals.slowest * 1e3);
    return status;
}
