/*
 * event.h - the records that pass from the hooks to the analysis.
 *
 * An event is a fact about the program ("these bytes were copied by this call from here"), never a judgement. Hooks
 * write events into the calling thread's ring; the analysis thread reads them in the order of their sequence numbers. A
 * definition (a kernel's name, a call stack's frames) is an event too and precedes, in sequence, the first event that
 * refers to it, so a recorded stream of events can be replayed by itself.
 *
 * Layout: every record starts with struct cs_event, is a multiple of 8 bytes long and holds no pointers into the
 * program that a reader would have to follow: addresses are numbers here. All integers are in host byte order.
 *
 * Threads: plain data, no functions with state.
 */
#ifndef COPYSPY_ANALYSIS_EVENT_H
#define COPYSPY_ANALYSIS_EVENT_H

#include <stddef.h>
#include <stdint.h>

enum cs_event_kind {
    CS_EVENT_NONE,
    /* definitions */
    CS_EVENT_PROCESS,       /* struct cs_process_def: what runs, with which versions */
    CS_EVENT_DEVICE,        /* struct cs_device_def */
    CS_EVENT_KERNEL,        /* struct cs_kernel_def */
    CS_EVENT_CODE_LOADED,   /* struct cs_code: a GPU code module (cubin) was loaded */
    CS_EVENT_CODE_UNLOADED, /* struct cs_code */
    CS_EVENT_OBJECT_FILE,   /* struct cs_object_file: a host ELF file is mapped */
    CS_EVENT_PYTHON_FRAME,  /* struct cs_python_frame_def */
    CS_EVENT_STACK,         /* struct cs_stack_def */
    /* what the program does */
    CS_EVENT_LAUNCH,        /* struct cs_launch */
    CS_EVENT_COPY,          /* struct cs_copy */
    CS_EVENT_FILL,          /* struct cs_fill */
    CS_EVENT_ALLOC,         /* struct cs_allocation */
    CS_EVENT_FREE,          /* struct cs_allocation, size 0 */
    CS_EVENT_ESCAPE,        /* struct cs_escape: this device address was written into device memory as data */
    CS_EVENT_CAPTURE_BEGIN, /* struct cs_event: a stream capture began on head.stream */
    CS_EVENT_CAPTURE_END,   /* struct cs_event */
    CS_EVENT_GRAPH_LAUNCH,  /* struct cs_event */
    CS_EVENT_COPY_TIME,     /* struct cs_copy_time: the device's own timing of an earlier copy */
    CS_EVENT_END,           /* struct cs_event: the program is being torn down; what dies from here on is no evidence */
    /* what could not be seen */
    CS_EVENT_BLIND_BEGIN, /* struct cs_blind: from here launches and copies may go unseen */
    CS_EVENT_BLIND_END,   /* struct cs_blind */
    CS_EVENT_LOST,        /* struct cs_lost: events were dropped just before this one */
    CS_EVENT_KIND_COUNT
};

/* cs_event.flags */
#define CS_FLAG_CAPTURED 0x1u  /* recorded into a graph by stream capture, not executed now */
#define CS_FLAG_FRAMEWORK 0x4u /* CS_EVENT_ALLOC/FREE: a framework's block inside a larger allocation (c10) */

struct cs_event {
    uint32_t size;        /* bytes of the whole record, this header included; a multiple of 8 */
    uint16_t kind;        /* enum cs_event_kind */
    uint16_t flags;       /* CS_FLAG_* */
    uint64_t sequence;    /* global, starts at 1, no gaps unless events were lost */
    uint64_t stream;      /* the stream handle's value; 0 is the default stream or not applicable */
    uint32_t stack;       /* id of a cs_stack_def; 0: no stack is known */
    uint32_t correlation; /* CUPTI's correlation id; 0: none */
    uint32_t thread;      /* small number of the calling host thread, from 1 */
    uint32_t device;      /* device ordinal, or CS_DEVICE_UNKNOWN */
};
#define CS_DEVICE_UNKNOWN 0xffffffffu

/* Where one side of a copy lives, as far as the call itself says. */
enum cs_space {
    CS_SPACE_UNKNOWN, /* cudaMemcpyDefault and the like: the object map decides */
    CS_SPACE_HOST,
    CS_SPACE_DEVICE,
    CS_SPACE_ARRAY /* a CUDA array: address holds its handle */
};

/*
 * A copy of width * height * depth bytes. Linear copies have height = depth = 1 and pitch = slice = width.
 * Row r of slice s starts at address + s * slice + r * pitch.
 */
struct cs_extent {
    uint64_t width, height, depth; /* bytes, rows, slices */
};
struct cs_place {
    uint64_t address;
    uint64_t pitch, slice; /* bytes from row to row, from slice to slice */
    uint32_t space;        /* enum cs_space */
    uint32_t device;       /* ordinal for peer copies, else CS_DEVICE_UNKNOWN */
};
struct cs_copy {
    struct cs_event head;
    struct cs_extent extent;
    struct cs_place dst, src;
};

