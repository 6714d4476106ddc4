/*
 * write.c - where a report goes: a stream, or a file that is there as a whole or not at all. One thread at a time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/report/model.h"

enum cs_format cs_format_of(const char *path)
{
    size_t length = strlen(path);
    return length >= 5 && !strcmp(path + length - 5, ".json") ? CS_FORMAT_JSON : CS_FORMAT_TEXT;
}

int cs_report_write(const struct cs_report *report, enum cs_format format, const struct cs_render_options *options,
                    FILE *stream, struct cs_error *error)
{
    int failed = 0;
    errno = 0;
    if (format == CS_FORMAT_JSON)
        failed = cs_report_write_json(report, stream);
    else
        cs_report_write_text(report, options, stream);
    if (failed || fflush(stream) || ferror(stream))
        return cs_fail(error, "the report could not be written: %s", errno ? strerror(errno) : "the stream failed");
    return 0;
}

static int write_to(const char *path, int descriptor, const char *shown, const struct cs_report *report,
                    const struct cs_render_options *options, struct cs_error *error)
{
    FILE *stream = fdopen(descriptor, "w");
    if (!stream) {
        close(descriptor);
        return cs_fail(error, "%s: cannot be written: %s", shown, strerror(errno));
    }
    int failed = cs_report_write(report, cs_format_of(path), options, stream, NULL);
    if (fclose(stream) || failed)
        return cs_fail(error, "%s: cannot be written: %s", shown, strerror(errno));
    return 0;
}

/* A pipe, a terminal, /dev/stderr: nothing to replace. */
static bool is_special(const char *path)
{
    struct stat status;
    return !stat(path, &status) && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

static int write_special(const struct cs_report *report, const char *path, const struct cs_render_options *options,
                         struct cs_error *error)
{
    int descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0)
        return cs_fail(error, "%s: cannot be written: %s", path, strerror(errno));
    return write_to(path, descriptor, path, report, options, error);
}

int cs_report_write_path(const struct cs_report *report, const char *path, const struct cs_render_options *options,
                         struct cs_error *error)
{
    char *temporary;
    if (is_special(path))
        return write_special(report, path, options, error);
    if (asprintf(&temporary, "%s.%ld.tmp", path, (long)getpid()) < 0)
        return cs_fail(error, "%s: out of memory", path);
    int descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int failed = descriptor < 0 ? cs_fail(error, "%s: cannot be written: %s", path, strerror(errno))
                                : write_to(path, descriptor, path, report, options, error);
    if (!failed && rename(temporary, path))
        failed = cs_fail(error, "%s: cannot be written: %s", path, strerror(errno));
    if (failed && descriptor >= 0)
        unlink(temporary);
    free(temporary);
    return failed;
}
