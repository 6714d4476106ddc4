/*
 * summary.h - what a kernel does with its parameters, read from its machine code.
 *
 * A slot is a range of parameter bytes that the code uses as an address: a plain pointer (8 bytes), a tensor map (the
 * descriptor that TMA instructions take; 128 or 64 bytes, its global address lies in one of its 8-byte words) or a
 * table that is indexed at run time (every aligned 8-byte word in it may be used). Parameter bytes in no slot are never
 * used as an address, whatever value they hold.
 *
 * Soundness: anything the pass does not understand widens the summary (access read and write, or the opaque flags); it
 * never narrows it.
 *
 * Threads: no globals; different summaries may be computed at the same time. The caller owns and frees what it is
 * given.
 */
#ifndef COPYSPY_ANALYSIS_SASS_SUMMARY_H
#define COPYSPY_ANALYSIS_SASS_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/error.h"

/* What is done with memory through an address; bits. */
enum cs_access {
    CS_ACCESS_NONE = 0,
    CS_ACCESS_READ = 1,
    CS_ACCESS_WRITE = 2,
    CS_ACCESS_ATOMIC =
        4, /* atomically updated: READ and WRITE are set too, unless the result is unused (RED): then also both */
    CS_ACCESS_STORED = 8 /* the address itself is written to memory: others can reach the object from then on */
};

enum cs_slot_kind { CS_SLOT_POINTER, CS_SLOT_TENSOR_MAP, CS_SLOT_TABLE };

struct cs_slot {
    uint32_t offset; /* from the start of the parameters (not of the constant bank) */
    uint32_t size;   /* bytes */
    uint32_t access; /* CS_ACCESS_* bits */
    uint32_t kind;   /* enum cs_slot_kind */
};

struct cs_parameter {
    uint32_t offset, size;
};

/* What the kernel does to data. CS_CLASS_COMPUTE is also what is said when the pass cannot tell. */
enum cs_kernel_class { CS_CLASS_COMPUTE, CS_CLASS_COPY, CS_CLASS_RELAYOUT, CS_CLASS_CAST, CS_CLASS_FILL };

struct cs_kernel_summary {
    uint32_t architecture; /* 90 for sm_90 */
    uint32_t class;        /* enum cs_kernel_class */
    size_t parameter_count, slot_count;
    struct cs_parameter *parameters; /* by ordinal */
    struct cs_slot *slots;           /* by offset, not overlapping */
    bool opaque_read;                /* reads through addresses that it loaded from memory */
    bool opaque_write;               /* writes (or atomically updates) through such addresses */
    bool
        incomplete; /* code could not be followed (unknown instruction that reaches memory, unresolved call or branch):
                       every parameter word may be read and written through, and opaque_read and opaque_write are set */
    uint32_t memory_instructions;     /* instructions that access global or generic memory... */
    uint32_t unresolved_instructions; /* ...and those of them whose address was traced to no parameter */
    uint64_t content_hash;            /* of the code and what the summary depends on; equal hashes, equal summaries */
};

struct cs_cubin;

/*
 * Opens a cubin (an ELF file for EM_CUDA) in memory. The image is not copied and must stay mapped and unchanged until
 * cs_cubin_close. Returns 0, or -1 with a message that names the offset and what was expected there.
 */
int cs_cubin_open(const void *image, size_t size, struct cs_cubin **cubin, struct cs_error *error);
void cs_cubin_close(struct cs_cubin *cubin);

/* Kernels (entry functions) in the image. Names are mangled, owned by the cubin. */
size_t cs_cubin_kernel_count(const struct cs_cubin *cubin);
const char *cs_cubin_kernel_name(const struct cs_cubin *cubin, size_t kernel);
/* Index of the kernel of that name, or SIZE_MAX. Takes at most O(log n) after the first call. */
size_t cs_cubin_find(const struct cs_cubin *cubin, const char *name);
/* 90 for sm_90. */
uint32_t cs_cubin_architecture(const struct cs_cubin *cubin);

/*
 * Hash of everything the summary of this kernel depends on: equal hashes, equal summaries. Cheap (one pass over its
 * code).
 */
uint64_t cs_cubin_kernel_hash(const struct cs_cubin *cubin, size_t kernel);

/*
 * Summarises one kernel. Returns 0 and fills *summary, to be released with cs_summary_release; or -1 with a message
 * when the image is damaged. Code that cannot be followed is no error: see cs_kernel_summary.incomplete.
 */
int cs_summarize(const struct cs_cubin *cubin, size_t kernel, struct cs_kernel_summary *summary,
                 struct cs_error *error);
void cs_summary_release(struct cs_kernel_summary *summary);

#endif
