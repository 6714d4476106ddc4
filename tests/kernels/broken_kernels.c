/*
 * broken_kernels.c - for SIM_KERNELS, after the right kernels: makes the kernel named by BROKEN_KERNEL do nothing, so
 * that the harness can be seen to fail. Runs on the launching thread.
 */
#include <stdlib.h>

#include "tests/sim/sim.h"

static void do_nothing(const struct sim_launch *launch)
{
    (void)launch;
}

__attribute__((visibility("default"))) void sim_kernels_init(void)
{
    const char *name = getenv("BROKEN_KERNEL");

    if (name)
        sim_register_kernel(name, do_nothing);
}
