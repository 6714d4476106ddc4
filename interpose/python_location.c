/*
 * python_location.c - see python_location.h. Runs the first time a (code object, instruction) pair is seen, on the
 * thread that executes it. Reads nothing beyond the table.
 */
#include "interpose/python_location.h"

static struct cs_python_location only_line(int32_t line)
{
    return (struct cs_python_location){line, line, -1, -1};
}

static struct cs_python_location in_lnotab(const uint8_t *table, size_t size, int32_t line, int32_t instruction)
{
    int32_t at = 0;
    for (size_t i = 0; i + 1 < size; i += 2) {
        at += table[i];
        if (at > instruction)
            break;
        line += (int8_t)table[i + 1];
    }
    return only_line(line);
}

enum { NO_LINE = -128 };

static struct cs_python_location in_linetable(const uint8_t *table, size_t size, int32_t first_line,
                                              int32_t instruction)
{
    int32_t end = 0, line = first_line;
    for (size_t i = 0; i + 1 < size; i += 2) {
        int delta = (int8_t)table[i + 1];
        end += table[i];
        if (delta != NO_LINE)
            line += delta;
        if (instruction < end)
            return only_line(delta == NO_LINE ? first_line : line);
    }
    return only_line(first_line);
}

/* The rest of one entry's bytes. */
struct reader {
    const uint8_t *next, *end;
};

static uint8_t byte(struct reader *reader)
{
    return reader->next < reader->end ? *reader->next++ : 0;
}

/* Six bits a byte, the lowest first; 0x40 says that more follow. */
static uint32_t number(struct reader *reader)
{
    uint32_t value = 0;
    for (unsigned shift = 0; shift < 32; shift += 6) {
        uint8_t part = byte(reader);
        value |= (uint32_t)(part & 63) << shift;
        if (!(part & 64))
            break;
    }
    return value;
}

static int32_t signed_number(struct reader *reader)
{
    uint32_t value = number(reader);
    return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

/* Kinds of entry: bits 3 to 6 of its first byte. Below LINE_0 is the short form on the same line. */
enum { LINE_0 = 10, LINE_2 = 12, NO_COLUMNS = 13, LONG_FORM = 14, NOTHING = 15 };

/* Reads one entry after its first byte; *line is the line so far. */
static struct cs_python_location entry(struct reader *reader, unsigned kind, int32_t *line)
{
    struct cs_python_location here = {0, 0, -1, -1};
    if (kind < LINE_0) {
        uint8_t second = byte(reader);
        here.column = (int32_t)(kind << 3 | second >> 4);
        here.end_column = here.column + (second & 15);
    } else if (kind <= LINE_2) {
        *line += (int32_t)(kind - LINE_0);
        here.column = byte(reader);
        here.end_column = byte(reader);
    } else if (kind == NO_COLUMNS) {
        *line += signed_number(reader);
    } else if (kind == LONG_FORM) {
        *line += signed_number(reader);
        here.end_line = (int32_t)number(reader);
        here.column = (int32_t)number(reader) - 1;
        here.end_column = (int32_t)number(reader) - 1;
    }
    here.line = *line;
    here.end_line += *line;
    return here;
}

static struct cs_python_location in_locations(const uint8_t *table, size_t size, int32_t first_line,
                                              int32_t instruction)
{
    struct reader reader = {table, table + size};
    int32_t end = 0, line = first_line;
    while (reader.next < reader.end) {
        uint8_t first = byte(&reader);
        unsigned kind = first >> 3 & 15;
        end += 2 * ((first & 7) + 1);
        struct cs_python_location here = entry(&reader, kind, &line);
        if (instruction < end)
            return kind == NOTHING ? only_line(first_line) : here;
    }
    return only_line(first_line);
}

struct cs_python_location cs_python_locate(enum cs_python_table kind, const uint8_t *table, size_t size,
                                           int32_t first_line, int32_t instruction)
{
    if (kind == CS_PYTHON_LNOTAB)
        return in_lnotab(table, size, first_line, instruction);
    if (kind == CS_PYTHON_LINETABLE)
        return in_linetable(table, size, first_line, instruction);
    return in_locations(table, size, first_line, instruction);
}
