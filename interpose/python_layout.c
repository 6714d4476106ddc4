/*
 * python_layout.c - see python_layout.h: the table of python_layouts.def, and the offsets that 3.13 and later publish
 * in _PyRuntime. Runs once a process, on the first thread that captures a stack.
 */
#include "interpose/python_layout.h"

#include <stddef.h>
#include <string.h>

#define NONE CS_PYTHON_NONE

/* The same in every version before offsets were published: PyObject is a count and a type, PyVarObject adds a size. */
enum { OB_TYPE = 8, OB_SIZE = 16, BYTES_DATA = 32, TEXT_LENGTH = 16, TEXT_STATE = 32, TEXT_KIND_SHIFT = 2 };

static enum cs_python_table table_kind(unsigned minor)
{
    return minor <= 9 ? CS_PYTHON_LNOTAB : minor == 10 ? CS_PYTHON_LINETABLE : CS_PYTHON_LOCATIONS;
}

static enum cs_python_frames frames_kind(unsigned minor)
{
    return minor <= 10 ? CS_PYTHON_FRAME_OBJECTS : minor <= 12 ? CS_PYTHON_CFRAMES : CS_PYTHON_PUBLISHED;
}

static const struct cs_python_layout known[] = {
#define PYTHON_LAYOUT(minor_, thread_frame_, cframe_frame_, previous_, code_, instruction_, owner_, file_, name_,      \
                      first_line_, table_, start_, traceable_, version_, ascii_, compact_)                             \
    {.minor = minor_,                                                                                                  \
     .thread_frame = thread_frame_,                                                                                    \
     .cframe_frame = cframe_frame_,                                                                                    \
     .previous = previous_,                                                                                            \
     .code = code_,                                                                                                    \
     .instruction = instruction_,                                                                                      \
     .owner = owner_,                                                                                                  \
     .tlbc_index = NONE,                                                                                               \
     .file = file_,                                                                                                    \
     .name = name_,                                                                                                    \
     .first_line = first_line_,                                                                                        \
     .table = table_,                                                                                                  \
     .start = start_,                                                                                                  \
     .version = version_,                                                                                              \
     .traceable = traceable_,                                                                                          \
     .tlbc = NONE,                                                                                                     \
     .type = OB_TYPE,                                                                                                  \
     .size = OB_SIZE,                                                                                                  \
     .data = BYTES_DATA,                                                                                               \
     .state = TEXT_STATE,                                                                                              \
     .length = TEXT_LENGTH,                                                                                            \
     .ascii = ascii_,                                                                                                  \
     .compact = compact_,                                                                                              \
     .kind_shift = TEXT_KIND_SHIFT},
#include "interpose/python_layouts.def"
};

/* One row: indices into the published words instead of offsets. */
struct published {
    uint16_t minor, thread_frame, previous, code, instruction, owner, tlbc_index, tlbc, file, name, table, first_line,
        start, type, size, data, state, length, ascii, version, kind_shift;
};
static const struct published published[] = {
#define PYTHON_PUBLISHED(...) {__VA_ARGS__},
#include "interpose/python_layouts.def"
};

/* The offset in word `index`; *plausible becomes false when it cannot be an offset into one of these structures. */
static uint16_t offset_at(const uint64_t *words, unsigned index, bool *plausible)
{
    if (index == NONE)
        return NONE;
    if (words[index] >= 4096)
        *plausible = false;
    return (uint16_t)words[index];
}

static bool read_published(struct cs_python_layout *layout, const struct published *row, const uint64_t *words)
{
    if (memcmp(words, "xdebugpy", 8) != 0 || words[1] >> 16 != (0x0300u | row->minor))
        return false;
    bool fine = true;
    *layout = (struct cs_python_layout){
        .minor = row->minor,
        .thread_frame = offset_at(words, row->thread_frame, &fine),
        .cframe_frame = NONE,
        .previous = offset_at(words, row->previous, &fine),
        .code = offset_at(words, row->code, &fine),
        .instruction = offset_at(words, row->instruction, &fine),
        .owner = offset_at(words, row->owner, &fine),
        .file = offset_at(words, row->file, &fine),
        .name = offset_at(words, row->name, &fine),
        .first_line = offset_at(words, row->first_line, &fine),
        .table = offset_at(words, row->table, &fine),
        .start = offset_at(words, row->start, &fine),
        .traceable = NONE,
        .type = offset_at(words, row->type, &fine),
        .size = offset_at(words, row->size, &fine),
        .data = offset_at(words, row->data, &fine),
        .state = offset_at(words, row->state, &fine),
        .length = offset_at(words, row->length, &fine),
        .ascii = offset_at(words, row->ascii, &fine),
        .kind_shift = row->kind_shift,
    };
    bool own_bytecode = words[2] == 1; /* free-threaded: each thread runs its own copy of the instructions */
    layout->tlbc_index = own_bytecode ? offset_at(words, row->tlbc_index, &fine) : NONE;
    layout->tlbc = own_bytecode ? offset_at(words, row->tlbc, &fine) : NONE;
    layout->version = own_bytecode ? NONE : row->version;
    layout->compact = layout->ascii + 16; /* utf8_length, utf8 */
    return fine && layout->data > layout->size && layout->size > layout->type && layout->ascii > layout->state &&
           layout->state > layout->length && layout->start > layout->table;
}

bool cs_python_layout_find(struct cs_python_layout *layout, unsigned minor, const void *runtime)
{
    bool found = false;
    for (size_t i = 0; i < sizeof known / sizeof *known && !found; i++) {
        if ((found = known[i].minor == minor))
            *layout = known[i];
    }
    for (size_t i = 0; i < sizeof published / sizeof *published && !found; i++) {
        if (published[i].minor == minor && runtime)
            found = read_published(layout, &published[i], runtime);
    }
    if (found) {
        layout->table_kind = table_kind(minor);
        layout->frames = frames_kind(minor);
    }
    return found;
}
