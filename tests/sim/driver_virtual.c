/*
 * driver_virtual.c - reserved address ranges and memory mapped into them. An allocation is a memory file, so that two
 * mappings of it show the same bytes; a block is what one cuMemMap mapped.
 *
 * Threads: any.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/sim/core.h"

#define GRANULARITY ((size_t)2 << 20)

struct allocation {
    int file, device;
    size_t size;
};

static bool grained(size_t value)
{
    return value % GRANULARITY == 0;
}

CUresult sim_cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                           CUmemAllocationGranularity_flags option)
{
    (void)option;
    if (!granularity || !prop)
        return CUDA_ERROR_INVALID_VALUE;
    *granularity = GRANULARITY;
    return sim_initialized();
}

CUresult sim_cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                                 unsigned long long flags)
{
    (void)alignment, (void)addr;
    if (!ptr || !size || !grained(size) || flags)
        return CUDA_ERROR_INVALID_VALUE;
    *ptr = (CUdeviceptr)sim_memory_reserve(size);
    return *ptr ? sim_initialized() : CUDA_ERROR_OUT_OF_MEMORY;
}

/* The addresses are not handed out again; only that nothing is mapped there any more is checked. */
CUresult sim_cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
    struct sim_block block;
    for (size_t at = 0; at < size; at += GRANULARITY)
        if (sim_memory_find((void *)(ptr + at), 1, &block))
            return CUDA_ERROR_INVALID_VALUE;
    return ptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                         unsigned long long flags)
{
    if (!handle || !size || !grained(size) || !prop || flags || !sim_device_valid(prop->location.id))
        return CUDA_ERROR_INVALID_VALUE;
    struct allocation *allocation = calloc(1, sizeof *allocation);
    int file = memfd_create("sim", MFD_CLOEXEC);
    if (!allocation || file < 0 || ftruncate(file, (off_t)size) != 0) {
        free(allocation);
        if (file >= 0)
            close(file);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *allocation = (struct allocation){file, prop->location.id, size};
    *handle = (CUmemGenericAllocationHandle)(uintptr_t)allocation;
    sim_count_allocation();
    return CUDA_SUCCESS;
}

CUresult sim_cuMemRelease(CUmemGenericAllocationHandle handle)
{
    struct allocation *allocation = (struct allocation *)(uintptr_t)handle;
    if (!allocation)
        return CUDA_ERROR_INVALID_VALUE;
    close(allocation->file); /* mappings keep the memory */
    free(allocation);
    sim_count_free();
    return CUDA_SUCCESS;
}

CUresult sim_cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                      unsigned long long flags)
{
    struct allocation *allocation = (struct allocation *)(uintptr_t)handle;
    if (!allocation || flags || !size || !grained(ptr) || !grained(size) || !grained(offset) ||
        offset > allocation->size || size > allocation->size - offset)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_memory_map((void *)ptr, size, allocation->device))
        return CUDA_ERROR_INVALID_VALUE;
    void *mapped =
        mmap((void *)ptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, allocation->file, (off_t)offset);
    if (mapped != MAP_FAILED)
        return CUDA_SUCCESS;
    sim_memory_release((void *)ptr, SIM_MEMORY_MAPPED);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_cuMemUnmap(CUdeviceptr ptr, size_t size)
{
    struct sim_block block;
    if (!sim_memory_find((void *)ptr, size, &block) || block.base != ptr || block.size != size ||
        !sim_memory_release((void *)ptr, SIM_MEMORY_MAPPED))
        return CUDA_ERROR_INVALID_VALUE;
    mmap((void *)ptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    return CUDA_SUCCESS;
}

CUresult sim_cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count)
{
    struct sim_block block;
    bool known = ptr && size && desc && count && sim_memory_find((void *)ptr, 1, &block);
    return known && block.kind == SIM_MEMORY_MAPPED ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
