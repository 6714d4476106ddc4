/*
 * program_kernels.c - the host function of program.cu's own kernel, and an injection library in one: it notes that the
 * driver called it.
 *
 * Threads: each runs on the launching thread; no state.
 */
#include <stdlib.h>

#include "tests/sim/core.h"

static void scale(const struct sim_launch *launch)
{
    float *data = *(float **)launch->parameters[0];
    for (int i = 0; i < *(int *)launch->parameters[2]; i++)
        data[i] *= *(float *)launch->parameters[1];
}

SIM_EXPORT void sim_kernels_init(void)
{
    sim_register_kernel("_Z5scaleIfEvPT_S0_i", scale);
}

SIM_EXPORT int InitializeInjection(void)
{
    setenv("SIM_TEST_INJECTED", "yes", 1);
    return 1;
}
