/*
 * kernels_print.c - one kernel as text or JSON. One thread.
 *
 * The parameters are cut into ranges that do not overlap: each address that the code uses is a range of its own, with
 * what is done through it; the bytes between are ranges without access.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command/kernels.h"

enum { WORD = 8, NO_PARAMETER = -1 };

static const char *const classes[] = {
    [CS_CLASS_COMPUTE] = "compute", [CS_CLASS_COPY] = "copy", [CS_CLASS_RELAYOUT] = "relayout",
    [CS_CLASS_CAST] = "cast",       [CS_CLASS_FILL] = "fill",
};

static const char *const kinds[] = {
    [CS_SLOT_POINTER] = "pointer",
    [CS_SLOT_TENSOR_MAP] = "tensor map",
    [CS_SLOT_TABLE] = "table",
};

/* A range of parameter bytes. */
struct range {
    int ordinal; /* of the parameter; NO_PARAMETER where the image does not describe it */
    uint32_t offset, size, access;
    const char *kind; /* NULL: no address */
};

typedef void visit_fn(void *context, const struct range *range);

/* What is done through the address, in one word; "stored" when it is only passed on. */
static const char *access_word(uint32_t access)
{
    uint32_t both = CS_ACCESS_READ | CS_ACCESS_WRITE;
    if ((access & both) == both || (access & CS_ACCESS_ATOMIC))
        return "read-write";
    if (access & both)
        return access & CS_ACCESS_READ ? "read" : "write";
    return access & CS_ACCESS_STORED ? "stored" : "none";
}

/* Bytes without a slot. In a kernel that could not be followed every aligned word may be an address. */
static void visit_gap(const struct cs_kernel_summary *summary, int ordinal, uint64_t begin, uint64_t end,
                      visit_fn *visit, void *context)
{
    struct range range = {.ordinal = ordinal, .offset = (uint32_t)begin, .size = (uint32_t)(end - begin)};
    if (begin >= end)
        return;
    if (summary->incomplete && end / WORD > (begin + WORD - 1) / WORD) {
        range.access = CS_ACCESS_READ | CS_ACCESS_WRITE;
        range.kind = "unknown";
    }
    visit(context, &range);
}

/* The ranges of one parameter. A slot that reaches over several parameters is a range in each of them. */
static void visit_parameter(const struct cs_kernel_summary *summary, int ordinal, visit_fn *visit, void *context)
{
    uint64_t at = summary->parameters[ordinal].offset, end = at + summary->parameters[ordinal].size;
    for (size_t i = 0; i < summary->slot_count; i++) {
        const struct cs_slot *slot = &summary->slots[i];
        uint64_t slot_end = (uint64_t)slot->offset + slot->size;
        if (slot_end <= at || slot->offset >= end)
            continue;
        visit_gap(summary, ordinal, at, slot->offset, visit, context);
        at = slot->offset > at ? slot->offset : at;
        slot_end = slot_end < end ? slot_end : end;
        visit(context, &(struct range){.ordinal = ordinal,
                                       .offset = (uint32_t)at,
                                       .size = (uint32_t)(slot_end - at),
                                       .access = slot->access,
                                       .kind = kinds[slot->kind]});
        at = slot_end;
    }
    visit_gap(summary, ordinal, at, end, visit, context);
}

/* Whether a parameter that the image describes holds any of the slot's bytes. */
static bool is_described(const struct cs_kernel_summary *summary, const struct cs_slot *slot)
{
    for (size_t i = 0; i < summary->parameter_count; i++) {
        const struct cs_parameter *parameter = &summary->parameters[i];
        if (slot->offset < (uint64_t)parameter->offset + parameter->size &&
            parameter->offset < (uint64_t)slot->offset + slot->size)
            return true;
    }
    return false;
}

static void visit_ranges(const struct cs_kernel_summary *summary, visit_fn *visit, void *context)
{
    for (size_t i = 0; i < summary->parameter_count; i++)
        visit_parameter(summary, (int)i, visit, context);
    for (size_t i = 0; i < summary->slot_count; i++) {
        const struct cs_slot *slot = &summary->slots[i];
        if (!is_described(summary, slot))
            visit(context, &(struct range){.ordinal = NO_PARAMETER,
                                           .offset = slot->offset,
                                           .size = slot->size,
                                           .access = slot->access,
                                           .kind = kinds[slot->kind]});
    }
}

/* ---- text ---- */

