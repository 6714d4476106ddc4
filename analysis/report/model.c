/*
 * model.c - the memory of a report and the texts in it. One thread at a time.
 */
#include "analysis/report/model.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 16384

struct cs_arena_chunk {
    struct cs_arena_chunk *next;
    size_t used, size;
    _Alignas(16) char bytes[];
};

struct cs_report *cs_report_new(void)
{
    struct cs_report *report = calloc(1, sizeof *report);
    if (!report)
        return NULL;
    report->program.command = "";
    report->versions = (struct cs_report_versions){"", "", "", "", ""};
    return report;
}

void cs_report_free(struct cs_report *report)
{
    if (!report)
        return;
    for (struct cs_arena_chunk *chunk = report->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(report);
}

void *cs_report_allocate(struct cs_report *report, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) {
        report->failed = true;
        return NULL;
    }
    bytes = (bytes + 15) & ~(size_t)15;
    struct cs_arena_chunk *chunk = report->chunks;
    if (!chunk || chunk->size - chunk->used < bytes) {
        size_t room = bytes > CHUNK ? bytes : CHUNK;
        chunk = calloc(1, sizeof *chunk + room);
        if (!chunk) {
            report->failed = true;
            return NULL;
        }
        chunk->size = room;
        chunk->next = report->chunks;
        report->chunks = chunk;
    }
    void *memory = chunk->bytes + chunk->used;
    chunk->used += bytes;
    return memory;
}

/* Bytes of the UTF-8 sequence at `text`, or 0 when it is none that may be printed. */
static size_t printable(const unsigned char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = text[0] < 0x80 ? 1 : text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    if (length == 1)
        return (text[0] >= 0x20 && text[0] != 0x7f) || text[0] == '\t';
    if (text[0] < 0xc2 || text[0] > 0xf4)
        return 0;
    uint32_t point = text[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (text[i] & 0x3f);
    }
    bool surrogate = point >= 0xd800 && point < 0xe000, control = point < 0xa0;
    return point < least[length] || point > 0x10ffff || surrogate || control ? 0 : length;
}

static void clean(char *text)
{
    for (unsigned char *at = (unsigned char *)text; *at;) {
        size_t length = printable(at);
        if (!length)
            *at = '?';
        at += length ? length : 1;
    }
}

const char *cs_report_text(struct cs_report *report, const char *text)
{
    if (!text || !*text)
        return "";
    size_t length = strlen(text);
    char *copy = cs_report_allocate(report, length + 1, 1);
    if (!copy)
        return "";
    memcpy(copy, text, length + 1);
    clean(copy);
    return copy;
}

const char *cs_report_format(struct cs_report *report, const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        report->failed = true;
        return "";
    }
    const char *kept = cs_report_text(report, text);
    free(text);
    return kept;
}

void cs_text_list_add(struct cs_report *report, struct cs_text_list *texts, size_t room, const char *text)
{
    if (!texts->items)
        texts->items = cs_report_allocate(report, room, sizeof *texts->items);
    if (texts->items && texts->count < room)
        texts->items[texts->count++] = text;
}

size_t cs_report_findings(const struct cs_report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < report->findings.count; i++)
        count += strcmp(report->findings.items[i].confidence, "possible") != 0;
    return count;
}
