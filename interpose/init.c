/*
 * init.c - the library's constructor, its state, and fork. The constructor runs before main on the only thread there
 * is; in a process that never uses CUDA nothing else of this library ever runs.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "interpose/engine.h"
#include "interpose/stack.h"
#include "interpose/state.h"
#include "interpose/thread.h"
#include "interpose/warn.h"

static struct {
    _Atomic bool active;
    pid_t process;
    int64_t run_started;
    bool has_stderr;
    char path[PATH_MAX], directory[PATH_MAX];
    struct cs_config config;
} state;

bool cs_state_active(void)
{
    return atomic_load_explicit(&state.active, memory_order_relaxed);
}

void cs_state_off(void)
{
    atomic_store(&state.active, false);
}

static void prepare(void)
{
    cs_stack_start(state.directory);
}

void cs_state_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
}

bool cs_state_own_process(void)
{
    return state.process == getpid();
}

const char *cs_state_directory(void)
{
    return state.directory;
}

const char *cs_state_path(void)
{
    return state.path;
}

const struct cs_config *cs_state_config(void)
{
    return &state.config;
}

static bool find_self(void)
{
    Dl_info info;
    if (!dladdr(&state, &info) || !info.dli_fname || !realpath(info.dli_fname, state.path))
        return false;
    snprintf(state.directory, sizeof state.directory, "%s", state.path);
    char *slash = strrchr(state.directory, '/');
    if (slash)
        *slash = '\0';
    return slash != NULL;
}

/* A child that was forked after CUDA was first used cannot use CUDA; one that was forked before starts afresh. */
static void after_fork_in_child(void)
{
    bool used = cs_thread_list() != NULL;
    cs_thread_after_fork();
    cs_stack_after_fork();
    if (used) {
        cs_state_off();
        cs_engine_after_fork();
    }
    state.process = getpid();
}

/*
 * When the first process of this run started, in nanoseconds, handed down by the environment: a report that is younger
 * was written by another process of the same run.
 */
#define RUN_STARTED "_COPYSPY_RUN_STARTED"

static void note_start(void)
{
    char text[32];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(text, sizeof text, "%lld", (long long)now.tv_sec * 1000000000 + now.tv_nsec);
    setenv(RUN_STARTED, text, 0);
    state.run_started = atoll(getenv(RUN_STARTED));
}

bool cs_state_has_stderr(void)
{
    return state.has_stderr;
}

int64_t cs_state_run_started(void)
{
    return state.run_started;
}

static const char *environment(void *unused, const char *name)
{
    (void)unused;
    return getenv(name);
}

/* What is wrong with the configuration, one line each: found by the constructor, before other threads can change the
 * environment. */
static struct {
    char lines[8][CS_CONFIG_MESSAGE_MAX];
    unsigned count;
} complaints;

static void complain(void *unused, const char *message)
{
    (void)unused;
    if (complaints.count < sizeof complaints.lines / sizeof *complaints.lines)
        snprintf(complaints.lines[complaints.count++], sizeof *complaints.lines, "%s", message);
}

void cs_state_check_config(void)
{
    for (unsigned i = 0; i < complaints.count; i++)
        cs_warn_once(complaints.lines[i], "%s", complaints.lines[i]);
}

/* The driver opens the library that this names and calls its InitializeInjection from cuInit. */
static void ask_for_injection(void)
{
    if (state.config.cupti)
        setenv("CUDA_INJECTION64_PATH", state.path, 0);
}

__attribute__((constructor)) static void start(void)
{
    state.process = getpid();
    state.has_stderr = fcntl(STDERR_FILENO, F_GETFD) != -1;
    cs_config_read(&state.config, environment, complain, NULL);
    cs_config_check_names(environ, complain, NULL);
    if (!state.config.enable || !find_self())
        return;
    cs_thread_start((uint64_t)state.config.ring_kb * 1024);
    pthread_atfork(NULL, NULL, after_fork_in_child);
    ask_for_injection();
    note_start();
    atomic_store(&state.active, true);
}
