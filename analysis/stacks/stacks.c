/*
 * stacks.c - see stacks.h: takes definitions, and symbolises in one batch a file.
 *
 * An address is matched with the file that was mapped there when its stack was defined, so a library that is closed
 * later, or replaced by another at the same place, keeps its own names.
 */
#include "analysis/stacks/stacks.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks/origin.h"
#include "analysis/stacks/store.h"

enum { ID_MAX = 1 << 22 }; /* a larger id is not ours */

struct cs_stacks *cs_stacks_new(void)
{
    return calloc(1, sizeof(struct cs_stacks));
}

void cs_stacks_free(struct cs_stacks *stacks)
{
    if (!stacks)
        return;
    for (size_t i = 0; i < stacks->stack_capacity; i++) {
        cs_attribution_release(&stacks->stacks[i].attribution);
        free(stacks->stacks[i].places);
        free(stacks->stacks[i].python);
    }
    for (size_t i = 0; i < stacks->found_count; i++)
        free(stacks->found[i].frames);
    if (stacks->demangler)
        dlclose(stacks->demangler);
    cs_texts_free(&stacks->texts);
    free(stacks->files);
    free(stacks->python);
    free(stacks->stacks);
    free(stacks->found);
    free(stacks);
}

/* ---- definitions ---- */

/* Makes room for `wanted` elements, the new ones zeroed. Returns the array or NULL; the old one then stays valid. */
static void *grow(void *array, size_t *capacity, size_t wanted, size_t element)
{
    size_t size = *capacity ? *capacity : 64;
    if (array && wanted <= *capacity)
        return array;
    while (size < wanted)
        size *= 2;
    char *grown = realloc(array, size * element);
    if (!grown)
        return NULL;
    memset(grown + *capacity * element, 0, (size - *capacity) * element);
    *capacity = size;
    return grown;
}

static void add_file(struct cs_stacks *stacks, const struct cs_object_file *event)
{
    if (event->head.size <= sizeof *event)
        return;
    void *files = grow(stacks->files, &stacks->file_capacity, stacks->file_count + 1, sizeof *stacks->files);
    if (!files)
        return;
    stacks->files = files;
    const char *path = cs_texts_add(&stacks->texts, event->path, event->head.size - sizeof *event);
    stacks->files[stacks->file_count++] =
        (struct cs_stack_file){event->start, event->end, event->bias, path, cs_origin_is_user(CS_ORIGIN_MODULE, path)};
}

static void add_python(struct cs_stacks *stacks, const struct cs_python_frame_def *event)
{
    uint64_t text = (uint64_t)event->file_bytes + event->function_bytes;
    if (event->head.size < sizeof *event || text > event->head.size - sizeof *event || event->id >= ID_MAX)
        return;
    void *python = grow(stacks->python, &stacks->python_capacity, (size_t)event->id + 1, sizeof *stacks->python);
    if (!python)
        return;
    stacks->python = python;
    const char *file = cs_texts_add(&stacks->texts, event->text, event->file_bytes);
    stacks->python[event->id] = (struct cs_frame){
        .function = cs_texts_add(&stacks->texts, event->text + event->file_bytes, event->function_bytes),
        .file = file,
        .module = "",
        .line = event->line,
        .end_line = event->end_line,
        .column = event->column,
        .end_column = event->end_column,
        .python = true,
        .user = cs_origin_is_user(CS_ORIGIN_PYTHON, file),
    };
}

/* A return address may be the first byte after the call's function: what is looked up lies in the call. */
static struct cs_stack_place place_of(const struct cs_stacks *stacks, uint64_t return_address)
{
    uint64_t address = return_address - 1;
    for (size_t i = stacks->file_count; i-- > 0;) { /* the latest first */
        const struct cs_stack_file *file = &stacks->files[i];
        if (address >= file->start && address < file->end)
            return (struct cs_stack_place){(uint32_t)i, address - file->bias};
    }
    return (struct cs_stack_place){CS_NO_FILE, address};
}

static void add_stack(struct cs_stacks *stacks, const struct cs_stack_def *event)
{
    uint64_t frames = (uint64_t)event->native_count + event->python_count;
    if (event->head.size < sizeof *event || frames > (event->head.size - sizeof *event) / sizeof event->frames[0] ||
        event->id >= ID_MAX)
        return;
    void *grown = grow(stacks->stacks, &stacks->stack_capacity, (size_t)event->id + 1, sizeof *stacks->stacks);
    if (!grown)
        return;
    stacks->stacks = grown;
    struct cs_stack_entry *entry = &stacks->stacks[event->id];
    if (entry->places)
        return; /* two threads may define the same stack at once */
    struct cs_stack_place *places = malloc(((size_t)event->native_count + 1) * sizeof *places);
    uint32_t *python = malloc(((size_t)event->python_count + 1) * sizeof *python);
    if (!places || !python) {
        free(places);
        free(python);
        return;
    }
    for (size_t i = 0; i < event->native_count; i++)
        places[i] = place_of(stacks, event->frames[i]);
    for (size_t i = 0; i < event->python_count; i++)
        python[i] = (uint32_t)event->frames[event->native_count + i];
    *entry = (struct cs_stack_entry){
        .places = places, .python = python, .native_count = event->native_count, .python_count = event->python_count};
}

