/*
 * error.c - see error.h. Any thread.
 */
#include "analysis/error.h"

#include <stdarg.h>
#include <stdio.h>

int cs_fail(struct cs_error *error, const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return -1;
}
