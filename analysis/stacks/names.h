/*
 * names.h - what the name of a native function says: its readable form, the framework operator, the backward node.
 *
 * Threads: no state beyond what is passed in.
 */
#ifndef COPYSPY_ANALYSIS_STACKS_NAMES_H
#define COPYSPY_ANALYSIS_STACKS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* __cxa_demangle's form; the result is malloc'ed. */
typedef char *cs_demangle_fn(const char *name, char *buffer, size_t *size, int *status);

/*
 * Writes a readable name without return type and parameters ("at::_ops::clone::call"). `demangle` may be NULL: then
 * plain nested names are read here, and others stay as they are. Returns the length.
 */
size_t cs_name_readable(const char *symbol, cs_demangle_fn *demangle, char *buffer, size_t size);

/*
 * "at::_ops::masked_fill_Scalar::call" gives "masked_fill.Scalar"; also for ::redispatch. False for other functions.
 * PyTorch generates the struct's name as the operator's name, "_" and the overload's name, so where the latter begins
 * has to be guessed: see operators.def.
 */
bool cs_name_operator(const char *function, char *buffer, size_t size);

/* "torch::autograd::generated::MulBackward0::apply" gives "MulBackward0". False for other functions. */
bool cs_name_autograd_node(const char *function, char *buffer, size_t size);

#endif
