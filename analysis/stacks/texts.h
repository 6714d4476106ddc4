/*
 * texts.h - strings that live as long as their pool; equal strings are kept once.
 *
 * Threads: one pool is used by one thread at a time.
 */
#ifndef COPYSPY_ANALYSIS_STACKS_TEXTS_H
#define COPYSPY_ANALYSIS_STACKS_TEXTS_H

#include <stddef.h>

struct cs_texts {
    char **slots; /* open addressing; NULL empty */
    size_t count, capacity;
};

/* A copy of the first `length` bytes of text, up to a NUL. "" when memory ran out. */
const char *cs_texts_add(struct cs_texts *texts, const char *text, size_t length);

void cs_texts_free(struct cs_texts *texts);

#endif
