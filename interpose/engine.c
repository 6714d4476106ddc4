/*
 * engine.c - see engine.h. Opens the analysis library, feeds it the events, has the report made and writes it out.
 *
 * Everything but cs_engine_wake and cs_engine_finish* runs on the analysis thread: all signals blocked, guard held, no
 * call to CUDA on the program's streams. When something fails here, copyspy says so in one line and turns itself off;
 * the program goes on.
 */
#include "interpose/engine.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/analysis.h"
#include "interpose/alone.h"
#include "interpose/code.h"
#include "interpose/cupti_plane.h"
#include "interpose/cupti_timing.h"
#include "interpose/debug.h"
#include "interpose/device.h"
#include "interpose/end.h"
#include "interpose/process.h"
#include "interpose/ring.h"
#include "interpose/stack.h"
#include "interpose/state.h"
#include "interpose/thread.h"
#include "interpose/warn.h"

/* The analysis library's functions that are used here. */
#define ANALYSIS_FUNCTIONS(X)                                                                                          \
    X(cs_analysis_new)                                                                                                 \
    X(cs_analysis_event)                                                                                               \
    X(cs_analysis_report)                                                                                              \
    X(cs_report_write)                                                                                                 \
    X(cs_report_write_path)                                                                                            \
    X(cs_report_free)

enum phase { ASLEEP, RUNNING, FINISHING, FINISHED };

/* Waiting, in nanoseconds and rounds. */
enum {
    IDLE_SHORTEST = 200000,
    IDLE_LONGEST = 10000000,
    FINISH_STEP = 1000000,
    FINISH_STEPS = 5000,
    FLUSH_STEP = 1000000,
    FLUSH_STEPS = 1000,
    LOOK_EVERY_MS = 500 /* of idle time: is anybody else there? */
};

static struct {
    _Atomic int phase;
    pthread_t thread;
    struct cs_analysis *analysis;
    bool told_blind; /* the analysis knows that CUPTI is not ours */
#define DECLARE(name) __typeof__(name) *name;
    ANALYSIS_FUNCTIONS(DECLARE)
#undef DECLARE
} engine;

static void pause_for(long nanoseconds)
{
    struct timespec moment = {0, nanoseconds};
    nanosleep(&moment, NULL);
}

/* ---- setting up ---- */

static bool open_analysis(void)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/libcopyspy-analysis.so", cs_state_directory());
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        cs_warn_once("analysis library", "%s; nothing will be reported", dlerror());
        return false;
    }
