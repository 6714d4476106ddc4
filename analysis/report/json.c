/*
 * json.c - a report as JSON and back: one table of fields a structure, which both directions follow. FORMAT.md
 * describes the result. One thread at a time.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report/model.h"

enum type { TEXT, NUMBER, SIGNED, BOOL, TEXTS, OBJECT, INLINE, LIST, END };

struct field {
    const char *key;
    enum type type;
    size_t offset;
    const struct field *fields; /* OBJECT, INLINE (its keys are among ours), LIST */
    size_t item;                /* LIST: bytes of an item */
};

/* A LIST and a TEXTS are this. */
struct array {
    char *items;
    size_t count;
};
_Static_assert(sizeof(struct array) == sizeof(struct cs_findings), "layout");

static const struct field location_fields[] = {
    {"file", TEXT, offsetof(struct cs_location, file), NULL, 0},
    {"line", SIGNED, offsetof(struct cs_location, line), NULL, 0},
    {"column", SIGNED, offsetof(struct cs_location, column), NULL, 0},
    {"end_line", SIGNED, offsetof(struct cs_location, end_line), NULL, 0},
    {"end_column", SIGNED, offsetof(struct cs_location, end_column), NULL, 0},
    {"function", TEXT, offsetof(struct cs_location, function), NULL, 0},
    {"operators", TEXTS, offsetof(struct cs_location, operators), NULL, 0},
    {"autograd_node", TEXT, offsetof(struct cs_location, autograd_node), NULL, 0},
    {NULL, END, 0, NULL, 0},
};

static const struct field frame_fields[] = {
    {"function", TEXT, offsetof(struct cs_report_frame, function), NULL, 0},
    {"file", TEXT, offsetof(struct cs_report_frame, file), NULL, 0},
    {"line", SIGNED, offsetof(struct cs_report_frame, line), NULL, 0},
    {"module", TEXT, offsetof(struct cs_report_frame, module), NULL, 0},
    {"python", BOOL, offsetof(struct cs_report_frame, python), NULL, 0},
    {"user", BOOL, offsetof(struct cs_report_frame, user), NULL, 0},
    {NULL, END, 0, NULL, 0},
};

static const struct field finding_fields[] = {
    {"reason", TEXT, offsetof(struct cs_finding, reason), NULL, 0},
    {"confidence", TEXT, offsetof(struct cs_finding, confidence), NULL, 0},
    {"headline", TEXT, offsetof(struct cs_finding, headline), NULL, 0},
    {"", INLINE, offsetof(struct cs_finding, at), location_fields, 0},
    {"source", TEXTS, offsetof(struct cs_finding, source), NULL, 0},
    {"copies", NUMBER, offsetof(struct cs_finding, copies), NULL, 0},
    {"bytes", NUMBER, offsetof(struct cs_finding, bytes), NULL, 0},
    {"gpu_ns", NUMBER, offsetof(struct cs_finding, gpu_ns), NULL, 0},
    {"gpu_ns_measured", NUMBER, offsetof(struct cs_finding, gpu_ns_measured), NULL, 0},
    {"copies_measured", NUMBER, offsetof(struct cs_finding, copies_measured), NULL, 0},
    {"pending", NUMBER, offsetof(struct cs_finding, pending), NULL, 0},
    {"evidence", TEXTS, offsetof(struct cs_finding, evidence), NULL, 0},
    {"advice", TEXT, offsetof(struct cs_finding, advice), NULL, 0},
    {"rewrite", TEXT, offsetof(struct cs_finding, rewrite), NULL, 0},
    {"stack", LIST, offsetof(struct cs_finding, stack), frame_fields, sizeof(struct cs_report_frame)},
    {NULL, END, 0, NULL, 0},
};

static const struct field copy_site_fields[] = {
    {"", INLINE, offsetof(struct cs_copy_site, at), location_fields, 0},
    {"copies", NUMBER, offsetof(struct cs_copy_site, copies), NULL, 0},
    {"bytes", NUMBER, offsetof(struct cs_copy_site, bytes), NULL, 0},
    {"pending", NUMBER, offsetof(struct cs_copy_site, pending), NULL, 0},
    {"redundant", NUMBER, offsetof(struct cs_copy_site, redundant), NULL, 0},
    {"captured", NUMBER, offsetof(struct cs_copy_site, captured), NULL, 0},
    {"verdict", TEXT, offsetof(struct cs_copy_site, verdict), NULL, 0},
    {"reason", TEXT, offsetof(struct cs_copy_site, reason), NULL, 0},
    {NULL, END, 0, NULL, 0},
};