/* Names come from the file: what a terminal would obey is shown as '?'. */
static void print_name(FILE *stream, const char *name)
{
    for (; *name; name++)
        fputc((unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name, stream);
}

static void print_range(void *context, const struct range *range)
{
    FILE *stream = context;
    char place[32];
    if (range->ordinal == NO_PARAMETER)
        snprintf(place, sizeof place, "%11s", "-");
    else
        snprintf(place, sizeof place, "%11d", range->ordinal);
    fprintf(stream, "%s  %6u  %5u  %s%s", place, range->offset, range->size, access_word(range->access),
            range->access & CS_ACCESS_ATOMIC ? ", atomically" : "");
    if (range->access & CS_ACCESS_STORED && strcmp(access_word(range->access), "stored") != 0)
        fputs(", and stored", stream);
    if (range->kind && strcmp(range->kind, "pointer") != 0)
        fprintf(stream, " (%s)", range->kind);
    fputc('\n', stream);
}

static void print_flags(FILE *stream, const struct cs_kernel_summary *summary)
{
    const struct {
        bool set;
        const char *text;
    } flags[] = {
        {summary->incomplete, "incomplete: some code could not be followed, so it may touch anything"},
        {summary->opaque_read && !summary->incomplete, "reads through addresses that it loaded from memory"},
        {summary->opaque_write && !summary->incomplete, "writes through addresses that it loaded from memory"},
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].set)
            fprintf(stream, "    %s\n", flags[i].text);
}

void cs_kernels_print_text(FILE *stream, const struct cs_kernel_entry *entry)
{
    const struct cs_kernel_summary *summary = entry->summary;
    print_name(stream, entry->demangled);
    fputc('\n', stream);
    if (strcmp(entry->demangled, entry->mangled) != 0) {
        fputs("    ", stream);
        print_name(stream, entry->mangled);
        fputc('\n', stream);
    }
    fprintf(stream, "    sm_%u, %s, %u memory instruction%s", summary->architecture, classes[summary->class],
            summary->memory_instructions, summary->memory_instructions == 1 ? "" : "s");
    if (summary->unresolved_instructions)
        fprintf(stream, ", %u traced to no parameter", summary->unresolved_instructions);
    fputc('\n', stream);
    print_flags(stream, summary);
    if (summary->parameter_count || summary->slot_count)
        fputs("  parameter  offset   size  access\n", stream);
    visit_ranges(summary, print_range, stream);
}

/* ---- JSON ---- */

/* Names of a damaged file need not be UTF-8, which JSON is. */
static json_t *name_string(const char *name)
{
    json_t *string = json_string(name);
    char *copy = string ? NULL : strdup(name);
    for (char *at = copy; at && *at; at++)
        if (*at & 0x80)
            *at = '?';
    if (copy)
        string = json_string(copy);
    free(copy);
    return string;
}

static void append_range(void *context, const struct range *range)
{
    json_t *object = json_pack("{s:I, s:I, s:s, s:b, s:b, s:s*}", "offset", (json_int_t)range->offset, "size",
                               (json_int_t)range->size, "access", access_word(range->access), "atomic",
                               (range->access & CS_ACCESS_ATOMIC) != 0, "stored",
                               (range->access & CS_ACCESS_STORED) != 0, "kind", range->kind);
    if (object && range->ordinal != NO_PARAMETER)
        json_object_set_new(object, "parameter", json_integer(range->ordinal));
    json_array_append_new(context, object);
}

int cs_kernels_print_json(FILE *stream, const char *path, const struct cs_kernel_entry *entry)
{
    static const char *const packings[] = {"none", "lz4", "zstd"};
    const struct cs_kernel_summary *summary = entry->summary;
    json_t *params = json_array();
    char architecture[16];
    snprintf(architecture, sizeof architecture, "sm_%u", summary->architecture);
    visit_ranges(summary, append_range, params);
    json_t *object = json_pack(
        "{s:o, s:o, s:s, s:s, s:b, s:b, s:b, s:b, s:I, s:I, s:o, s:{s:o, s:I, s:s}}", "kernel",
        name_string(entry->mangled), "demangled", name_string(entry->demangled), "arch", architecture, "class",
        classes[summary->class], "opaque", summary->opaque_read || summary->opaque_write, "opaque_read",
        summary->opaque_read, "opaque_write", summary->opaque_write, "incomplete", summary->incomplete,
        "memory_instructions", (json_int_t)summary->memory_instructions, "unresolved_instructions",
        (json_int_t)summary->unresolved_instructions, "params", params, "image", "file", name_string(path), "offset",
        (json_int_t)entry->image->offset, "packing", packings[entry->image->packing]);
    int status = object ? json_dumpf(object, stream, JSON_COMPACT) : -1;
    json_decref(object);
    return status;
}
