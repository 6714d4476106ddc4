/*
 * python_text.c - see python_text.h. Runs the first time a frame's names are needed, on the thread that executes it.
 */
#include "interpose/python_text.h"

#include <string.h>

/* How a str keeps its characters: 1, 2 or 4 bytes each; ASCII texts have a shorter header. */
struct text {
    const void *characters;
    size_t length;
    unsigned width;
};

static struct text open_text(const struct cs_python_layout *layout, const char *object)
{
    struct text text = {0};
    uint32_t state;
    int64_t length;
    memcpy(&state, object + layout->state, sizeof state);
    memcpy(&length, object + layout->length, sizeof length);
    unsigned bits = state >> layout->kind_shift; /* kind: 3 bits, compact: 1, ascii: 1 */
    unsigned kind = bits & 7, compact = bits >> 3 & 1, ascii = bits >> 4 & 1;
    if ((kind != 1 && kind != 2 && kind != 4) || !compact || length < 0)
        return text;
    text.characters = object + (ascii ? layout->ascii : layout->compact);
    text.length = (size_t)length;
    text.width = kind;
    return text;
}

static uint32_t character(const struct text *text, size_t index)
{
    if (text->width == 1)
        return ((const uint8_t *)text->characters)[index];
    if (text->width == 2)
        return ((const uint16_t *)text->characters)[index];
    return ((const uint32_t *)text->characters)[index];
}

static size_t encode(uint32_t c, char bytes[4])
{
    if (c < 0x20 || c == 0x7f)
        c = '?';
    if ((c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
        c = 0xfffd;
    size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--, c >>= 6)
        bytes[i] = (char)(0x80 | (c & 63));
    bytes[0] = (char)(lead[length] | c);
    return length;
}

size_t cs_python_text(const struct cs_python_layout *layout, const void *object, char *buffer, size_t size)
{
    size_t used = 0;
    struct text text = {0};
    if (object)
        text = open_text(layout, object);
    for (size_t i = 0; i < text.length; i++) {
        char bytes[4];
        size_t length = encode(character(&text, i), bytes);
        if (used + length + 1 > size)
            break;
        memcpy(buffer + used, bytes, length);
        used += length;
    }
    buffer[used] = '\0';
    return used + 1;
}
