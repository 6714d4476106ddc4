/*
 * symbols.h - names and source lines of many addresses of one ELF file at once.
 *
 * Threads: no state.
 */
#ifndef COPYSPY_ANALYSIS_STACKS_SYMBOLS_H
#define COPYSPY_ANALYSIS_STACKS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/stacks/names.h"
#include "analysis/stacks/texts.h"

/* One frame of an address; an inlined call is a frame of its own. "" and 0 where unknown, columns from 0 or -1. */
struct cs_source {
    const char *function; /* readable, see names.h */
    const char *file;
    int32_t line, column;
};

enum { CS_INLINE_MAX = 16 };
struct cs_symbol {
    uint64_t address; /* in: the file's own virtual address; ascending within one call */
    uint32_t count;   /* out: frames, innermost first; at least 1 */
    struct cs_source frames[CS_INLINE_MAX];
};

struct cs_symbols_request {
    const char *path;
    uint64_t start,
        end; /* the address range, less the bias, at which the file was loaded: a file of another shape is not read */
    bool lines; /* read line information too */
    cs_demangle_fn *demangle;
    struct cs_texts *texts; /* owns what is written into the frames */
};

/*
 * Fills every symbol's frames. Functions come from .symtab and .dynsym (only where the symbol's size covers the
 * address), inlined calls and lines from DWARF. What cannot be found, and everything of a file that is gone or was
 * replaced, stays unknown. A scan of 200,000 dynamic symbols takes some 20 ms; only the pages that are looked at are
 * read.
 */
void cs_symbols_find(const struct cs_symbols_request *request, struct cs_symbol *symbols, size_t count);

/* The index of the first symbol whose address is at least `address`. */
size_t cs_symbols_at_least(const struct cs_symbol *symbols, size_t count, uint64_t address);

#endif
