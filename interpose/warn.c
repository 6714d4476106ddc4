/*
 * warn.c - see warn.h. Any thread, also signal handlers: formats into a local buffer and writes once.
 */
#include "interpose/warn.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TOPICS = 64 };

static _Atomic(const char *) topics[TOPICS];

static int first_time(const char *topic)
{
    for (int i = 0; i < TOPICS; i++) {
        const char *seen = NULL;
        if (atomic_compare_exchange_strong(&topics[i], &seen, topic))
            return 1;
        if (strcmp(seen, topic) == 0)
            return 0;
    }
    return 0;
}

void cs_warn_once(const char *topic, const char *format, ...)
{
    if (!first_time(topic))
        return;
    int saved = errno;
    char line[1024] = "copyspy: ";
    size_t prefix = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + prefix, sizeof line - prefix - 1, format, arguments);
    va_end(arguments);
    size_t length = strlen(line);
    line[length++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, length);
    (void)written;
    errno = saved;
}
