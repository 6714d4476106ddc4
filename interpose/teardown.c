/*
 * teardown.c - see teardown.h. Any thread of the program. Asks the interpreter's own flag, which it sets before it
 * takes modules and their globals apart.
 */
#include "interpose/teardown.h"

#include <dlfcn.h>
#include <stdatomic.h>

#include "interpose/stack.h"

static struct {
    _Atomic bool looked;
    int (*is_finalizing)(void);
} python;

static void look_for_python(void)
{
    python.is_finalizing = (int (*)(void))dlsym(RTLD_DEFAULT, "Py_IsFinalizing"); /* 3.13 and later */
    if (!python.is_finalizing)
        python.is_finalizing = (int (*)(void))dlsym(RTLD_DEFAULT, "_Py_IsFinalizing");
    atomic_store_explicit(&python.looked, true, memory_order_release);
}

bool cs_teardown_began(void)
{
    if (!atomic_load_explicit(&python.looked, memory_order_acquire))
        look_for_python();
    if (!python.is_finalizing || !python.is_finalizing())
        return false;
    cs_stack_python_ended();
    return true;
}
