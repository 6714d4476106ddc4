/*
 * texts.c - see texts.h.
 */
#include "analysis/stacks/texts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    return hash ^ hash >> 32;
}

/* Where the text is, or the empty slot where it belongs. */
static char **slot_of(char **slots, size_t capacity, const char *text, size_t length)
{
    size_t i = hash_of(text, length) & (capacity - 1);
    while (slots[i] && (strncmp(slots[i], text, length) != 0 || slots[i][length]))
        i = (i + 1) & (capacity - 1);
    return &slots[i];
}

static int grow(struct cs_texts *texts)
{
    size_t capacity = texts->capacity ? 2 * texts->capacity : 256;
    char **slots = calloc(capacity, sizeof *slots);
    if (!slots)
        return -1;
    for (size_t i = 0; i < texts->capacity; i++) {
        if (texts->slots[i])
            *slot_of(slots, capacity, texts->slots[i], strlen(texts->slots[i])) = texts->slots[i];
    }
    free(texts->slots);
    texts->slots = slots;
    texts->capacity = capacity;
    return 0;
}

const char *cs_texts_add(struct cs_texts *texts, const char *text, size_t length)
{
    length = strnlen(text, length);
    if (length == 0 || (4 * (texts->count + 1) > 3 * texts->capacity && grow(texts) != 0))
        return "";
    char **slot = slot_of(texts->slots, texts->capacity, text, length);
    if (!*slot) {
        *slot = strndup(text, length);
        if (!*slot)
            return "";
        texts->count++;
    }
    return *slot;
}

void cs_texts_free(struct cs_texts *texts)
{
    for (size_t i = 0; i < texts->capacity; i++)
        free(texts->slots[i]);
    free(texts->slots);
    *texts = (struct cs_texts){0};
}
