/*
 * kernels_name.c - C++ names as people write them. One thread.
 *
 * libiberty's reader and not the C++ run time's, which the call stacks use: that one gives up on names of more than
 * some 1,000 characters, and template kernels have such names (one in forty of PyTorch's). What bounds there is here:
 * the name's length, since it is read recursively, and the result's, since few characters can name a lot (each "S_"
 * repeats what came before).
 */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command/kernels.h"

enum { LONGEST_NAME = 4096, LONGEST_RESULT = 1 << 16 };

struct result {
    jmp_buf too_long;
    size_t length;
    char text[LONGEST_RESULT];
};

/* The reader allocates nothing in this form, so it can be left in the middle. */
static void append(const char *text, size_t length, void *context)
{
    struct result *result = context;
    if (length >= LONGEST_RESULT - result->length)
        longjmp(result->too_long, 1);
    memcpy(result->text + result->length, text, length);
    result->length += length;
}

static bool demangle(const char *mangled, struct result *result)
{
    result->length = 0;
    if (setjmp(result->too_long) != 0)
        return false;
    if (!cplus_demangle_v3_callback(mangled, DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT, append, result))
        return false;
    result->text[result->length] = '\0';
    return true;
}

char *cs_kernels_demangle(const char *mangled)
{
    if (strncmp(mangled, "_Z", 2) != 0 || strlen(mangled) > LONGEST_NAME)
        return strdup(mangled);
    struct result *result = malloc(sizeof *result);
    char *name = result ? strdup(demangle(mangled, result) ? result->text : mangled) : NULL;
    free(result);
    return name;
}
