/*
 * sample.c - a library to be symbolised: built with debug information, without, and stripped. The tests look for the
 * lines marked below.
 */
#include "tests/stacks/sample.h"

static inline __attribute__((always_inline)) void inlined(void (*callback)(void))
{
    callback(); /* SAMPLE_INLINED_LINE */
    __asm__ volatile("");
}

__attribute__((noinline)) static void local(void (*callback)(void))
{
    inlined(callback); /* SAMPLE_LOCAL_LINE */
    __asm__ volatile("");
}

void sample_call(void (*callback)(void))
{
    local(callback); /* SAMPLE_CALL_LINE */
    __asm__ volatile("");
}

void sample_second(void (*callback)(void))
{
    callback();
    __asm__ volatile("");
}

/* A call that does not return ends the function: its return address belongs to what comes next. */
void sample_no_return(void (*callback)(void))
{
    callback();
    __builtin_unreachable();
}