/* A fill (cudaMemset*): like a copy without a source. element: bytes of the repeated value (1, 2 or 4). */
struct cs_fill {
    struct cs_event head;
    struct cs_extent extent;
    struct cs_place dst;
    uint32_t value, element;
};

/*
 * A kernel launch. The parameters are laid out as the kernel sees them: parameter i at the offset that its code image
 * gives. parameter_bytes = 0: the parameters are not known, and the launch may touch anything.
 */
struct cs_launch {
    struct cs_event head;
    uint32_t kernel; /* id of a cs_kernel_def */
    uint32_t parameter_bytes;
    uint8_t parameters[];
};

/* How the memory was made. The value orders nothing; the analysis knows which source is finer. */
enum cs_allocator {
    CS_ALLOCATOR_PLAIN, /* cudaMalloc, cuMemAlloc and kin */
    CS_ALLOCATOR_ASYNC, /* stream-ordered */
    CS_ALLOCATOR_MANAGED,
    CS_ALLOCATOR_HOST,   /* pinned host memory */
    CS_ALLOCATOR_MAPPED, /* cuMemMap: physical memory mapped into a reserved range */
    CS_ALLOCATOR_C10     /* a block of PyTorch's caching allocator (sizes are block sizes, rounded up) */
};
struct cs_allocation {
    struct cs_event head;
    uint64_t address, size;
    uint32_t allocator; /* enum cs_allocator */
    uint32_t reserved;
};

struct cs_escape {
    struct cs_event head;
    uint64_t address; /* 0: more addresses escaped than were listed; take every live object as escaped */
};

struct cs_copy_time {
    struct cs_event head; /* head.correlation names the copy */
    uint64_t start_ns, end_ns, bytes;
};

/* ---- definitions: fixed part, then character data; texts are NUL-terminated and counted with their NUL ---- */

struct cs_process_def {
    struct cs_event head;
    uint32_t pid, runtime_version, driver_version, cupti_version; /* 13000 means 13.0; 0 not known */
    uint32_t python_version;                                      /* 0x030c03f0 (PY_VERSION_HEX), 0 no Python */
    uint32_t stand_in;                                            /* 1: the runtime is the stand-in of tests/sim */
    char command[];                                               /* as in /proc/self/cmdline, joined by spaces */
};

struct cs_device_def {
    struct cs_event head;        /* head.device */
    uint64_t bytes_per_second;   /* of device memory, from its clock and bus width; 0 not known */
    uint32_t compute_capability; /* 90 for sm_90; 0 not known */
    uint32_t reserved;
    char name[];
};

struct cs_kernel_def {
    struct cs_event head;
    uint32_t id;
    uint32_t reserved;
    char name[]; /* mangled */
};

struct cs_code {
    struct cs_event head;
    uint32_t id; /* the host can map the image of this id until CS_EVENT_CODE_UNLOADED and after it, see analysis.h */
    uint32_t reserved;
    uint64_t size;
};

struct cs_object_file {
    struct cs_event head;
    uint32_t id;
    uint32_t reserved;
    uint64_t start, end; /* address range of its loaded segments */
    uint64_t bias;       /* what to subtract from an address to get the file's own virtual address */
    char path[];         /* "" when it has none */
};

/* One Python frame at one instruction. Lines count from 1; columns are UTF-8 byte offsets from 0, end exclusive; -1
 * unknown. */
struct cs_python_frame_def {
    struct cs_event head;
    uint32_t id;
    int32_t line, end_line, column, end_column;
    uint32_t file_bytes, function_bytes;
    uint32_t reserved;
    char text[]; /* file name, then qualified function name */
};

/*
 * A call stack: native return addresses and Python frames side by side, innermost first. They are never merged.
 * Frames inside copyspy itself are already cut off.
 */
struct cs_stack_def {
    struct cs_event head;
    uint32_t id;
    uint32_t native_count, python_count;
    uint32_t truncated; /* 1: deeper frames were left out */
    uint64_t frames[];  /* native_count return addresses, then python_count python frame ids */
};

enum cs_blind_reason {
    CS_BLIND_NO_CUPTI,   /* CUPTI cannot be used in this process */
    CS_BLIND_CUPTI_LENT, /* the program or another tool uses CUPTI itself */
    CS_BLIND_REASON_COUNT
};
struct cs_blind {
    struct cs_event head;
    uint32_t reason; /* enum cs_blind_reason */
    uint32_t reserved;
};

struct cs_lost {
    struct cs_event head;
    uint64_t count;
};

_Static_assert(sizeof(struct cs_event) == 40, "layout");
_Static_assert(sizeof(struct cs_extent) == 24, "layout");
_Static_assert(sizeof(struct cs_place) == 32, "layout");
_Static_assert(sizeof(struct cs_copy) == 40 + 24 + 64, "layout");
_Static_assert(sizeof(struct cs_fill) == 40 + 24 + 32 + 8, "layout");
_Static_assert(sizeof(struct cs_launch) == 48, "layout");
_Static_assert(sizeof(struct cs_allocation) == 64, "layout");
_Static_assert(sizeof(struct cs_copy_time) == 64, "layout");

#endif
