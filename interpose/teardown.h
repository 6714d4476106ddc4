/*
 * teardown.h - noticing that the program began to take itself apart: what is freed from then on says nothing about
 * whether it was still needed.
 */
#ifndef COPYSPY_INTERPOSE_TEARDOWN_H
#define COPYSPY_INTERPOSE_TEARDOWN_H

#include <stdbool.h>

/* True once the Python interpreter in this process, if there is one, is finalizing. Cheap; any thread. */
bool cs_teardown_began(void);

#endif
