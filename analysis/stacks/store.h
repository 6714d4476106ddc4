/*
 * store.h - what cs_stacks keeps: files, Python frames, stacks, and what was found of them. For stacks.c and
 * attribution.c.
 */
#ifndef COPYSPY_ANALYSIS_STACKS_STORE_H
#define COPYSPY_ANALYSIS_STACKS_STORE_H

#include "analysis/stacks/stacks.h"
#include "analysis/stacks/symbols.h"

#define CS_NO_FILE UINT32_MAX

struct cs_stack_file {
    uint64_t start, end, bias;
    const char *path;
    bool user;
};

/* One return address somewhere in a file; file CS_NO_FILE when no file was mapped there. */
struct cs_stack_place {
    uint32_t file;
    uint64_t address; /* the file's own, of the call's last byte */
};

/* A place and its frames, innermost first. */
struct cs_stack_found {
    struct cs_stack_place place;
    uint32_t count;
    struct cs_source *frames;
};

struct cs_stack_entry {
    struct cs_stack_place *places; /* native_count; NULL: no such stack */
    uint32_t *python;              /* ids */
    uint32_t native_count, python_count;
    bool wanted, resolved;
    struct cs_attribution attribution;
};

struct cs_stacks {
    struct cs_texts texts;
    struct cs_stack_file *files;
    size_t file_count, file_capacity;
    struct cs_frame *python; /* by id */
    size_t python_capacity;
    struct cs_stack_entry *stacks; /* by id */
    size_t stack_capacity;
    struct cs_stack_found *found; /* sorted by place */
    size_t found_count;
    void *demangler; /* handle of libstdc++, opened at the first resolve */
    bool demangler_tried;
};

/* The frames found at a place, or NULL. */
const struct cs_stack_found *cs_stacks_found(const struct cs_stacks *stacks, const struct cs_stack_place *place);

/* Fills entry->attribution from what was found. Returns 0, or -1 when memory ran out. */
int cs_stacks_attribute(struct cs_stacks *stacks, struct cs_stack_entry *entry);

void cs_attribution_release(struct cs_attribution *attribution);

#endif
