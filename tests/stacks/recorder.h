/*
 * recorder.h - stands in for the hooks' ring: keeps every definition that cs_stack_capture emits, for the tests to look
 * at from C or through ctypes.
 *
 * Threads: any; the functions that read are for when nobody emits.
 */
#ifndef COPYSPY_TESTS_STACKS_RECORDER_H
#define COPYSPY_TESTS_STACKS_RECORDER_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/event.h"

#define RECORDER_API __attribute__((visibility("default")))

/* Starts the stack module; own_directory as in cs_stack_start. */
RECORDER_API void recorder_start(const char *own_directory);
RECORDER_API uint32_t recorder_capture(void);
/* Captures once, then `times` more. Returns the nanoseconds of one of those. */
RECORDER_API double recorder_time(unsigned times);
RECORDER_API void recorder_python_ended(void);
RECORDER_API void recorder_after_fork(void);
/* A thread's start routine: captures into the uint32_t at `id`. */
RECORDER_API void *recorder_capture_into(void *id);
/* cs_python_locate; place: line, end line, column, end column. */
RECORDER_API void recorder_locate(int kind, const uint8_t *table, size_t size, int first_line, int instruction,
                                  int place[4]);

RECORDER_API size_t recorder_count(void);
RECORDER_API const struct cs_event *recorder_event(size_t index);
/* The first event of that kind whose id (the word after the header) is `id`; NULL when there is none. */
RECORDER_API const struct cs_event *recorder_find(enum cs_event_kind kind, uint32_t id);
/* Texts given to cs_warn_once so far. */
RECORDER_API unsigned recorder_warnings(void);
/* From now on this many events find room; SIZE_MAX: all. */
RECORDER_API void recorder_room(size_t events);

#endif
