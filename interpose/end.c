/*
 * end.c - see end.h. The report is made by the analysis thread; whoever ends the program waits for it, a bounded time.
 *
 * exit and return from main come through atexit; _exit and _Exit (os._exit) through hooks; fatal signals through
 * handlers that are put in only where the default action stood, and that let the default action happen afterwards.
 */
#include "interpose/end.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/engine.h"
#include "interpose/facts.h"
#include "interpose/stack.h"
#include "interpose/state.h"
#include "interpose/thread.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- the interpreter's end ---- */

static struct {
    _Atomic bool looked;
    int (*is_finalizing)(void);
} python;

static void look_for_python(void)
{
    python.is_finalizing = (int (*)(void))dlsym(RTLD_DEFAULT, "Py_IsFinalizing");
    if (!python.is_finalizing)
        python.is_finalizing = (int (*)(void))dlsym(RTLD_DEFAULT, "_Py_IsFinalizing");
    atomic_store_explicit(&python.looked, true, memory_order_release);
}

void cs_end_check(void)
{
    if (!atomic_load_explicit(&python.looked, memory_order_acquire))
        look_for_python();
    if (!python.is_finalizing || !python.is_finalizing())
        return;
    cs_stack_python_ended();
    cs_fact_end();
}

/* ---- ways out ---- */

static void at_exit(void)
{
    cs_engine_finish();
}

EXPORT void _exit(int status)
{
    cs_engine_finish();
    for (;;)
        syscall(SYS_exit_group, status);
}

EXPORT void _Exit(int status)
{
    _exit(status);
}

static const int fatal_signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGABRT,
                                    SIGSEGV, SIGBUS, SIGFPE, SIGILL,  SIGXCPU};

static void on_fatal_signal(int number)
{
    int saved = errno;
    cs_engine_finish_from_signal();
    signal(number, SIG_DFL);
    /* A fault happens again at the same instruction; what was sent is sent again. Either way the default action
     * follows. */
    raise(number);
    errno = saved;
}

static void arm_signal(int number)
{
    struct sigaction now;
    if (sigaction(number, NULL, &now) != 0 || (now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL)
        return;
    struct sigaction ours = {.sa_handler = on_fatal_signal, .sa_flags = SA_ONSTACK};
    sigemptyset(&ours.sa_mask);
    sigaction(number, &ours, NULL);
}

void cs_end_arm(void)
{
    atexit(at_exit);
    for (size_t i = 0; i < sizeof fatal_signals / sizeof *fatal_signals; i++)
        arm_signal(fatal_signals[i]);
}