static const struct field remark_fields[] = {
    {"kind", TEXT, offsetof(struct cs_remark, kind), NULL, 0},
    {"", INLINE, offsetof(struct cs_remark, at), location_fields, 0},
    {"text", TEXT, offsetof(struct cs_remark, text), NULL, 0},
    {NULL, END, 0, NULL, 0},
};

static const struct field kernel_fields[] = {
    {"name", TEXT, offsetof(struct cs_unknown_kernel, name), NULL, 0},
    {"launches", NUMBER, offsetof(struct cs_unknown_kernel, launches), NULL, 0},
    {"why", TEXT, offsetof(struct cs_unknown_kernel, why), NULL, 0},
    {NULL, END, 0, NULL, 0},
};

static const struct field program_fields[] = {
    {"command", TEXT, offsetof(struct cs_report_program, command), NULL, 0},
    {"pid", NUMBER, offsetof(struct cs_report_program, pid), NULL, 0},
    {"devices", TEXTS, offsetof(struct cs_report_program, devices), NULL, 0},
    {"stand_in", BOOL, offsetof(struct cs_report_program, stand_in), NULL, 0},
    {NULL, END, 0, NULL, 0},
};

static const struct field version_fields[] = {
    {"copyspy", TEXT, offsetof(struct cs_report_versions, copyspy), NULL, 0},
    {"runtime", TEXT, offsetof(struct cs_report_versions, runtime), NULL, 0},
    {"driver", TEXT, offsetof(struct cs_report_versions, driver), NULL, 0},
    {"cupti", TEXT, offsetof(struct cs_report_versions, cupti), NULL, 0},
    {"python", TEXT, offsetof(struct cs_report_versions, python), NULL, 0},
    {NULL, END, 0, NULL, 0},
};

static const struct field total_fields[] = {
    {"copies", NUMBER, offsetof(struct cs_report_totals, copies), NULL, 0},
    {"bytes", NUMBER, offsetof(struct cs_report_totals, bytes), NULL, 0},
    {"captured_copies", NUMBER, offsetof(struct cs_report_totals, captured_copies), NULL, 0},
    {"captured_bytes", NUMBER, offsetof(struct cs_report_totals, captured_bytes), NULL, 0},
    {"redundant_copies", NUMBER, offsetof(struct cs_report_totals, redundant_copies), NULL, 0},
    {"redundant_bytes", NUMBER, offsetof(struct cs_report_totals, redundant_bytes), NULL, 0},
    {"redundant_ns", NUMBER, offsetof(struct cs_report_totals, redundant_ns), NULL, 0},
    {NULL, END, 0, NULL, 0},
};

static const struct field unseen_fields[] = {
    {"lost_events", NUMBER, offsetof(struct cs_report_unseen, lost_events), NULL, 0},
    {"blind_no_cupti", NUMBER, offsetof(struct cs_report_unseen, blind_no_cupti), NULL, 0},
    {"blind_cupti_lent", NUMBER, offsetof(struct cs_report_unseen, blind_cupti_lent), NULL, 0},
    {"blind_at_end", BOOL, offsetof(struct cs_report_unseen, blind_at_end), NULL, 0},
    {"graph_launches", NUMBER, offsetof(struct cs_report_unseen, graph_launches), NULL, 0},
    {"graph_launches_not_followed", NUMBER, offsetof(struct cs_report_unseen, graph_launches_not_followed), NULL, 0},
    {"unknown_addresses", NUMBER, offsetof(struct cs_report_unseen, unknown_addresses), NULL, 0},
    {"stray_accesses", NUMBER, offsetof(struct cs_report_unseen, stray_accesses), NULL, 0},
    {"unreadable_modules", NUMBER, offsetof(struct cs_report_unseen, unreadable_modules), NULL, 0},
    {"unnamed_launches", NUMBER, offsetof(struct cs_report_unseen, unnamed_launches), NULL, 0},
    {"kernels", LIST, offsetof(struct cs_report_unseen, kernels), kernel_fields, sizeof(struct cs_unknown_kernel)},
    {NULL, END, 0, NULL, 0},
};

