/*
 * attribution.c - from a stack's frames to its site, its operators and its backward node.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks/names.h"
#include "analysis/stacks/origin.h"
#include "analysis/stacks/store.h"

static size_t count_frames(const struct cs_stacks *stacks, const struct cs_stack_entry *entry)
{
    size_t count = entry->python_count;
    for (size_t i = 0; i < entry->native_count; i++) {
        const struct cs_stack_found *found = cs_stacks_found(stacks, &entry->places[i]);
        count += found && found->count ? found->count : 1;
    }
    return count;
}

static const struct cs_frame unknown_frame = {.function = "", .file = "", .module = "", .column = -1, .end_column = -1};

static struct cs_frame native_frame(const struct cs_stack_file *file, const struct cs_source *source)
{
    struct cs_frame frame = unknown_frame;
    frame.module = file->path;
    frame.function = source->function;
    frame.file = source->file;
    frame.line = frame.end_line = source->line;
    frame.column = source->column;
    frame.user = file->user && source->line > 0 && cs_origin_is_user(CS_ORIGIN_SOURCE, source->file);
    return frame;
}

/* One return address is one frame and one for each call that was inlined there. */
static size_t add_natives(const struct cs_stacks *stacks, const struct cs_stack_place *place, struct cs_frame *frames)
{
    const struct cs_stack_found *found = cs_stacks_found(stacks, place);
    if (!found || !found->count) {
        *frames = unknown_frame;
        if (place->file != CS_NO_FILE)
            frames->module = stacks->files[place->file].path;
        return 1;
    }
    for (size_t i = 0; i < found->count; i++)
        frames[i] = native_frame(&stacks->files[place->file], &found->frames[i]);
    return found->count;
}

static struct cs_frame python_frame(const struct cs_stacks *stacks, uint32_t id)
{
    struct cs_frame frame = unknown_frame;
    frame.python = true;
    return id < stacks->python_capacity && stacks->python[id].file ? stacks->python[id] : frame;
}

/* The innermost frame of [begin, end) that passes, or NULL. */
static const struct cs_frame *innermost(const struct cs_frame *begin, const struct cs_frame *end,
                                        bool (*passes)(const struct cs_frame *))
{
    for (; begin < end; begin++) {
        if (passes(begin))
            return begin;
    }
    return NULL;
}

static bool is_user(const struct cs_frame *frame)
{
    return frame->user;
}

static bool is_text(const struct cs_frame *frame)
{
    return cs_origin_is_text(frame->file);
}

static bool is_named(const struct cs_frame *frame)
{
    return *frame->function != '\0';
}

/* The user's Python, else Python given as text; the user's native code only where no Python runs; else anything named.
 */
static const struct cs_frame *site_of(const struct cs_attribution *found)
{
    const struct cs_frame *python = found->frames, *native = python + found->python_count;
    const struct cs_frame *end = native + found->native_count, *site;
    if ((site = innermost(python, native, is_user)) || (site = innermost(python, native, is_text)))
        return site;
    if (found->python_count == 0 && (site = innermost(native, end, is_user)))
        return site;
    return innermost(python, end, is_named);
}

/* An operator's frames follow each other (call, then redispatch): they count once. */
static int find_operators(struct cs_stacks *stacks, struct cs_attribution *found)
{
    const struct cs_frame *native = found->frames + found->python_count;
    const char **operators = calloc(found->native_count + 1, sizeof *operators), *last = NULL;
    char name[512];
    if (!operators)
        return -1;
    for (size_t i = found->native_count; i-- > 0;) {
        if (cs_name_operator(native[i].function, name, sizeof name)) {
            const char *text = cs_texts_add(&stacks->texts, name, sizeof name);
            if (text != last)
                operators[found->operator_count++] = text;
            last = text;
        } else if (cs_name_autograd_node(native[i].function, name, sizeof name)) {
            found->autograd_node = cs_texts_add(&stacks->texts, name, sizeof name);
        }
    }
    found->operators = operators;
    return 0;
}

int cs_stacks_attribute(struct cs_stacks *stacks, struct cs_stack_entry *entry)
{
    struct cs_attribution *found = &entry->attribution;
    struct cs_frame *frames = calloc(count_frames(stacks, entry) + 1, sizeof *frames);
    if (!frames)
        return -1;
    for (size_t i = 0; i < entry->python_count; i++)
        frames[found->python_count++] = python_frame(stacks, entry->python[i]);
    for (size_t i = 0; i < entry->native_count; i++)
        found->native_count +=
            add_natives(stacks, &entry->places[i], frames + found->python_count + found->native_count);
    found->frames = frames;
    if (find_operators(stacks, found) != 0) {
        cs_attribution_release(found);
        return -1;
    }
    found->site = site_of(found);
    return 0;
}

void cs_attribution_release(struct cs_attribution *attribution)
{
    free((void *)attribution->frames);
    free((void *)attribution->operators);
    *attribution = (struct cs_attribution){0};
}
