/*
 * names.c - see names.h.
 */
#include "analysis/stacks/names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- readable names ---- */

/* Reads "<length><characters>" at *at into the buffer. */
static bool read_component(const char **at, char *buffer, size_t size, size_t *used)
{
    char *end;
    unsigned long length = strtoul(*at, &end, 10);
    if (end == *at || length == 0 || length > strlen(end))
        return false;
    bool anonymous = length >= 12 && strncmp(end, "_GLOBAL__N_", 11) == 0;
    int written = snprintf(buffer + *used, size - *used, "%s%.*s", *used ? "::" : "", anonymous ? 21 : (int)length,
                           anonymous ? "(anonymous namespace)" : end);
    *used += (size_t)written < size - *used ? (size_t)written : size - *used - 1;
    *at = end + length;
    return true;
}

/* _ZN <component>... E and _Z <component>; other forms (templates, operators, constructors) are not read. */
static bool read_nested(const char *symbol, char *buffer, size_t size)
{
    size_t used = 0;
    const char *at = symbol + 2;
    if (strncmp(symbol, "_Z", 2) != 0)
        return false;
    if (isdigit((unsigned char)*at))
        return read_component(&at, buffer, size, &used) && *at != 'I';
    if (*at++ != 'N')
        return false;
    at += strspn(at, "rVKRO");
    while (*at && *at != 'E') {
        if (!isdigit((unsigned char)*at) || !read_component(&at, buffer, size, &used))
            return false;
    }
    return *at == 'E' && used > 0 && at[1] != 'I';
}

/* Where the parameter list of a demangled name begins, or its end. */
static size_t without_parameters(const char *name)
{
    size_t length = strlen(name), end = length;
    static const char *const after[] = {" const", " volatile", " &", " &&"};
    for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
        size_t suffix = strlen(after[i]);
        if (end > suffix && strncmp(name + end - suffix, after[i], suffix) == 0)
            end -= suffix;
    }
    if (end == 0 || name[end - 1] != ')')
        return length;
    int depth = 0;
    for (size_t i = end; i-- > 1;) {
        depth += (name[i] == ')') - (name[i] == '(');
        if (depth == 0)
            return i;
    }
    return length;
}

/* Where the name begins after a return type: template functions are demangled with one. */
static size_t after_return_type(const char *name, size_t length)
{
    size_t start = 0;
    int depth = 0;
    for (size_t i = 0; i < length; i++) {
        if (strncmp(name + i, "operator", 8) == 0)
            break;
        depth += (name[i] == '<' || name[i] == '(') - (name[i] == '>' || name[i] == ')');
        if (depth == 0 && name[i] == ' ')
            start = i + 1;
    }
    return start;
}

size_t cs_name_readable(const char *symbol, cs_demangle_fn *demangle, char *buffer, size_t size)
{
    int status = -1;
    char whole[4096]; /* without the marks of a compiler's copies: f.isra.0, f.constprop.1, f.cold */
    snprintf(whole, sizeof whole, "%.*s", *symbol ? 1 + (int)strcspn(symbol + 1, ".") : 0, symbol);
    symbol = whole;
    buffer[0] = '\0';
    if (read_nested(symbol, buffer, size))
        return strlen(buffer);
    char *full = demangle && strncmp(symbol, "_Z", 2) == 0 ? demangle(symbol, NULL, NULL, &status) : NULL;
    if (full && status == 0) {
        size_t end = without_parameters(full), start = after_return_type(full, end);
        snprintf(buffer, size, "%.*s", (int)(end - start), full + start);
    } else {
        snprintf(buffer, size, "%s", symbol);
    }
    free(full);
    return strlen(buffer);
}

/* ---- operators ---- */

static const char *const overloads[] = {
#define OVERLOAD(word) word,
#include "analysis/stacks/operators.def"
};

static const char *const whole[] = {
#define OPERATOR(name) name,
#include "analysis/stacks/operators.def"
};

/* Where a split may be at the earliest: after the first letter, and after a name that is not to be split. */
static size_t earliest_split(const char *name, size_t length)
{
    size_t earliest = strspn(name, "_") + 1;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        size_t own = strlen(whole[i]);
        if (length >= own && own > earliest && strncmp(name, whole[i], own) == 0 && (length == own || name[own] == '_'))
            earliest = own;
    }
    return earliest;
}

static bool begins_overload(const char *text, size_t length)
{
    if (length && isupper((unsigned char)*text))
        return true;
    for (size_t i = 0; i < sizeof overloads / sizeof *overloads; i++) {
        size_t word = strlen(overloads[i]);
        if (length >= word && strncmp(text, overloads[i], word) == 0 && (length == word || text[word] == '_'))
            return true;
    }
    return false;
}

static bool ends_with(const char *text, const char *suffix, size_t *length)
{
    size_t end = strlen(suffix);
    if (*length < end || strncmp(text + *length - end, suffix, end) != 0)
        return false;
    *length -= end;
    return true;
}

bool cs_name_operator(const char *function, char *buffer, size_t size)
{
    static const char prefix[] = "at::_ops::";
    if (strncmp(function, prefix, sizeof prefix - 1) != 0)
        return false;
    const char *name = function + sizeof prefix - 1;
    size_t length = strlen(name);
    if (!ends_with(name, "::call", &length) && !ends_with(name, "::redispatch", &length))
        return false;
    for (size_t i = earliest_split(name, length); i + 1 < length; i++) {
        if (name[i] == '_' && begins_overload(name + i + 1, length - i - 1)) {
            snprintf(buffer, size, "%.*s.%.*s", (int)i, name, (int)(length - i - 1), name + i + 1);
            return true;
        }
    }
    snprintf(buffer, size, "%.*s", (int)length, name);
    return true;
}

bool cs_name_autograd_node(const char *function, char *buffer, size_t size)
{
    static const char prefix[] = "torch::autograd::", generated[] = "generated::";
    if (strncmp(function, prefix, sizeof prefix - 1) != 0)
        return false;
    const char *name = function + sizeof prefix - 1;
    if (strncmp(name, generated, sizeof generated - 1) == 0)
        name += sizeof generated - 1;
    size_t length = strlen(name);
    if (!ends_with(name, "::apply", &length) || memchr(name, ':', length))
        return false;
    snprintf(buffer, size, "%.*s", (int)length, name);
    return true;
}