static const struct field self_fields[] = {
    {"events", NUMBER, offsetof(struct cs_report_self, events), NULL, 0},
    {"lost_events", NUMBER, offsetof(struct cs_report_self, lost_events), NULL, 0},
    {"code_bytes", NUMBER, offsetof(struct cs_report_self, code_bytes), NULL, 0},
    {"kernels", NUMBER, offsetof(struct cs_report_self, kernels), NULL, 0},
    {"copies_without_time", NUMBER, offsetof(struct cs_report_self, copies_without_time), NULL, 0},
    {NULL, END, 0, NULL, 0},
};

static const struct field report_fields[] = {
    {"program", OBJECT, offsetof(struct cs_report, program), program_fields, 0},
    {"versions", OBJECT, offsetof(struct cs_report, versions), version_fields, 0},
    {"totals", OBJECT, offsetof(struct cs_report, totals), total_fields, 0},
    {"findings", LIST, offsetof(struct cs_report, findings), finding_fields, sizeof(struct cs_finding)},
    {"copy_sites", LIST, offsetof(struct cs_report, copy_sites), copy_site_fields, sizeof(struct cs_copy_site)},
    {"remarks", LIST, offsetof(struct cs_report, remarks), remark_fields, sizeof(struct cs_remark)},
    {"unseen", OBJECT, offsetof(struct cs_report, unseen), unseen_fields, 0},
    {"self", OBJECT, offsetof(struct cs_report, self), self_fields, 0},
    {NULL, END, 0, NULL, 0},
};

/* ---- out ---- */

static void put_fields(json_t *object, const void *base, const struct field *fields);

static json_t *put_texts(const struct cs_text_list *texts)
{
    json_t *list = json_array();
    for (size_t i = 0; i < texts->count; i++)
        json_array_append_new(list, json_string(texts->items[i]));
    return list;
}

static json_t *put_list(const struct array *array, const struct field *field)
{
    json_t *list = json_array();
    for (size_t i = 0; i < array->count; i++) {
        json_t *item = json_object();
        put_fields(item, array->items + i * field->item, field->fields);
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *put_object(const void *base, const struct field *fields)
{
    json_t *object = json_object();
    put_fields(object, base, fields);
    return object;
}

/* JSON numbers of this library are signed 64-bit; no count of ours comes near. */
static json_t *put_value(const void *at, const struct field *field)
{
    switch (field->type) {
    case TEXT:
        return json_string(*(const char *const *)at);
    case NUMBER:
        return json_integer((json_int_t)(*(const uint64_t *)at & INT64_MAX));
    case SIGNED:
        return json_integer(*(const int64_t *)at);
    case BOOL:
        return json_boolean(*(const bool *)at);
    case TEXTS:
        return put_texts(at);
    case LIST:
        return put_list(at, field);
    default:
        return put_object(at, field->fields);
    }
}

static void put_fields(json_t *object, const void *base, const struct field *fields)
{
    for (const struct field *field = fields; field->key; field++) {
        const void *at = (const char *)base + field->offset;
        if (field->type == INLINE)
            put_fields(object, at, field->fields);
        else
            json_object_set_new(object, field->key, put_value(at, field));
    }
}

int cs_report_write_json(const struct cs_report *report, FILE *stream)
{
    json_t *root = json_object();
    if (!root)
        return -1;
    json_object_set_new(root, "format", json_string("copyspy report"));
    json_object_set_new(root, "format_version", json_integer(CS_REPORT_FORMAT_VERSION));
    put_fields(root, report, report_fields);
    int failed = json_dumpf(root, stream, JSON_INDENT(2) | JSON_PRESERVE_ORDER) || fputc('\n', stream) == EOF;
    json_decref(root);
    return failed ? -1 : 0;
}

/* ---- in ---- */

/* Where we are in a file that is read: for messages. */
struct reader {
    struct cs_report *report;
    const char *path;
    char where[128]; /* "findings[2].copies" */
    struct cs_error *error;
};

static int expected(const struct reader *reader, const char *what)
{
    return cs_fail(reader->error, "%s: %s: expected %s", reader->path, reader->where, what);
}

static int get_fields(struct reader *reader, json_t *object, void *base, const struct field *fields);

static int get_texts(struct reader *reader, json_t *value, struct cs_text_list *texts)
{
    size_t count = json_array_size(value);
    if (!json_is_array(value))
        return expected(reader, "a list of texts");
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(value, i));
        if (!text)
            return expected(reader, "a list of texts");
        cs_text_list_add(reader->report, texts, count, cs_report_text(reader->report, text));
    }
    return 0;
}

