/*
 * source.c - see source.h.
 */
#include "analysis/report/source.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINES_MAX 6
#define LINE_BYTES_MAX 1000 /* longer ones are generated code: not quoted */

/* A regular file only: opening a pipe could wait for ever. */
static FILE *open_source(const char *file)
{
    struct stat status;
    int descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return NULL;
    FILE *stream = fstat(descriptor, &status) || !S_ISREG(status.st_mode) ? NULL : fdopen(descriptor, "r");
    if (!stream)
        close(descriptor);
    return stream;
}

struct cs_text_list cs_source_lines(struct cs_report *report, const char *file, int64_t first, int64_t last)
{
    struct cs_text_list lines = {0};
    char *line = NULL;
    size_t capacity = 0;
    FILE *stream = first > 0 ? open_source(file) : NULL;
    if (!stream)
        return lines;
    last = last < first ? first : last;
    last = last - first < LINES_MAX ? last : first + LINES_MAX - 1;
    for (int64_t number = 1; number <= last; number++) {
        ssize_t length = getline(&line, &capacity, stream);
        if (length < 0 || length > LINE_BYTES_MAX)
            break;
        line[strcspn(line, "\r\n")] = 0;
        if (number >= first)
            cs_text_list_add(report, &lines, LINES_MAX, cs_report_text(report, line));
    }
    free(line);
    fclose(stream);
    return lines;
}
