/*
 * warn.c - see warn.h and debug.h. Formats into a local buffer and writes once.
 */
#include "interpose/warn.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "interpose/debug.h"
#include "interpose/state.h"

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

static void print(const char *prefix, const char *format, va_list arguments)
{
    if (!cs_state_has_stderr())
        return;
    int saved = errno;
    char line[1024];
    int length = snprintf(line, sizeof line, "%s: ", prefix);
    vsnprintf(line + length, sizeof line - (size_t)length - 1, format, arguments);
    length = (int)strlen(line);
    line[length++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, (size_t)length);
    (void)written;
    errno = saved;
}

void cs_warn_once(const char *topic, const char *format, ...)
{
    if (!first_time(topic))
        return;
    va_list arguments;
    va_start(arguments, format);
    print("copyspy", format, arguments);
    va_end(arguments);
}

void cs_debug(enum cs_debug_domain domain, int level, const char *format, ...)
{
    static const char *const prefixes[] = {
#define CS_DOMAIN(name) "copyspy " #name,
#include "analysis/config.def"
#undef CS_DOMAIN
    };
    if (cs_state_config()->debug[domain] < level)
        return;
    va_list arguments;
    va_start(arguments, format);
    print(prefixes[domain], format, arguments);
    va_end(arguments);
}