static int get_list(struct reader *reader, json_t *value, struct array *array, const struct field *field)
{
    size_t length = strlen(reader->where), count = json_array_size(value);
    if (!json_is_array(value))
        return expected(reader, "a list");
    array->items = count ? cs_report_allocate(reader->report, count, field->item) : NULL;
    if (count && !array->items)
        return cs_fail(reader->error, "%s: out of memory", reader->path);
    for (size_t i = 0; i < count; i++) {
        snprintf(reader->where + length, sizeof reader->where - length, "[%zu]", i);
        if (get_fields(reader, json_array_get(value, i), array->items + i * field->item, field->fields))
            return -1;
        array->count++;
    }
    reader->where[length] = 0;
    return 0;
}

static int get_number(struct reader *reader, json_t *value, bool negative, void *at)
{
    if (!json_is_integer(value) || (!negative && json_integer_value(value) < 0))
        return expected(reader, negative ? "a whole number" : "a whole number from 0 on");
    *(int64_t *)at = json_integer_value(value);
    return 0;
}

static int get_value(struct reader *reader, json_t *value, void *at, const struct field *field)
{
    switch (field->type) {
    case TEXT:
        if (!json_is_string(value))
            return expected(reader, "a text");
        *(const char **)at = cs_report_text(reader->report, json_string_value(value));
        return 0;
    case NUMBER:
    case SIGNED:
        return get_number(reader, value, field->type == SIGNED, at);
    case BOOL:
        if (!json_is_boolean(value))
            return expected(reader, "true or false");
        *(bool *)at = json_is_true(value);
        return 0;
    case TEXTS:
        return get_texts(reader, value, at);
    case LIST:
        return get_list(reader, value, at, field);
    default:
        return get_fields(reader, value, at, field->fields);
    }
}

static int get_fields(struct reader *reader, json_t *object, void *base, const struct field *fields)
{
    size_t length = strlen(reader->where);
    if (!json_is_object(object))
        return expected(reader, "an object");
    for (const struct field *field = fields; field->key; field++) {
        void *at = (char *)base + field->offset;
        if (field->type != INLINE)
            snprintf(reader->where + length, sizeof reader->where - length, "%s%s", length ? "." : "", field->key);
        json_t *value = field->type == INLINE ? object : json_object_get(object, field->key);
        if (!value)
            return expected(reader, "it to be there");
        if (get_value(reader, value, at, field))
            return -1;
        reader->where[length] = 0;
    }
    return 0;
}

static int check_format(struct reader *reader, json_t *root)
{
    const char *format = json_string_value(json_object_get(root, "format"));
    json_t *number = json_object_get(root, "format_version");
    if (!format || strcmp(format, "copyspy report"))
        return cs_fail(reader->error, "%s: format: expected \"copyspy report\", a report written as JSON",
                       reader->path);
    if (json_integer_value(number) != CS_REPORT_FORMAT_VERSION)
        return cs_fail(reader->error, "%s: format_version: expected %d, found %" JSON_INTEGER_FORMAT, reader->path,
                       CS_REPORT_FORMAT_VERSION, json_integer_value(number));
    return 0;
}

int cs_report_load(const char *path, struct cs_report **report, struct cs_error *error)
{
    json_error_t problem;
    struct reader reader = {.path = path, .error = error};
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &problem);
    *report = NULL;
    if (!root && problem.line < 1)
        return cs_fail(error, "%s: expected a readable report: %s", path, problem.text);
    if (!root)
        return cs_fail(error, "%s:%d:%d: expected JSON: %s", path, problem.line, problem.column, problem.text);
    reader.report = cs_report_new();
    int failed = !reader.report ? cs_fail(error, "%s: out of memory", path) : check_format(&reader, root);
    if (!failed)
        failed = get_fields(&reader, root, reader.report, report_fields);
    if (!failed && reader.report->failed)
        failed = cs_fail(error, "%s: out of memory", path);
    json_decref(root);
    if (failed)
        cs_report_free(reader.report);
    else
        *report = reader.report;
    return failed;
}
