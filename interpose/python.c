/*
 * python.c - see python.h. cs_python_frames is on the hot path: about a dozen loads a frame.
 *
 * Limits: a thread that runs in a sub-interpreter shows the frames of the first interpreter it ran in, as
 * PyGILState_GetThisThreadState does. A daemon thread inside our call at the moment when the main thread begins to take
 * the interpreter down could read a frame as it is freed: the check of "is finalizing" leaves a window of some 50 ns.
 */
#include "interpose/python.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "interpose/debug.h"
#include "interpose/python_layout.h"
#include "interpose/python_text.h"
#include "interpose/warn.h"

#define NONE CS_PYTHON_NONE

/* What depends on `kind`, a constant of each caller: inlined, so that each kind of frames is read by code of its own.
 */
#define INLINED static inline __attribute__((always_inline))

enum { OLDEST = 9, NEWEST = 14 };                /* 3.9 to 3.14 */
enum { OWNED_BY_GENERATOR = 1, OWNED_BY_C = 3 }; /* enum _frameowner; from 3 on it is a shim between C and Python */

static struct {
    struct cs_python_layout layout;
    const void *(*thread_state)(void); /* PyGILState_GetThisThreadState: one pthread_getspecific */
    int (*is_finalizing)(void);        /* one atomic load */
    const void *code_type;             /* PyCode_Type: what is not of this type is not read as a code object */
    _Atomic int readable;              /* the fields above are set and Python may be read */
    _Atomic int settled;               /* looked for, with an answer that stays */
    _Atomic int looked_apart;          /* looked for outside the global scope: that searches folders, so only once */
} python;

static inline uint64_t word(const void *base, size_t offset)
{
    uint64_t value;
    memcpy(&value, (const char *)base + offset, sizeof value);
    return value;
}

static inline const char *pointer(const void *base, size_t offset)
{
    return (const char *)(uintptr_t)word(base, offset);
}

static inline int32_t integer(const void *base, size_t offset)
{
    int32_t value;
    memcpy(&value, (const char *)base + offset, sizeof value);
    return value;
}

/* ---- finding the interpreter ---- */

/* libpython when it was loaded RTLD_LOCAL, else NULL. Keeps it loaded. */
static void *local_library(void)
{
    for (int minor = OLDEST; minor <= NEWEST; minor++) {
        char name[32];
        snprintf(name, sizeof name, "libpython3.%d.so.1.0", minor);
        void *library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
        if (library)
            return library;
    }
    return NULL;
}

/* "3.12.1 (main, ..." Returns false for what is not 3.x. */
static bool parse_version(const char *text, unsigned *minor)
{
    unsigned major = 0;
    return text && sscanf(text, "%u.%u", &major, minor) == 2 && major == 3;
}

/* A build whose objects have more fields (Py_TRACE_REFS) does not have its own type where the layout says. */
static bool layout_fits(const struct cs_python_layout *layout, const void *code_type, const void *type_type)
{
    return code_type && type_type && pointer(code_type, layout->type) == type_type;
}

static void open_interpreter(void *library)
{
    const char *(*version)(void) = (const char *(*)(void))dlsym(library, "Py_GetVersion");
    const char *text = version ? version() : NULL;
    const void *code_type = dlsym(library, "PyCode_Type");
    unsigned minor = 0;
    if (!parse_version(text, &minor) || !cs_python_layout_find(&python.layout, minor, dlsym(library, "_PyRuntime")) ||
        !layout_fits(&python.layout, code_type, dlsym(library, "PyType_Type"))) {
        cs_warn_once("python-version", "Python %.16s is not one whose frames can be read: no Python lines",
                     text ? text : "(unknown version)");
        return;
    }
    cs_debug(CS_DEBUG_python, 1, "reading the frames of Python %.16s", text);
    python.code_type = code_type;
    python.is_finalizing = (int (*)(void))dlsym(library, "Py_IsFinalizing");
    if (!python.is_finalizing)
        python.is_finalizing = (int (*)(void))dlsym(library, "_Py_IsFinalizing");
    if (python.is_finalizing)
        atomic_store_explicit(&python.readable, 1, memory_order_release);
}

void cs_python_find(void)
{
    if (atomic_load_explicit(&python.settled, memory_order_acquire))
        return;
    void *library = RTLD_DEFAULT;
    void *entry = dlsym(library, "PyGILState_GetThisThreadState");
    if (!entry && !atomic_exchange(&python.looked_apart, 1) && (library = local_library()))
        entry = dlsym(library, "PyGILState_GetThisThreadState");
    if (!entry || atomic_exchange(&python.settled, 1))
        return;
    python.thread_state = (const void *(*)(void))entry;
    open_interpreter(library);
}

void cs_python_end(void)
{
    atomic_store(&python.settled, 1);
    atomic_store(&python.readable, 0);
}

/* ---- reading frames ---- */

/* Up to 8 bytes at either end of a table. Every bytes object is at least 8 bytes longer than its header. */
static inline uint64_t ends(const struct cs_python_layout *layout, const char *table, uint64_t size)
{
    uint64_t first = word(table, layout->data);
    if (size >= 8)
        return first ^ word(table, layout->data + size - 8) * 0xd6e8feb86659fd93u;
    return first & ((1ull << (8 * size)) - 1);
}

/*
 * What tells a code object from a dead one whose address it has. From 3.12 on its own number, never given twice.
 * Before: the first line, the very objects of its names and its table, and the table's length, first and last bytes
 * would all have to be the same. Products are summed, not chained, so that they overlap in the processor.
 */
