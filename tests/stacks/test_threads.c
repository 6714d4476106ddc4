/*
 * test_threads.c - eight threads capture at once, under ThreadSanitizer: no data race, and the same stack has the same
 * number on every thread. Exits 1 on the first failure.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/stacks/recorder.h"
#include "tests/stacks/trees.h"

enum { THREADS = 8, ROUNDS = 3000, TREES = 64 };

static struct {
    uint64_t hash;
    uint32_t id;
} seen[THREADS][TREES];

static sem_t done, never;

static void *work(void *argument)
{
    size_t own = (size_t)(uintptr_t)argument;
    unsigned random = (unsigned)own;
    for (int i = 0; i < ROUNDS; i++) {
        struct leaf leaf;
        size_t tree = (size_t)rand_r(&random) % TREES;
        tree_run((struct tree){tree * 0x9e3779b97f4a7c15u, (uint32_t)rand_r(&random), 6}, &leaf);
        uint64_t hash = leaf_hash(&leaf);
        if (seen[own][tree].id && (seen[own][tree].id != leaf.id || seen[own][tree].hash != hash)) {
            printf("tree %zu: number %u, was %u\n", tree, leaf.id, seen[own][tree].id);
            exit(1);
        }
        seen[own][tree].hash = hash;
        seen[own][tree].id = leaf.id;
    }
    sem_post(&done);
    /* Not ended: libunwind's destructor at a thread's end locks a mutex after ThreadSanitizer has forgotten the thread.
     */
    sem_wait(&never);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    sem_init(&done, 0, 0);
    sem_init(&never, 0, 0);
    recorder_start("/nonexistent");
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (size_t i = 0; i < THREADS; i++)
        sem_wait(&done);
    for (size_t i = 0; i < THREADS; i++) {
        for (size_t j = 0; j < TREES; j++) {
            if (!seen[i][j].id || seen[i][j].id != seen[0][j].id || seen[i][j].hash != seen[0][j].hash) {
                printf("thread %zu, tree %zu: number %u, thread 0 has %u\n", i, j, seen[i][j].id, seen[0][j].id);
                return 1;
            }
            const struct cs_event *event = recorder_find(CS_EVENT_STACK, seen[i][j].id);
            if (!event)
                return puts("not defined"), 1;
        }
    }
    printf("%d threads, %d captures each, %d stacks\n", THREADS, ROUNDS, TREES);
    return 0;
}
