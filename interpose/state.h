/*
 * state.h - is the library on, in which process, and where does it live.
 *
 * Set up by the constructor, before any other thread exists; turned off in fork's children and after the report. Any
 * thread may ask.
 */
#ifndef COPYSPY_INTERPOSE_STATE_H
#define COPYSPY_INTERPOSE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/config.h"

/* Hooks note facts only while this is true. One relaxed load. */
bool cs_state_active(void);

/* Turns the library off for good: the hooks only forward from then on. */
void cs_state_off(void);

/* Opens what the first event needs (libunwind); at most once, cheap afterwards. Any thread of the program. */
void cs_state_prepare(void);

/* True in the process that the constructor ran in, and in a child that was forked before CUDA was used. */
bool cs_state_own_process(void);

/* The folder of libcopyspy.so, and its full path. Owned by the library. */
const char *cs_state_directory(void);
const char *cs_state_path(void);

/* The COPYSPY_* variables as they were when the process started. */
const struct cs_config *cs_state_config(void);

/* Was there a standard error when the process started? If not, its number may have gone to a file of the program's. */
bool cs_state_has_stderr(void);

/* When the first process of this run (a program and all that it starts) began, in nanoseconds since the epoch. */
int64_t cs_state_run_started(void);

/* Warns, once each, of COPYSPY_* variables that are wrong. Kept out of the constructor: a process that never uses CUDA
 * says nothing. */
void cs_state_check_config(void);

#endif
