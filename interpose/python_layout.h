/*
 * python_layout.h - the layout of the interpreter in this process as byte offsets, whichever way they are known.
 *
 * Threads: constant once found.
 */
#ifndef COPYSPY_INTERPOSE_PYTHON_LAYOUT_H
#define COPYSPY_INTERPOSE_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/python_location.h"

#define CS_PYTHON_NONE 0xffffu

/* What a thread's frames are, and with it how they are read. */
enum cs_python_frames {
    CS_PYTHON_FRAME_OBJECTS, /* 3.9, 3.10: PyFrameObject */
    CS_PYTHON_CFRAMES,       /* 3.11, 3.12: _PyInterpreterFrame behind a _PyCFrame */
    CS_PYTHON_PUBLISHED      /* later: _PyInterpreterFrame, as published */
};

struct cs_python_layout {
    uint16_t minor; /* 3.<minor> */
    /* thread state, frame; see python_layouts.def */
    uint16_t thread_frame, cframe_frame, previous, code, instruction, owner, tlbc_index;
    /* code object */
    uint16_t file, name, first_line, table, start, traceable, version, tlbc;
    /* objects: ob_type, ob_size, the bytes of a bytes object */
    uint16_t type, size, data;
    /* text: state and length words, where ASCII and other characters begin, the lowest bit of `kind` in state */
    uint16_t state, length, ascii, compact, kind_shift;
    enum cs_python_frames frames;
    enum cs_python_table table_kind;
};

/*
 * Fills *layout for version 3.<minor> (hexversion's minor part). `runtime` is the address of _PyRuntime, read only for
 * versions that publish offsets there; NULL when the symbol is not exported. False when the version is not known or
 * what it publishes is not plausible; *layout is then undefined.
 */
bool cs_python_layout_find(struct cs_python_layout *layout, unsigned minor, const void *runtime);

#endif
