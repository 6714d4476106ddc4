/*
 * function.h - GPU functions by their driver handle: a small id, and where each parameter lies.
 */
#ifndef COPYSPY_INTERPOSE_FUNCTION_H
#define COPYSPY_INTERPOSE_FUNCTION_H

#include <cuda.h>
#include <stdint.h>

struct cs_function {
    uint32_t id;                               /* of the CS_EVENT_KERNEL that was emitted for it */
    uint32_t parameter_count, parameter_bytes; /* 0 bytes with a count of 0 also when the layout is not known */
    struct {
        uint32_t offset, size;
    } parameters[];
};

/*
 * The function behind a launch's handle (a CUfunction or a CUkernel given as one). The first time, asks the driver for
 * its parameters and emits its definition; after that a look-up without a lock. name: the mangled name, used at first
 * sight only. NULL when memory ran out. Any thread, inside a launch's exit callback (its module is loaded then).
 */
const struct cs_function *cs_function_of(CUfunction handle, const char *name);

/* A module is being unloaded: handles may come to mean other functions. */
void cs_function_forget(void);

#endif
