/*
 * config.c - see config.h. Any thread; libc only; keeps no state.
 */
#include "analysis/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "COPYSPY_"

enum type { TYPE_PATH, TYPE_CHOICE, TYPE_NUMBER, TYPE_DEBUG };

struct variable {
    const char *name;
    enum type type;
    size_t offset; /* of the field in struct cs_config */
    const char *standard, *accepted, *help;
};

static const struct variable variables[] = {
#define CS_VARIABLE(NAME, field, TYPE, standard, accepted, help)                                                       \
    {PREFIX #NAME, TYPE_##TYPE, offsetof(struct cs_config, field), standard, accepted, help},
#include "analysis/config.def"
#undef CS_VARIABLE
};
#define VARIABLE_COUNT (sizeof variables / sizeof variables[0])

static const char *const domains[] = {
#define CS_DOMAIN(name) #name,
#include "analysis/config.def"
#undef CS_DOMAIN
};

static int parse_path(const struct variable *variable, const char *text, void *field)
{
    (void)variable;
    size_t length = strlen(text);
    if (length >= CS_CONFIG_PATH_MAX)
        return -1;
    memcpy(field, text, length + 1);
    return 0;
}

static int parse_choice(const struct variable *variable, const char *text, void *field)
{
    size_t length = strlen(text);
    uint32_t position = 0;
    for (const char *word = variable->accepted; word; position++) {
        const char *end = strchr(word, '|');
        size_t width = end ? (size_t)(end - word) : strlen(word);
        if (width == length && !memcmp(word, text, length)) {
            *(uint32_t *)field = position;
            return 0;
        }
        word = end ? end + 1 : NULL;
    }
    return -1;
}

/* Decimal digits only: strtoul alone would take " +7x". */
static int parse_unsigned(const char *text, const char *end, unsigned long *value)
{
    if (text == end || end - text > 9)
        return -1;
    *value = 0;
    for (; text < end; text++) {
        if (!isdigit((unsigned char)*text))
            return -1;
        *value = *value * 10 + (unsigned long)(*text - '0');
    }
    return 0;
}

static int parse_number(const struct variable *variable, const char *text, void *field)
{
    char *dots;
    unsigned long low = strtoul(variable->accepted, &dots, 10);
    unsigned long high = strtoul(dots + 2, NULL, 10);
    unsigned long value;
    if (parse_unsigned(text, text + strlen(text), &value) || value < low || value > high)
        return -1;
    *(uint32_t *)field = (uint32_t)value;
    return 0;
}

static int parse_domain(const char *item, const char *end, uint8_t *levels)
{
    const char *colon = memchr(item, ':', (size_t)(end - item));
    unsigned long level;
    if (!colon || parse_unsigned(colon + 1, end, &level) || level > 3)
        return -1;
    for (size_t i = 0; i < CS_DEBUG_DOMAIN_COUNT; i++)
        if (strlen(domains[i]) == (size_t)(colon - item) && !memcmp(domains[i], item, (size_t)(colon - item))) {
            levels[i] = (uint8_t)level;
            return 0;
        }
    return -1;
}

static int parse_debug(const struct variable *variable, const char *text, void *field)
{
    uint8_t levels[CS_DEBUG_DOMAIN_COUNT] = {0};
    (void)variable;
    while (*text) {
        const char *comma = strchrnul(text, ',');
        if (parse_domain(text, comma, levels))
            return -1;
        text = *comma ? comma + 1 : comma;
    }
    memcpy(field, levels, sizeof levels);
    return 0;
}

static int parse(const struct variable *variable, const char *text, struct cs_config *config)
{
    static int (*const parsers[])(const struct variable *, const char *, void *) = {
        [TYPE_PATH] = parse_path,
        [TYPE_CHOICE] = parse_choice,
        [TYPE_NUMBER] = parse_number,
        [TYPE_DEBUG] = parse_debug,
    };
    return parsers[variable->type](variable, text, (char *)config + variable->offset);
}

static void __attribute__((format(printf, 3, 4))) say(cs_config_warner *warn, void *context, const char *format, ...)
{
    char message[CS_CONFIG_MESSAGE_MAX];
    va_list arguments;
    if (!warn)
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    warn(context, message);
}

static void warn_value(const struct variable *variable, const char *value, cs_config_warner *warn, void *context)
{
    char domain_list[128] = "";
    size_t used = 0;
    if (variable->type == TYPE_DEBUG)
        for (size_t i = 0; i < CS_DEBUG_DOMAIN_COUNT && used < sizeof domain_list; i++)
            used += (size_t)snprintf(domain_list + used, sizeof domain_list - used, "%s%s",
                                     i ? ", " : "; domains: ", domains[i]);
    say(warn, context, "%s=%.64s is not understood; accepted: %s%s; using %s", variable->name, value,
        variable->accepted, domain_list, *variable->standard ? variable->standard : "the default");
}

void cs_config_read(struct cs_config *config, cs_config_getter *get, cs_config_warner *warn, void *context)
{
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        const struct variable *variable = &variables[i];
        const char *value = get(context, variable->name);
        parse(variable, variable->standard, config);
        if (value && *value && parse(variable, value, config))
            warn_value(variable, value, warn, context);
    }
}

