/*
 * sample.h - see sample.c.
 */
#ifndef COPYSPY_TESTS_STACKS_SAMPLE_H
#define COPYSPY_TESTS_STACKS_SAMPLE_H

__attribute__((visibility("default"))) void sample_call(void (*callback)(void));
__attribute__((visibility("default"))) void sample_second(void (*callback)(void));
/* many.c's */
__attribute__((visibility("default"))) void many_call(void (*callback)(void));
__attribute__((visibility("default"))) void sample_no_return(void (*callback)(void));

#endif
