/*
 * origin.c - see origin.h.
 */
#include "analysis/stacks/origin.h"

#include <stddef.h>
#include <string.h>

enum how { PREFIX, SUFFIX, CONTAINS, BASE };

static const struct rule {
    int where;
    enum how how;
    const char *pattern;
} rules[] = {
#define PYTHON CS_ORIGIN_PYTHON
#define MODULE CS_ORIGIN_MODULE
#define SOURCE CS_ORIGIN_SOURCE
#define ORIGIN(where, how, pattern) {where, how, pattern},
#include "analysis/stacks/origin.def"
};

static bool begins(const char *text, const char *pattern)
{
    return strncmp(text, pattern, strlen(pattern)) == 0;
}

static bool applies(const struct rule *rule, const char *path)
{
    size_t length = strlen(path), wanted = strlen(rule->pattern);
    const char *slash = strrchr(path, '/');
    switch (rule->how) {
    case PREFIX:
        return begins(path, rule->pattern);
    case SUFFIX:
        return length >= wanted && strcmp(path + length - wanted, rule->pattern) == 0;
    case CONTAINS:
        return strstr(path, rule->pattern) != NULL;
    case BASE:
        return begins(slash ? slash + 1 : path, rule->pattern);
    }
    return false;
}

bool cs_origin_is_user(enum cs_origin what, const char *path)
{
    if (!*path)
        return false;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if ((rules[i].where & (int)what) && applies(&rules[i], path))
            return false;
    }
    return true;
}

bool cs_origin_is_text(const char *path)
{
    return begins(path, "<string>") || begins(path, "<stdin>");
}
