/*
 * kernel.h - the kernels of the program and what their machine code says they do with their parameters.
 *
 * A kernel is looked up in the code modules when it is first launched, and again when code came since. The same mangled
 * name in several modules: the union of what they do. Modules are mapped only while they are read: once for the names
 * of their kernels, once for each kernel that is launched.
 *
 * Threads: the analysis thread. Memory: one entry a kernel, one hash a name in a loaded module, one summary a distinct
 * code.
 */
#ifndef COPYSPY_ANALYSIS_OBJECTS_KERNEL_H
#define COPYSPY_ANALYSIS_OBJECTS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/map64.h"
#include "analysis/sass/summary.h"

struct cs_analysis;

/* Why a launch could not be understood. */
enum cs_gap { CS_GAP_NONE, CS_GAP_NO_CODE, CS_GAP_NOT_FOLLOWED, CS_GAP_NO_PARAMETERS, CS_GAP_UNNAMED };

struct cs_kernel {
    char *name;      /* mangled */
    uint64_t looked; /* the modules up to this one were searched */
    bool found, incomplete, opaque_read, opaque_write;
    struct cs_slot *slots; /* of all summaries; the same range may come more than once */
    size_t slot_count;
    uint64_t *hashes; /* of the summaries that were merged */
    size_t hash_count;
    uint64_t launches, not_understood;
    enum cs_gap gap; /* of the last launch that was not understood */
};

struct cs_module;
struct cs_kernels {
    struct cs_kernel **kernels; /* by index; stable */
    size_t count, capacity;
    struct cs_map64 by_id;
    struct cs_module *modules; /* those loaded now, oldest first */
    size_t module_count, module_capacity;
    uint64_t loaded;           /* modules ever loaded */
    struct cs_map64 summaries; /* content hash -> struct cs_kernel_summary * */
    uint64_t unreadable;       /* modules that could not be mapped or read */
};

/* The index of the kernel with this id of cs_kernel_def, its summary looked up; UINT32_MAX when the id is unknown. */
uint32_t cs_kernels_launched(struct cs_analysis *analysis, uint32_t id);

void cs_kernels_release(struct cs_kernels *kernels);

#endif
