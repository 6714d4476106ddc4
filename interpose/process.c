/*
 * process.c - see process.h. Analysis thread.
 */
#include "interpose/process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "interpose/cupti_plane.h"
#include "interpose/real.h"

enum { COMMAND_BYTES = 4096 };

static void read_command(char *command, size_t size)
{
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, command, size - 1) : 0;
    if (file >= 0)
        close(file);
    length = length > 0 ? length : 0;
    for (ssize_t i = 0; i + 1 < length; i++)
        if (command[i] == '\0')
            command[i] = ' ';
    command[length] = '\0';
}

static uint32_t ask_version(const char *library, const char *symbol)
{
    int version = 0;
    int (*get)(int *) = (int (*)(int *))cs_mapped_symbol(library, symbol);
    return get && get(&version) == 0 ? (uint32_t)version : 0;
}

static uint32_t python_version(void)
{
    const unsigned long *number = dlsym(RTLD_DEFAULT, "Py_Version"); /* 3.11 and later */
    const char *(*text)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "Py_GetVersion");
    unsigned major, minor, micro;
    if (number)
        return (uint32_t)*number;
    if (text && sscanf(text(), "%u.%u.%u", &major, &minor, &micro) == 3)
        return major << 24 | minor << 16 | micro << 8 | 0xf0;
    return 0;
}

void cs_process_describe(void (*take)(void *context, const struct cs_event *event), void *context)
{
    static union {
        struct cs_process_def def;
        char bytes[sizeof(struct cs_process_def) + COMMAND_BYTES];
    } record;
    record.def.head.size = sizeof record;
    record.def.head.kind = CS_EVENT_PROCESS;
    record.def.pid = (uint32_t)getpid();
    record.def.runtime_version = ask_version("libcudart.so.", "cudaRuntimeGetVersion");
    record.def.driver_version = ask_version("libcuda.so.", "cuDriverGetVersion");
    record.def.cupti_version = cs_cupti_version();
    record.def.python_version = python_version();
    record.def.stand_in = cs_mapped_symbol("libcuda.so.", "sim_counts") != NULL;
    read_command(record.bytes + offsetof(struct cs_process_def, command), COMMAND_BYTES);
    take(context, &record.def.head);
}