INLINED uint64_t fingerprint(const struct cs_python_layout *layout, enum cs_python_frames kind, const char *code)
{
    uint32_t line = (uint32_t)integer(code, layout->first_line);
    if (kind != CS_PYTHON_FRAME_OBJECTS && layout->version != NONE) {
        uint32_t version = (uint32_t)integer(code, layout->version);
        if (version != 0)
            return (uint64_t)line << 32 | version;
    }
    const char *table = pointer(code, layout->table);
    uint64_t size = word(table, layout->size);
    return line * 0x9e3779b97f4a7c15u + word(code, layout->file) * 0xc2b2ae3d27d4eb4fu +
           word(code, layout->name) * 0x165667b19e3779f9u + (uint64_t)(uintptr_t)table * 0xd6e8feb86659fd93u +
           size * 0xff51afd7ed558ccdu + ends(layout, table, size) * 0xc4ceb9fe1a85ec53u;
}

/* 3.14 free-threaded: each thread may run its own copy of the instructions; number 0 is the code object's own. */
static const char *instructions(const struct cs_python_layout *layout, const char *frame, const char *code)
{
    if (layout->tlbc != NONE) {
        int32_t index = integer(frame, layout->tlbc_index);
        const char *copies = pointer(code, layout->tlbc); /* a count, then pointers */
        if (copies && index > 0 && (uint64_t)index < word(copies, 0))
            return pointer(copies, 8 + 8 * (size_t)index);
    }
    return code + layout->start;
}

/* The byte offset of the frame's instruction, -1 for a frame that is still being set up. */
INLINED int64_t instruction_of(const struct cs_python_layout *layout, enum cs_python_frames kind, const char *frame,
                               const char *code, int owner)
{
    if (kind == CS_PYTHON_FRAME_OBJECTS) {
        int64_t index = integer(frame, layout->instruction);
        return layout->table_kind == CS_PYTHON_LNOTAB ? index : index * 2; /* 3.10 counts code units */
    }
    if (kind == CS_PYTHON_CFRAMES) {
        int64_t offset = pointer(frame, layout->instruction) - (code + layout->start);
        int64_t first = owner == OWNED_BY_GENERATOR ? 0 : 2 * integer(code, layout->traceable);
        return offset < first ? -1 : offset;
    }
    int64_t offset = pointer(frame, layout->instruction) - instructions(layout, frame, code);
    return offset >= 2 * (int64_t)word(code, layout->size) ? -1 : offset;
}

/* False for frames that run no Python: shims of the C stack, and frames that are still being set up. */
INLINED bool read_frame(const struct cs_python_layout *layout, enum cs_python_frames kind, const char *frame,
                        struct cs_python_frame *out)
{
    int owner = kind == CS_PYTHON_FRAME_OBJECTS ? 0 : (unsigned char)frame[layout->owner];
    if (owner >= OWNED_BY_C)
        return false;
    const char *code = pointer(frame, layout->code);
    if (kind == CS_PYTHON_PUBLISHED)
        code = (const char *)((uintptr_t)code & ~(uintptr_t)3); /* 3.14 keeps flags there */
    if (!code || pointer(code, layout->type) != python.code_type)
        return false;
    int64_t instruction = instruction_of(layout, kind, frame, code, owner);
    if (instruction < 0)
        return false;
    out->code = (uintptr_t)code;
    out->instruction = (uint64_t)instruction;
    out->fingerprint = fingerprint(layout, kind, code);
    return true;
}

/* Follows the chain from `frame` on. */
INLINED size_t read_chain(const struct cs_python_layout *layout, enum cs_python_frames kind, const char *frame,
                          struct cs_python_frame *frames, size_t capacity, bool *truncated)
{
    size_t count = 0;
    for (; frame && count < capacity; frame = pointer(frame, layout->previous))
        count += read_frame(layout, kind, frame, &frames[count]);
    if (frame)
        *truncated = true;
    return count;
}

size_t cs_python_frames(struct cs_python_frame *frames, size_t capacity, bool *truncated)
{
    if (!atomic_load_explicit(&python.readable, memory_order_acquire) || python.is_finalizing())
        return 0;
    const struct cs_python_layout *layout = &python.layout;
    const char *thread = python.thread_state();
    if (!thread)
        return 0;
    const char *frame = pointer(thread, layout->thread_frame);
    switch (layout->frames) {
    case CS_PYTHON_FRAME_OBJECTS:
        return read_chain(layout, CS_PYTHON_FRAME_OBJECTS, frame, frames, capacity, truncated);
    case CS_PYTHON_CFRAMES:
        frame = frame ? pointer(frame, layout->cframe_frame) : NULL;
        return read_chain(layout, CS_PYTHON_CFRAMES, frame, frames, capacity, truncated);
    case CS_PYTHON_PUBLISHED:
        return read_chain(layout, CS_PYTHON_PUBLISHED, frame, frames, capacity, truncated);
    }
    return 0;
}

struct cs_python_names cs_python_describe(const struct cs_python_frame *frame)
{
    const struct cs_python_layout *layout = &python.layout;
    const char *code = (const char *)(uintptr_t)frame->code;
    const char *table = pointer(code, layout->table);
    return (struct cs_python_names){
        .location = cs_python_locate(layout->table_kind, (const uint8_t *)table + layout->data,
                                     (size_t)word(table, layout->size), integer(code, layout->first_line),
                                     (int32_t)frame->instruction),
        .file = pointer(code, layout->file),
        .function = pointer(code, layout->name),
    };
}

size_t cs_python_name(const void *name, char *buffer, size_t size)
{
    return cs_python_text(&python.layout, name, buffer, size);
}
