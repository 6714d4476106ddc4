/*
 * stacks.h - call stacks, and the line of the user's own code in each.
 *
 * Takes the definition events of host files, Python frames and stacks; symbolises in one batch at the end, only the
 * stacks that were asked for. Native and Python frames stay side by side. The site is the innermost frame of the user's
 * own code: a Python frame outside the standard library and installed packages if the stack has Python frames, else a
 * native frame with line information outside system libraries, the CUDA libraries, installed packages and copyspy.
 *
 * Threads: one store is used by one thread at a time. Texts live as long as the store.
 */
#ifndef COPYSPY_ANALYSIS_STACKS_STACKS_H
#define COPYSPY_ANALYSIS_STACKS_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/event.h"

struct cs_frame {
    const char *function;                       /* demangled or qualified; "" unknown */
    const char *file;                           /* source file; "" unknown */
    const char *module;                         /* ELF file of a native frame; "" for Python */
    int32_t line, end_line, column, end_column; /* as in cs_python_frame_def; 0 and -1 when unknown */
    bool python;
    bool user; /* the user's own code, not an installed package, a library or the interpreter */
};

struct cs_attribution {
    const struct cs_frame *site; /* the innermost user frame; else the innermost one with a name; NULL: nothing known */
    const struct cs_frame *frames; /* Python frames then native frames, innermost first within each */
    size_t python_count, native_count;
    const char *const *operators; /* framework operators, outermost first, as "masked_fill.Scalar", "clone", "copy_" */
    size_t operator_count;
    const char *autograd_node; /* "MulBackward0" when the call was made by a backward node, else NULL */
};

struct cs_stacks;

struct cs_stacks *cs_stacks_new(void); /* NULL when memory ran out */
void cs_stacks_free(struct cs_stacks *stacks);

/* Takes CS_EVENT_OBJECT_FILE, CS_EVENT_PYTHON_FRAME and CS_EVENT_STACK; ignores others. */
void cs_stacks_event(struct cs_stacks *stacks, const struct cs_event *event);

/* Marks a stack for the next cs_stacks_resolve. Unknown ids are ignored. */
void cs_stacks_want(struct cs_stacks *stacks, uint32_t stack);

/* Symbolises all wanted stacks; files that are gone or have no symbols leave their frames unnamed. */
void cs_stacks_resolve(struct cs_stacks *stacks);

/* NULL when the stack is unknown or was not resolved. Valid until the next cs_stacks_resolve. */
const struct cs_attribution *cs_stacks_attribution(const struct cs_stacks *stacks, uint32_t stack);

#endif