void cs_stacks_event(struct cs_stacks *stacks, const struct cs_event *event)
{
    if (event->kind == CS_EVENT_OBJECT_FILE)
        add_file(stacks, (const struct cs_object_file *)event);
    else if (event->kind == CS_EVENT_PYTHON_FRAME)
        add_python(stacks, (const struct cs_python_frame_def *)event);
    else if (event->kind == CS_EVENT_STACK)
        add_stack(stacks, (const struct cs_stack_def *)event);
}

static struct cs_stack_entry *entry_of(const struct cs_stacks *stacks, uint32_t id)
{
    return id < stacks->stack_capacity && stacks->stacks[id].places ? &stacks->stacks[id] : NULL;
}

void cs_stacks_want(struct cs_stacks *stacks, uint32_t stack)
{
    struct cs_stack_entry *entry = entry_of(stacks, stack);
    if (entry)
        entry->wanted = true;
}

/* ---- symbolising ---- */

static int compare_places(const void *a, const void *b)
{
    const struct cs_stack_place *left = a, *right = b;
    if (left->file != right->file)
        return left->file < right->file ? -1 : 1;
    return left->address < right->address ? -1 : left->address > right->address;
}

const struct cs_stack_found *cs_stacks_found(const struct cs_stacks *stacks, const struct cs_stack_place *place)
{
    return stacks->found_count ? bsearch(place, stacks->found, stacks->found_count, sizeof *stacks->found,
                                         compare_places) /* a found entry begins with its place */
                               : NULL;
}

/* The places of all stacks to be resolved that nothing was found for yet, sorted, each once. NULL when there are none.
 */
static struct cs_stack_place *missing_places(const struct cs_stacks *stacks, size_t *count)
{
    struct cs_stack_place *places = NULL;
    size_t used = 0, capacity = 0;
    for (size_t i = 0; i < stacks->stack_capacity; i++) {
        const struct cs_stack_entry *entry = &stacks->stacks[i];
        for (size_t j = 0; entry->wanted && !entry->resolved && j < entry->native_count; j++) {
            if (entry->places[j].file == CS_NO_FILE || cs_stacks_found(stacks, &entry->places[j]))
                continue;
            void *grown = grow(places, &capacity, used + 1, sizeof *places);
            if (!grown)
                break;
            places = grown;
            places[used++] = entry->places[j];
        }
    }
    if (used)
        qsort(places, used, sizeof *places, compare_places);
    *count = 0;
    for (size_t i = 0; i < used; i++) {
        if (i == 0 || compare_places(&places[i], &places[i - 1]) != 0)
            places[(*count)++] = places[i];
    }
    return places;
}

static cs_demangle_fn *demangler(struct cs_stacks *stacks)
{
    if (!stacks->demangler_tried) {
        stacks->demangler_tried = true;
        stacks->demangler = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    }
    return stacks->demangler ? (cs_demangle_fn *)dlsym(stacks->demangler, "__cxa_demangle") : NULL;
}

static void keep(struct cs_stack_found *found, struct cs_stack_place place, const struct cs_symbol *symbol)
{
    found->place = place;
    found->frames = malloc(symbol->count * sizeof *found->frames);
    found->count = found->frames ? symbol->count : 0;
    if (found->frames)
        memcpy(found->frames, symbol->frames, symbol->count * sizeof *found->frames);
}

/* Looks up `count` places of one file and appends what was found. */
static void find_in_file(struct cs_stacks *stacks, const struct cs_stack_place *places, size_t count)
{
    const struct cs_stack_file *file = &stacks->files[places->file];
    struct cs_symbol *symbols = calloc(count, sizeof *symbols);
    if (!symbols)
        return;
    struct cs_symbols_request request = {.path = file->path,
                                         .start = file->start - file->bias,
                                         .end = file->end - file->bias,
                                         .lines = file->user,
                                         .demangle = demangler(stacks),
                                         .texts = &stacks->texts};
    for (size_t i = 0; i < count; i++)
        symbols[i].address = places[i].address;
    cs_symbols_find(&request, symbols, count);
    for (size_t i = 0; i < count; i++)
        keep(&stacks->found[stacks->found_count++], places[i], &symbols[i]);
    free(symbols);
}

static void find_places(struct cs_stacks *stacks)
{
    size_t count;
    struct cs_stack_place *places = missing_places(stacks, &count);
    void *found = count ? realloc(stacks->found, (stacks->found_count + count) * sizeof *stacks->found) : NULL;
    if (found) {
        stacks->found = found;
        for (size_t i = 0, end; i < count; i = end) {
            for (end = i + 1; end < count && places[end].file == places[i].file;)
                end++;
            find_in_file(stacks, places + i, end - i);
        }
        qsort(stacks->found, stacks->found_count, sizeof *stacks->found, compare_places);
    }
    free(places);
}

void cs_stacks_resolve(struct cs_stacks *stacks)
{
    find_places(stacks);
    for (size_t i = 0; i < stacks->stack_capacity; i++) {
        struct cs_stack_entry *entry = &stacks->stacks[i];
        if (entry->wanted && !entry->resolved)
            entry->resolved = cs_stacks_attribute(stacks, entry) == 0;
    }
}

const struct cs_attribution *cs_stacks_attribution(const struct cs_stacks *stacks, uint32_t stack)
{
    const struct cs_stack_entry *entry = entry_of(stacks, stack);
    return entry && entry->resolved ? &entry->attribution : NULL;
}
