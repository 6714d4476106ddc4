/*
 * device.c - see device.h. Looks the driver's functions up in the libcuda that is in the process; none of those used
 * here makes a context or touches a stream.
 */
#include "interpose/device.h"

#include <string.h>

#include "interpose/real.h"

uint32_t cs_device_of(CUcontext context)
{
    /* cuCtxGetDevice_v2 (13.0) takes the context; before it only the current context can be asked, which is the
     * one that the calling thread's call goes to. */
    static CUresult (*of_context)(CUdevice *, CUcontext);
    static CUresult (*of_current)(CUdevice *);
    if (!of_context && !of_current) {
        of_context = (CUresult(*)(CUdevice *, CUcontext))cs_mapped_symbol("libcuda.so.", "cuCtxGetDevice_v2");
        of_current = (CUresult(*)(CUdevice *))cs_mapped_symbol("libcuda.so.", "cuCtxGetDevice");
    }
    CUdevice device;
    if (context && of_context && of_context(&device, context) == CUDA_SUCCESS)
        return (uint32_t)device;
    if (context && of_current && of_current(&device) == CUDA_SUCCESS)
        return (uint32_t)device;
    return CS_DEVICE_UNKNOWN;
}

struct questions {
    CUresult (*count)(int *);
    CUresult (*get)(CUdevice *, int);
    CUresult (*name)(char *, int, CUdevice);
    CUresult (*attribute)(int *, CUdevice_attribute, CUdevice);
};

static int attribute(const struct questions *ask, CUdevice device, CUdevice_attribute which)
{
    int value = 0;
    return ask->attribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

static void describe(const struct questions *ask, int ordinal, void (*take)(void *, const struct cs_event *),
                     void *context)
{
    union {
        struct cs_device_def def;
        char bytes[sizeof(struct cs_device_def) + 128];
    } record;
    CUdevice device;
    memset(&record, 0, sizeof record);
    char *name = (char *)&record + offsetof(struct cs_device_def, name);
    if (ask->get(&device, ordinal) != CUDA_SUCCESS || ask->name(name, 127, device) != CUDA_SUCCESS)
        return;
    record.def.head.size = sizeof record;
    record.def.head.kind = CS_EVENT_DEVICE;
    record.def.head.device = (uint32_t)ordinal;
    /* The clock is in kHz and counts one edge; double data rate moves a bus width on both. */
    uint64_t clock = (uint64_t)attribute(ask, device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) * 1000;
    uint64_t width = (uint64_t)attribute(ask, device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8;
    record.def.bytes_per_second = 2 * clock * width;
    record.def.compute_capability =
        (uint32_t)(attribute(ask, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                   attribute(ask, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    take(context, &record.def.head);
}

void cs_device_each(void (*take)(void *context, const struct cs_event *event), void *context)
{
    struct questions ask = {
        (CUresult(*)(int *))cs_mapped_symbol("libcuda.so.", "cuDeviceGetCount"),
        (CUresult(*)(CUdevice *, int))cs_mapped_symbol("libcuda.so.", "cuDeviceGet"),
        (CUresult(*)(char *, int, CUdevice))cs_mapped_symbol("libcuda.so.", "cuDeviceGetName"),
        (CUresult(*)(int *, CUdevice_attribute, CUdevice))cs_mapped_symbol("libcuda.so.", "cuDeviceGetAttribute"),
    };
    int count = 0;
    if (!ask.count || !ask.get || !ask.name || !ask.attribute || ask.count(&count) != CUDA_SUCCESS)
        return;
    for (int ordinal = 0; ordinal < count; ordinal++)
        describe(&ask, ordinal, take, context);
}
