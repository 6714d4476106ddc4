/*
 * python_location.h - from an instruction of a Python code object to line and columns: CPython's three table formats.
 *
 * Threads: no state.
 */
#ifndef COPYSPY_INTERPOSE_PYTHON_LOCATION_H
#define COPYSPY_INTERPOSE_PYTHON_LOCATION_H

#include <stddef.h>
#include <stdint.h>

enum cs_python_table {
    CS_PYTHON_LNOTAB,    /* 3.9: co_lnotab, (bytes of code, signed lines) pairs */
    CS_PYTHON_LINETABLE, /* 3.10: co_linetable, ranges (PEP 626) */
    CS_PYTHON_LOCATIONS  /* 3.11 and later: co_linetable, with columns (PEP 657) */
};

/* Lines from 1, columns in UTF-8 bytes from 0, end exclusive; -1 unknown, as in struct cs_python_frame_def. */
struct cs_python_location {
    int32_t line, end_line, column, end_column;
};

/*
 * The location of the instruction at byte offset `instruction` of a code object whose first line is `first_line`.
 * Sources: CPython's Objects/lnotab_notes.txt and Objects/locations.md (read). A table that does not reach the
 * instruction, or has no line for it, gives the first line without columns.
 */
struct cs_python_location cs_python_locate(enum cs_python_table kind, const uint8_t *table, size_t size,
                                           int32_t first_line, int32_t instruction);

#endif
