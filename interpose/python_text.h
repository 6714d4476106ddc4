/*
 * python_text.h - a Python str as UTF-8, read without the interpreter's help.
 *
 * Threads: no state; the str must be kept alive by the calling thread's frames.
 */
#ifndef COPYSPY_INTERPOSE_PYTHON_TEXT_H
#define COPYSPY_INTERPOSE_PYTHON_TEXT_H

#include <stddef.h>

#include "interpose/python_layout.h"

/*
 * Copies the text of the str object at `object` and a NUL into buffer, cut between characters when it does not fit.
 * Returns the bytes written, the NUL included (at least 1). Lone surrogates become U+FFFD, control characters '?': the
 * result is valid UTF-8 on one line. Gives "" for NULL and for what is no compact str.
 */
size_t cs_python_text(const struct cs_python_layout *layout, const void *object, char *buffer, size_t size);

#endif