#define RESOLVE(name)                                                                                                  \
    engine.name = (__typeof__(engine.name))dlsym(library, #name);                                                      \
    if (!engine.name) {                                                                                                \
        cs_warn_once("analysis library",                                                                               \
                     "%s has no %s: it belongs to another version of copyspy; nothing will be "                        \
                     "reported",                                                                                       \
                     path, #name);                                                                                     \
        return false;                                                                                                  \
    }
    ANALYSIS_FUNCTIONS(RESOLVE)
#undef RESOLVE
    cs_debug(CS_DEBUG_report, 1, "analysis opened from %s", path);
    return true;
}

static void take(void *context, const struct cs_event *event)
{
    engine.told_blind |= event->kind == CS_EVENT_BLIND_BEGIN;
    engine.cs_analysis_event(context, event);
}

static void tell_of_blindness(struct cs_analysis *analysis)
{
    if (engine.told_blind || cs_cupti_active())
        return;
    struct cs_blind blind = {.head = {.size = sizeof blind, .kind = CS_EVENT_BLIND_BEGIN},
                             .reason = cs_cupti_blind_reason()};
    take(analysis, &blind.head);
}

static bool set_up(void)
{
    cs_state_check_config();
    if (!open_analysis())
        return false;
    struct cs_host host = {NULL, cs_code_map, cs_code_unmap};
    engine.analysis = engine.cs_analysis_new(&host);
    if (!engine.analysis) {
        cs_warn_once("analysis", "no memory for the analysis; nothing will be reported");
        return false;
    }
    cs_process_describe(take, engine.analysis);
    cs_device_each(take, engine.analysis);
    tell_of_blindness(engine.analysis);
    return true;
}

/* ---- the report ---- */

static bool stderr_is_colourful(const struct cs_config *config)
{
    return config->colour == CS_COLOUR_ALWAYS || (config->colour == CS_COLOUR_AUTO && isatty(STDERR_FILENO));
}

static void write_to_stderr(const struct cs_report *report, const struct cs_render_options *options)
{
    struct cs_error error = {""};
    int file = cs_state_has_stderr() ? dup(STDERR_FILENO) : -1;
    FILE *stream = file >= 0 ? fdopen(file, "w") : NULL;
    if (!stream)
        return;
    if (engine.cs_report_write(report, CS_FORMAT_TEXT, options, stream, &error) != 0)
        cs_warn_once("report", "%s", error.message);
    fclose(stream);
}

/* Another process of this run, a child or the parent, may have written its report under the same name: ours then gets
 * the process id behind it. */
static void keep_apart(char path[CS_CONFIG_PATH_MAX])
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    if ((int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec < cs_state_run_started())
        return;
    size_t length = strlen(path);
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    char extension[64] = "";
    if (dot && (!slash || dot > slash) && strlen(dot) < sizeof extension) {
        strcpy(extension, dot);
        length = (size_t)(dot - path);
    }
    snprintf(path + length, CS_CONFIG_PATH_MAX - length, ".%d%s", (int)getpid(), extension);
}

/* True when the report went to the file that COPYSPY_REPORT names. */
static bool write_to_path(const struct cs_report *report, const struct cs_config *config)
{
    struct cs_render_options options = {false, config->show == CS_SHOW_ALL};
    struct cs_error error = {"the path is too long"};
    char path[CS_CONFIG_PATH_MAX];
    if (!config->report[0])
        return false;
    if (cs_config_report_path(config, (unsigned long)getpid(), path, sizeof path) == 0) {
        keep_apart(path);
        if (engine.cs_report_write_path(report, path, &options, &error) == 0)
            return true;
    }
    cs_warn_once("report path", "COPYSPY_REPORT=%s: %s; the report follows here", config->report, error.message);
    return false;
}

static void write_report(const struct cs_report *report)
{
    const struct cs_config *config = cs_state_config();
    struct cs_render_options options = {stderr_is_colourful(config), config->show == CS_SHOW_ALL};
    if (!write_to_path(report, config))
        write_to_stderr(report, &options);
}

static void make_report(void)
{
    struct cs_self self = {.events = cs_emit_count(), .lost_events = cs_emit_lost(), .code_bytes = cs_code_bytes()};
    struct cs_report *report = engine.cs_analysis_report(engine.analysis, &self);
    if (!report) {
        cs_warn_once("report", "no memory for the report");
        return;
    }
    write_report(report);
    engine.cs_report_free(report);
}

/* ---- the thread ---- */

static _Atomic bool flushed;

static void *flush_now(void *unused)
{
    (void)unused;
    struct cs_thread *thread = cs_thread_self();
    if (thread)
        thread->guard++;
    cs_timing_flush();
    atomic_store(&flushed, true);
    return NULL;
}

static int start_thread(pthread_t *thread, void *(*function)(void *))
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(thread, NULL, function, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

/* The last flush can hang when the driver is in a bad state, so it gets a thread of its own and a bounded time. */
static void last_flush(void)
{
    pthread_t thread;
    if (!cs_cupti_active() || start_thread(&thread, flush_now) != 0)
        return;
    pthread_detach(thread);
    for (int step = 0; step < FLUSH_STEPS && !atomic_load(&flushed); step++) {
        cs_ring_drain(take, engine.analysis);
        pause_for(FLUSH_STEP);
    }
}

/* What was emitted until now; other threads may go on for ever. */
static void last_drain(void)
{
    for (uint64_t left = cs_emit_count(), taken = 1; taken && left; left -= taken < left ? taken : left)
        taken = cs_ring_drain(take, engine.analysis);
}

static void finish(void)
{
    last_drain();
    tell_of_blindness(engine.analysis);
    last_flush();
    cs_debug(CS_DEBUG_report, 1, "%llu events, %llu lost", (unsigned long long)cs_emit_count(),
             (unsigned long long)cs_emit_lost());
    last_drain();
    make_report();
    atomic_store(&engine.phase, FINISHED);
}

static void idle(long *nanoseconds, uint64_t taken)
{
    *nanoseconds = taken ? IDLE_SHORTEST : *nanoseconds * 2;
    if (*nanoseconds > IDLE_LONGEST)
        *nanoseconds = IDLE_LONGEST;
    pause_for(*nanoseconds);
}

/* The program's last thread has ended, and we must not keep the process: what the C library would have done follows. */
static void leave_if_alone(void)
{
    if (!cs_alone())
        return;
    finish();
    exit(EXIT_SUCCESS);
}

static void *run(void *unused)
{
    (void)unused;
    struct cs_thread *self = cs_thread_self();
    if (self)
        self->guard++;
    if (!self || !set_up()) {
        cs_state_off();
        atomic_store(&engine.phase, FINISHED);
        return NULL;
    }
    long wait = IDLE_SHORTEST;
    int64_t look_ms = 0;
    while (atomic_load_explicit(&engine.phase, memory_order_acquire) != FINISHING) {
        uint64_t taken = cs_ring_drain(take, engine.analysis);
        cs_thread_reap();
        tell_of_blindness(engine.analysis); /* normally the event did */
        cs_timing_tick();
        idle(&wait, taken);
        if (!taken && (look_ms += wait / 1000000) >= LOOK_EVERY_MS) {
            look_ms = 0;
            leave_if_alone();
        }
    }
    finish();
    return NULL;
}

/* ---- from the program's threads ---- */

static void start(void)
{
    int expected = ASLEEP;
    if (!cs_state_own_process() || !atomic_compare_exchange_strong(&engine.phase, &expected, RUNNING))
        return;
    int saved = errno;
    cs_end_arm();
    int failed = start_thread(&engine.thread, run);
    if (failed) {
        cs_state_off();
        atomic_store(&engine.phase, FINISHED);
        cs_warn_once("analysis thread", "the analysis thread cannot be started (%s); nothing will be reported",
                     strerror(failed));
    } else {
        pthread_detach(engine.thread);
    }
    errno = saved;
}

void cs_engine_wake(void)
{
    if (atomic_load_explicit(&engine.phase, memory_order_relaxed) == ASLEEP)
        start();
}

static void wait_for_report(void)
{
    int running = RUNNING;
    atomic_compare_exchange_strong(&engine.phase, &running, FINISHING);
    for (int step = 0; step < FINISH_STEPS && atomic_load(&engine.phase) == FINISHING; step++)
        pause_for(FINISH_STEP);
}

void cs_engine_finish(void)
{
    if (!cs_state_own_process() || atomic_load(&engine.phase) == ASLEEP)
        return;
    struct cs_thread *thread = cs_thread_peek();
    if (thread && thread->guard)
        return;
    int saved = errno;
    wait_for_report();
    cs_state_off();
    errno = saved;
}

void cs_engine_after_fork(void)
{
    atomic_store(&engine.phase, FINISHED);
}