/* Edit distance of two short names; names longer than the table's longest are far from everything. */
static size_t distance(const char *a, size_t a_length, const char *b)
{
    enum { LIMIT = 40 };
    size_t row[LIMIT + 1], b_length = strlen(b);
    if (a_length > LIMIT || b_length > LIMIT)
        return LIMIT;
    for (size_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            size_t edit = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < edit ? change : edit;
        }
    }
    return row[b_length];
}

static void check_name(const char *name, size_t length, cs_config_warner *warn, void *context)
{
    size_t best = 0, nearest = SIZE_MAX;
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        size_t far = distance(name, length, variables[i].name);
        if (far < nearest) {
            nearest = far;
            best = i;
        }
    }
    if (!nearest)
        return;
    if (nearest <= 4)
        say(warn, context, "%.*s is not a variable of copyspy; did you mean %s?", (int)length, name,
            variables[best].name);
    else
        say(warn, context, "%.*s is not a variable of copyspy; `copyspy help variables` lists them",
            length > 64 ? 64 : (int)length, name);
}

void cs_config_check_names(char *const *environment, cs_config_warner *warn, void *context)
{
    for (; environment && *environment; environment++)
        if (!strncmp(*environment, PREFIX, sizeof PREFIX - 1))
            check_name(*environment, strcspn(*environment, "="), warn, context);
}

int cs_config_report_path(const struct cs_config *config, unsigned long pid, char *path, size_t size)
{
    size_t used = 0;
    for (const char *at = config->report; *at; at++) {
        char number[24];
        const char *piece = number;
        if (at[0] == '%' && at[1] == 'p') {
            snprintf(number, sizeof number, "%lu", pid);
            at++;
        } else {
            at += at[0] == '%' && at[1] == '%';
            number[0] = *at;
            number[1] = 0;
        }
        size_t length = strlen(piece);
        if (used + length >= size)
            return -1;
        memcpy(path + used, piece, length);
        used += length;
    }
    if (!size)
        return -1;
    path[used] = 0;
    return 0;
}

void cs_config_print_help(FILE *stream)
{
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        const struct variable *variable = &variables[i];
        fprintf(stream, "%s=%s\n    %s\n    default: %s\n", variable->name, variable->accepted, variable->help,
                *variable->standard ? variable->standard : "not set");
        if (variable->type == TYPE_DEBUG) {
            fprintf(stream, "    domains:");
            for (size_t j = 0; j < CS_DEBUG_DOMAIN_COUNT; j++)
                fprintf(stream, " %s", domains[j]);
            fputc('\n', stream);
        }
    }
}
