/*
 * advice.c - see advice.h. Pure functions.
 */
#include "analysis/verdicts/advice.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct cs_advice rows[] = {
#define CS_ADVICE(name, FORM, text) {name, text, CS_FORM_##FORM},
#include "analysis/verdicts/advice.def"
#undef CS_ADVICE
};

static const struct {
    const char *operator_name, *remark;
} seeds[] = {
#define CS_SEED(name, text) {name, text},
#include "analysis/verdicts/advice.def"
#undef CS_SEED
};

/* "masked_fill.Scalar" is masked_fill. */
static bool names(const char *operator_name, const char *base)
{
    size_t length = strlen(base);
    return !strncmp(operator_name, base, length) && (!operator_name[length] || operator_name[length] == '.');
}

/* clone and copy_ inside another operator are how that one does its work, not what the user wrote. */
static bool is_inner_work(size_t depth, const struct cs_advice *row)
{
    return depth > 0 && (row->form == CS_FORM_DROP || !strcmp(row->operator_name, "copy_"));
}

struct cs_advice cs_advice_for(const char *const *operators, size_t count)
{
    for (size_t depth = 0; depth < count; depth++)
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
            if (names(operators[depth], rows[i].operator_name) && !is_inner_work(depth, &rows[i]))
                return rows[i];
    if (count)
        return (struct cs_advice){"", "work in place, or go on with the original: nobody reads it again", CS_FORM_NONE};
    return (struct cs_advice){
        "", "use the source's buffer from here on (pass it, move it or swap the pointers) instead of copying it",
        CS_FORM_NONE};
}

const char *cs_advice_seed(const char *const *operators, size_t count)
{
    for (size_t i = 0; count && i < sizeof seeds / sizeof seeds[0]; i++)
        if (names(operators[0], seeds[i].operator_name))
            return seeds[i].remark;
    return NULL;
}

/* ---- rewriting ---- */

#define LINE_MAX_BYTES 1024

static void trim(char *text)
{
    size_t skip = strspn(text, " \t"), length = strlen(text);
    while (length > skip && isspace((unsigned char)text[length - 1]))
        length--;
    memmove(text, text + skip, length - skip);
    text[length - skip] = 0;
}

/* Whether every bracket is closed on the line: else the statement goes on, or began before. */
static bool balanced(const char *text)
{
    int depth = 0;
    for (; *text && depth >= 0; text++)
        depth += (strchr("([{", *text) != NULL) - (strchr(")]}", *text) != NULL);
    return !depth;
}

/* The statement on the line that holds `column`: comment cut off, one of several by ';'. False: quotes make that
 * unsure. */
static bool statement(const char *line, int64_t column, char *out)
{
    size_t length = strcspn(line, "\r\n");
    bool quoted = memchr(line, '\'', length) || memchr(line, '"', length);
    const char *comment = memchr(line, '#', length), *semicolon = memchr(line, ';', length);
    if (length >= LINE_MAX_BYTES || (quoted && semicolon))
        return false;
    if (comment && quoted &&
        (memchr(comment, '"', (size_t)(line + length - comment)) ||
         memchr(comment, '\'', (size_t)(line + length - comment))))
        return false;
    size_t end = comment ? (size_t)(comment - line) : length, start = 0;
    if (semicolon && (size_t)(semicolon - line) < end) {
        if (column < 0 || (size_t)column >= end)
            return false;
        for (size_t i = 0; i < end; i++)
            if (line[i] == ';' && (int64_t)i < column)
                start = i + 1;
            else if (line[i] == ';' && (int64_t)i > column && i < end)
                end = i;
    }
    memcpy(out, line + start, end - start);
    out[end - start] = 0;
    trim(out);
    return balanced(out);
}

/* The only place of `pattern` in `text`, or NULL when there is none or more than one. */
static char *only(char *text, const char *pattern)
{
    char *found = strstr(text, pattern);
    return found && !strstr(found + 1, pattern) ? found : NULL;
}

/* Bytes of the (dotted) name at `text`; Python's names may be any letters, so every byte beyond ASCII counts as one. */
static size_t identifier(const char *text)
{
    size_t length = 0;
    if (isdigit((unsigned char)*text))
        return 0;
    while (isalnum((unsigned char)text[length]) || text[length] & 0x80 || text[length] == '_' ||
           (length && text[length] == '.'))
        length++;
    return length;
}

/* The ')' that closes the '(' at `open`, or NULL. */
static const char *closing(const char *open)
{
    int depth = 0;
    for (const char *at = open; *at; at++) {
        depth += (*at == '(') - (*at == ')');
        if (!depth)
            return at;
    }
    return NULL;
}

/* In "NAME = NAME.op_(...)" the assignment says nothing: cuts it off. */
static void drop_assignment(char *text)
{
    size_t name = identifier(text), after = name + strspn(text + name, " ");
    if (!name || text[after] != '=' || text[after + 1] == '=')
        return;
    size_t value = after + 1 + strspn(text + after + 1, " ");
    if (strncmp(text, text + value, name) || text[value + name] != '.')
        return;
    const char *open = text + value + identifier(text + value);
    const char *close = *open == '(' ? closing(open) : NULL;
    if (close && !close[1] && !memchr(text + value + name + 1, '.', (size_t)(open - text - (long)(value + name + 1))))
        memmove(text, text + value, strlen(text + value) + 1);
}

static bool method_in_place(const char *op, char *text, char *out, size_t size)
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, ".%s(", op);
    char *call = only(text, pattern);
    if (!call || !strncmp(text, "torch.", 6))
        return false;
    size_t before = (size_t)(call - text), torch = sizeof "torch" - 1;
    if (before >= torch && !memcmp(call - torch, "torch", torch))
        return false;
    snprintf(out, size, "%.*s.%s_(%s", (int)before, text, op, call + strlen(pattern));
    drop_assignment(out);
    return true;
}

/* torch.op(x, rest) becomes x.op_(rest). */
static bool function_in_place(const char *op, char *text, char *out, size_t size)
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, "torch.%s(", op);
    char *call = only(text, pattern);
    if (!call)
        return false;
    const char *argument = call + strlen(pattern);
    size_t length = identifier(argument), after = length + strspn(argument + length, " ");
    if (!length || argument[after] != ',')
        return false;
    const char *rest = argument + after + 1;
    rest += strspn(rest, " ");
    snprintf(out, size, "%.*s%.*s.%s_(%s", (int)(call - text), text, (int)length, argument, op, rest);
    drop_assignment(out);
    return true;
}

/* x.op() becomes x; "x = x" says nothing and is no line to write. */
static bool drop_call(const char *op, char *text, char *out, size_t size)
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, ".%s()", op);
    char *call = only(text, pattern);
    if (!call)
        return false;
    snprintf(out, size, "%.*s%s", (int)(call - text), text, call + strlen(pattern));
    size_t name = identifier(out), after = name + strspn(out + name, " ");
    if (name && out[after] == '=') {
        const char *value = out + after + 1 + strspn(out + after + 1, " ");
        if (!strncmp(value, out, name) && !value[name])
            return false;
    }
    return true;
}

bool cs_advice_rewrite(const struct cs_advice *advice, const char *line, int64_t column, char *out, size_t size)
{
    char text[LINE_MAX_BYTES];
    if (advice->form == CS_FORM_NONE || !statement(line, column, text))
        return false;
    if (advice->form == CS_FORM_DROP)
        return drop_call(advice->operator_name, text, out, size);
    return method_in_place(advice->operator_name, text, out, size) ||
           function_in_place(advice->operator_name, text, out, size);
}
