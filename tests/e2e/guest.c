/*
 * guest.c - a host for copyspy on the stand-in runtime: guest MODE. Does what the mode says and prints what really
 * happened, counted by the stand-in itself ("truth" line), and what the program saw.
 */
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/sim/sim.h"

enum { BYTES = 65536, THREADS = 4, ROUNDS = 200 };

static void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "guest: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}
#define CHECK(call) check(call, #call)

static void *fresh(void)
{
    void *memory;
    CHECK(cudaMalloc(&memory, BYTES));
    return memory;
}

static void tell_truth(void)
{
    struct sim_counts counts;
    sim_counts(&counts);
    printf("truth %llu copies %llu bytes\n", (unsigned long long)counts.copies_d2d,
           (unsigned long long)counts.bytes_d2d);
}

/* Each kind of copy that moves device memory to device memory, once, and the other directions in between. */
static void copies(void)
{
    static char host[BYTES];
    void *a = fresh(), *b = fresh();
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMemcpy(a, host, BYTES, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, a, BYTES, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy(b, a, BYTES / 2, cudaMemcpyDefault));
    CHECK(cudaMemcpyAsync(b, a, BYTES / 4, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaMemcpyPeer(b, 0, a, 0, 4096));
    CHECK(cudaMemcpyPeerAsync(b, 0, a, 0, 2048, stream));
    CHECK(cudaMemcpy2D(b, 256, a, 512, 128, 64, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy2DAsync(b, 256, a, 512, 64, 32, cudaMemcpyDeviceToDevice, stream));
    struct cudaMemcpy3DParms box = {.srcPtr = {a, 256, 256, 16},
                                    .dstPtr = {b, 256, 256, 16},
                                    .extent = {128, 8, 4},
                                    .kind = cudaMemcpyDeviceToDevice};
    CHECK(cudaMemcpy3D(&box));
    CHECK(cudaMemcpy3DAsync(&box, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(host, b, BYTES, cudaMemcpyDeviceToHost));
}

/* A copy whose source is freed unread: into memory born for it. */
static void needless(void)
{
    for (int i = 0; i < 3; i++) {
        void *a = fresh();
        CHECK(cudaMemset(a, i, BYTES));
        void *b = fresh();
        CHECK(cudaMemcpy(b, a, BYTES, cudaMemcpyDeviceToDevice)); /* the needless copy */
        CHECK(cudaFree(a));
        char first;
        CHECK(cudaMemcpy(&first, b, 1, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(b));
    }
}

static void *copy_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        void *a = fresh(), *b = fresh();
        CHECK(cudaMemset(a, 1, BYTES));
        CHECK(cudaMemcpyAsync(b, a, BYTES, cudaMemcpyDeviceToDevice, 0));
        CHECK(cudaFree(a));
        CHECK(cudaFree(b));
    }
    return NULL;
}

static void threads(void)
{
    pthread_t made[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&made[i], NULL, copy_often, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(made[i], NULL);
}

static unsigned callbacks;

static void CUPTIAPI on_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    (void)user, (void)domain, (void)id, (void)data;
    callbacks++;
}

/* The program wants CUPTI for itself, half-way. */
static void lend(void)
{
    CUpti_SubscriberHandle subscriber;
    needless();
    CUptiResult result = cuptiSubscribe(&subscriber, on_callback, NULL);
    printf("subscribed %d\n", result);
    cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
    needless();
    cuptiUnsubscribe(subscriber);
    printf("callbacks %u\n", callbacks);
}

/* A child made after CUDA was used runs on and ends by itself. */
static void forked(void)
{
    needless();
    pid_t child = fork();
    if (child == 0) {
        printf("child\n");
        exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    printf("child ended with %d\n", status);
}

static void *work_and_end(void *unused)
{
    (void)unused;
    usleep(50000);
    needless();
    tell_truth();
    return NULL;
}

/* Main ends before the thread that works; the process ends with the last of them. */
static void headless(void)
{
    pthread_t thread;
    needless();
    pthread_create(&thread, NULL, work_and_end, NULL);
    pthread_exit(NULL);
}

/* Started without a standard error, the program's own file gets its number. */
static void lowfile(void)
{
    int file = open(getenv("GUEST_FILE"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    printf("file %d\n", file);
    needless();
}

static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {{"copies", copies}, {"needless", needless}, {"threads", threads}, {"lend", lend},
             {"fork", forked},   {"headless", headless}, {"lowfile", lowfile}};

int main(int count, char **arguments)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; count == 2 && i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(modes[i].name, arguments[1]) == 0) {
            modes[i].run();
            tell_truth();
            return 0;
        }
    }
    fprintf(stderr, "usage: guest copies|needless|threads|lend|fork|headless|lowfile\n");
    return 2;
}
