/*
 * recorder.c - see recorder.h.
 */
#include "tests/stacks/recorder.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "interpose/debug.h"
#include "interpose/emit.h"
#include "interpose/python_location.h"
#include "interpose/stack.h"
#include "interpose/warn.h"

static struct {
    pthread_mutex_t lock;
    struct cs_event **events;
    size_t count, capacity, room;
    unsigned warnings;
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER, .room = SIZE_MAX};

void *cs_emit_begin(enum cs_event_kind kind, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    pthread_mutex_lock(&recorder.lock);
    size_t room = recorder.room;
    if (room && room != SIZE_MAX)
        recorder.room--;
    pthread_mutex_unlock(&recorder.lock);
    struct cs_event *event = room && size <= CS_EMIT_MAX ? calloc(1, size) : NULL;
    if (event) {
        event->size = (uint32_t)size;
        event->kind = (uint16_t)kind;
    }
    return event;
}

void cs_emit_end(void *record)
{
    struct cs_event *event = record;
    pthread_mutex_lock(&recorder.lock);
    if (recorder.count == recorder.capacity) {
        recorder.capacity = recorder.capacity ? 2 * recorder.capacity : 256;
        recorder.events = realloc(recorder.events, recorder.capacity * sizeof *recorder.events);
        if (!recorder.events)
            abort();
    }
    recorder.events[recorder.count++] = event;
    event->sequence = recorder.count;
    pthread_mutex_unlock(&recorder.lock);
}

void cs_debug(enum cs_debug_domain domain, int level, const char *format, ...)
{
    (void)domain, (void)level, (void)format;
}

void cs_warn_once(const char *topic, const char *format, ...)
{
    (void)topic, (void)format;
    pthread_mutex_lock(&recorder.lock);
    recorder.warnings++;
    pthread_mutex_unlock(&recorder.lock);
}

/* After main and after the interpreter is gone a capture still works. */
__attribute__((destructor)) static void capture_at_the_end(void)
{
    if (recorder.count)
        recorder_capture();
}

void recorder_start(const char *own_directory)
{
    cs_stack_start(own_directory);
}

uint32_t recorder_capture(void)
{
    uint32_t id = cs_stack_capture();
    __asm__ volatile(""); /* no tail call: the frame counts */
    return id;
}

double recorder_time(unsigned times)
{
    struct timespec start, end;
    unsigned sum = 0;
    for (unsigned i = 0; i <= times; i++) {
        if (i == 1)
            clock_gettime(CLOCK_MONOTONIC, &start);
        sum += recorder_capture();
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double spent = (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
    return sum ? spent / times : -1;
}

void recorder_python_ended(void)
{
    cs_stack_python_ended();
}

void recorder_after_fork(void)
{
    cs_stack_after_fork();
}

void *recorder_capture_into(void *id)
{
    *(uint32_t *)id = recorder_capture();
    return NULL;
}

void recorder_locate(int kind, const uint8_t *table, size_t size, int first_line, int instruction, int place[4])
{
    struct cs_python_location found =
        cs_python_locate((enum cs_python_table)kind, table, size, first_line, instruction);
    place[0] = found.line;
    place[1] = found.end_line;
    place[2] = found.column;
    place[3] = found.end_column;
}

size_t recorder_count(void)
{
    return recorder.count;
}

const struct cs_event *recorder_event(size_t index)
{
    return index < recorder.count ? recorder.events[index] : NULL;
}

const struct cs_event *recorder_find(enum cs_event_kind kind, uint32_t id)
{
    for (size_t i = 0; i < recorder.count; i++) {
        uint32_t own;
        memcpy(&own, recorder.events[i] + 1, sizeof own);
        if (recorder.events[i]->kind == kind && own == id)
            return recorder.events[i];
    }
    return NULL;
}

unsigned recorder_warnings(void)
{
    return recorder.warnings;
}

void recorder_room(size_t events)
{
    recorder.room = events;
}
