/*
 * fakes.h - the machine-code pass and the stack store as the tests want them: linked in place of the real ones, so that
 * a test of the analysis depends on neither. Declared for stream.c; tests use stream.h.
 *
 * Threads: one.
 */
#ifndef COPYSPY_TESTS_ANALYSIS_FAKES_H
#define COPYSPY_TESTS_ANALYSIS_FAKES_H

#include <stddef.h>
#include <stdint.h>

void fakes_reset(void);

/* A code image with one kernel; see stream_kernel for the letters. Returns its id. */
uint32_t fake_code(const char *name, const char *accesses, uint32_t architecture);
int fake_map(void *context, uint32_t id, const void **image, size_t *size);
void fake_unmap(void *context, uint32_t id, const void *image, size_t size);

void fake_code_reset(void);
void fake_stacks_reset(void);

#endif
