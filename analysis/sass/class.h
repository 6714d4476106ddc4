/*
 * class.h - what a kernel does to data: copies it, moves it to another order, converts it, fills, or computes.
 *
 * A pass of its own over the code that the address pass has walked. Any thread; no globals.
 */
#ifndef COPYSPY_ANALYSIS_SASS_CLASS_H
#define COPYSPY_ANALYSIS_SASS_CLASS_H

#include "analysis/sass/flow.h"
#include "analysis/sass/summary.h"

/*
 * The class (enum cs_kernel_class) of the kernel whose flow has been run and whose slots are in the summary. Never
 * fails: CS_CLASS_COMPUTE is said of what it does not understand, and when memory runs out.
 */
uint32_t cs_class_of(struct cs_flow *flow, const struct cs_kernel_summary *summary);

#endif
