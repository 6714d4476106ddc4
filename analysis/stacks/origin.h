/*
 * origin.h - whether a frame belongs to the user's own code: the rules of origin.def.
 *
 * Threads: no state.
 */
#ifndef COPYSPY_ANALYSIS_STACKS_ORIGIN_H
#define COPYSPY_ANALYSIS_STACKS_ORIGIN_H

#include <stdbool.h>

enum cs_origin {
    CS_ORIGIN_PYTHON = 1, /* a Python frame's file */
    CS_ORIGIN_MODULE = 2, /* the ELF file of a native frame */
    CS_ORIGIN_SOURCE = 4  /* the source file of a native frame */
};

/* False for "" and for every file that origin.def names. */
bool cs_origin_is_user(enum cs_origin what, const char *path);

/*
 * True for Python code that was given as text and may be the user's all the same: `python -c`, the interactive prompt,
 * exec. It is shown when there is no frame of a user's file.
 */
bool cs_origin_is_text(const char *path);

#endif
