/*
 * end.c - see end.h. The report is made by the analysis thread; whoever ends the program waits for it, a bounded time.
 *
 * exit and return from main come through atexit; _exit and _Exit (os._exit) through hooks; fatal signals through
 * handlers that are put in only where the default action stood, and that let the default action happen afterwards.
 */
#include "interpose/end.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/engine.h"
#include "interpose/state.h"
#include "interpose/thread.h"

#define EXPORT __attribute__((visibility("default")))

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

static void on_fatal_signal(int number, siginfo_t *info, void *unused)
{
    (void)unused;
    int saved = errno;
    cs_engine_finish();
    signal(number, SIG_DFL);
    /* A fault happens again at the same instruction, with all that a core dump tells; what was sent is sent again. */
    if (info->si_code <= 0)
        raise(number);
    errno = saved;
}

static void arm_signal(int number)
{
    struct sigaction now;
    if (sigaction(number, NULL, &now) != 0 || (now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL)
        return;
    struct sigaction ours = {.sa_sigaction = on_fatal_signal, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    sigemptyset(&ours.sa_mask);
    sigaction(number, &ours, NULL);
}

void cs_end_arm(void)
{
    atexit(at_exit);
    at_quick_exit(at_exit);
    for (size_t i = 0; i < sizeof fatal_signals / sizeof *fatal_signals; i++)
        arm_signal(fatal_signals[i]);
}
