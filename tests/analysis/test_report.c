/*
 * test_report.c - the report as text and JSON against golden files, its way through a file, and damaged files.
 *
 * With COPYSPY_UPDATE_GOLDEN=1 in the environment the golden files are written anew instead of compared.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/analysis/testing.h"

enum { SCALE = 1, MASK, UNKNOWN };

static int start(void **state)
{
    static struct stream stream;
    assert_int_equal(chdir(TEST_DATA), 0);
    *state = &stream;
    stream_start(&stream);
    stream_kernel(&stream, SCALE, "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11MulFunctorEEEviT0_", "wr");
    stream_kernel(&stream, MASK, "_ZN2at6native18masked_fill_kernelEPfPKb", "ur");
    stream_kernel_without_code(&stream, UNKNOWN, "_ZN7unknown6kernelEv");
    stream_stack_columns(4, "golden/model.py", 4, 13, 62, "attend", "div.Tensor");
    stream_stack_columns(5, "golden/model.py", 5, 13, 52, "attend", "masked_fill.Scalar>clone>copy_");
    stream_stack_caller(5, "golden/train.py", 40, "main");
    stream_stack_columns(6, "golden/model.py", 5, 13, 52, "attend", "masked_fill.Scalar>masked_fill_.Scalar");
    stream_stack_columns(9, "golden/model.py", 9, 11, 42, "mischen", "masked_fill.Scalar>clone>copy_");
    stream_stack_columns(12, "golden/model.py", 12, 8, 28, "seed", "addmm>copy_");
    stream_stack(13, "golden/model.py", 13, "index_put>clone>copy_");
    stream_stack_columns(20, "golden/train.py", 20, -1, -1, "", "");
    stream_stack_node(20, "MulBackward0");
    stream_alloc(&stream, POOL, 64 * MIB, CS_ALLOCATOR_PLAIN);
    block(&stream, C);
    block(&stream, D);
    return 0;
}

/* One redundant copy of the stack `line`; its time if it is not 0. */
static void redundant(struct stream *stream, uint32_t line, uint64_t nanoseconds)
{
    block(stream, A);
    at_line(stream, 4);
    LAUNCH(stream, SCALE, A, C);
    block(stream, B);
    at_line(stream, line);
    stream->correlation = (uint32_t)stream->sequence;
    stream_copy(stream, B, A, MIB);
    if (nanoseconds)
        stream_time(stream, stream->correlation, nanoseconds);
    at_line(stream, 6);
    LAUNCH(stream, MASK, B, D);
    unblock(stream, A);
    unblock(stream, B);
}

/* Something of everything that a report can hold. */
static void run_program(struct stream *stream)
{
    for (int i = 0; i < 10; i++)
        redundant(stream, 5, 1240000);
    redundant(stream, 9, 900);
    redundant(stream, 9, 0);
    redundant(stream, 13, 0);
    at_line(stream, 12);
    block(stream, E);
    stream_copy(stream, E, D, MIB);
    LAUNCH(stream, SCALE, C, D);
    unblock(stream, E);
    at_line(stream, 20);
    stream_copy(stream, D, C, MIB / 3);
    LAUNCH(stream, UNKNOWN, 0);
    stream_lost(stream, 1);
    stream_simple(stream, CS_EVENT_GRAPH_LAUNCH);
    at_line(stream, 5); /* a last one, still open at the end */
    block(stream, B);
    block(stream, A);
    stream_copy(stream, A, B, MIB);
    stream_simple(stream, CS_EVENT_END);
}

/* ---- helpers ---- */

static char *render(const struct cs_report *report, enum cs_format format, bool all, bool colour)
{
    struct cs_render_options options = {.all = all, .colour = colour};
    struct cs_error error;
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(cs_report_write(report, format, &options, stream, &error), 0);
    fclose(stream);
    return text;
}

static char *read_file(const char *path)
{
    static char text[65536];
    FILE *stream = fopen(path, "r");
    size_t length = stream ? fread(text, 1, sizeof text - 1, stream) : 0;
    text[length] = 0;
    if (stream)
        fclose(stream);
    return text;
}

static void write_file(const char *path, const char *text, size_t length)
{
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fwrite(text, 1, length, stream);
    fclose(stream);
}

static void compare(const char *path, const char *text)
{
    if (getenv("COPYSPY_UPDATE_GOLDEN"))
        write_file(path, text, strlen(text));
    assert_string_equal(text, read_file(path));
}

static const char *temporary(const char *name)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/copyspy-report-%ld-%s", (long)getpid(), name);
    return path;
}

/* ---- golden ---- */

static void golden(struct stream *stream, enum cs_format format, bool all, const char *path)
{
    run_program(stream);
    char *text = render(stream_report(stream), format, all, false);
    compare(path, text);
    free(text);
}

static void the_text_is_as_in_the_golden_file(void **state)
{
    golden(*state, CS_FORMAT_TEXT, false, "golden/report.txt");
}

static void the_text_with_everything_is_as_in_the_golden_file(void **state)
{
    golden(*state, CS_FORMAT_TEXT, true, "golden/report-all.txt");
}

static void the_json_is_as_in_the_golden_file(void **state)
{
    golden(*state, CS_FORMAT_JSON, false, "golden/report.json");
}

static void without_redundant_copies_there_is_one_line(void **state)
{
    struct stream *stream = *state;
    block(stream, A);
    stream_copy(stream, A, C, MIB);
    char *text = render(stream_report(stream), CS_FORMAT_TEXT, false, false);
    assert_string_equal(text, "copyspy: no redundant copies (1 device-to-device copy seen, 1,048,576 bytes)\n");
    free(text);
}

static void colours_come_only_when_asked_for_and_change_no_text(void **state)
{
    run_program(*state);
    char *plain = render(stream_report(*state), CS_FORMAT_TEXT, true, false);
    char *coloured = render(stream_report(*state), CS_FORMAT_TEXT, true, true);
    assert_null(strchr(plain, '\033'));
    assert_non_null(strchr(coloured, '\033'));
    char *to = coloured;
    for (char *from = coloured; *from; from++) {
        if (*from == '\033')
            from = strchr(from, 'm');
        else
            *to++ = *from;
    }
    *to = 0;
    assert_string_equal(plain, coloured);
    free(plain);
    free(coloured);
}

static void reporting_changes_nothing(void **state)
{
    struct stream *stream = *state;
    redundant(stream, 5, 0);
    char *first = render(stream_report(stream), CS_FORMAT_JSON, false, false);
    char *second = render(stream_report(stream), CS_FORMAT_JSON, false, false);
    assert_string_equal(first, second);
    free(first);
    free(second);
}

/* ---- files ---- */

static void a_report_from_a_file_reads_as_the_live_one(void **state)
{
    const char *path = temporary("loaded.json");
    struct cs_report *loaded;
    struct cs_error error;
    run_program(*state);
    struct cs_report *live = stream_report(*state);
    assert_int_equal(cs_report_write_path(live, path, NULL, &error), 0);
    assert_int_equal(cs_report_load(path, &loaded, &error), 0);
    for (int all = 0; all < 2; all++) {
        char *before = render(live, CS_FORMAT_TEXT, all, false), *after = render(loaded, CS_FORMAT_TEXT, all, false);
        assert_string_equal(before, after);
        free(before);
        free(after);
    }
    char *json = render(loaded, CS_FORMAT_JSON, false, false);
    assert_string_equal(json, read_file(path));
    free(json);
    cs_report_free(loaded);
    unlink(path);
}

static void names_that_are_no_text_are_made_fit_to_print(void **state)
{
    const char *path = temporary("bytes.json");
    struct cs_report *loaded;
    struct cs_error error;
    stream_stack(9, "bad\xff\x1b[31mname.py", 3, "");
    redundant(*state, 9, 0);
    struct cs_report *live = stream_report(*state);
    assert_string_equal(live->findings.items[0].at.file, "bad??[31mname.py");
    assert_int_equal(cs_report_write_path(live, path, NULL, &error), 0);
    assert_int_equal(cs_report_load(path, &loaded, &error), 0);
    cs_report_free(loaded);
    unlink(path);
}

static void a_report_is_written_as_a_whole_or_not_at_all(void **state)
{
    struct cs_error error;
    struct stat status;
    char path[128];
    snprintf(path, sizeof path, "%s/no/such/folder.json", temporary("missing"));
    redundant(*state, 5, 0);
    assert_int_equal(cs_report_write_path(stream_report(*state), path, NULL, &error), -1);
    assert_non_null(strstr(error.message, path));
    assert_non_null(strstr(error.message, "No such file or directory"));
    const char *directory = temporary("directory");
    mkdir(directory, 0700);
    assert_int_equal(cs_report_write_path(stream_report(*state), directory, NULL, &error), -1);
    snprintf(path, sizeof path, "%s.%ld.tmp", directory, (long)getpid());
    assert_int_equal(stat(path, &status), -1); /* nothing is left behind */
    rmdir(directory);
}

static void a_full_device_is_an_error(void **state)
{
    struct cs_error error;
    redundant(*state, 5, 0);
    assert_int_equal(cs_report_write_path(stream_report(*state), "/dev/full", NULL, &error), -1);
    assert_non_null(strstr(error.message, "/dev/full"));
}

static void the_extension_picks_the_format(void **state)
{
    (void)state;
    assert_int_equal(cs_format_of("run.json"), CS_FORMAT_JSON);
    assert_int_equal(cs_format_of(".json"), CS_FORMAT_JSON);
    assert_int_equal(cs_format_of("json"), CS_FORMAT_TEXT);
    assert_int_equal(cs_format_of("run.json.txt"), CS_FORMAT_TEXT);
    assert_int_equal(cs_format_of(""), CS_FORMAT_TEXT);
}

static void expect_damage(const char *text, size_t length, const char *said)
{
    const char *path = temporary("damaged.json");
    struct cs_report *report;
    struct cs_error error = {""};
    write_file(path, text, length);
    int failed = cs_report_load(path, &report, &error);
    unlink(path);
    assert_int_equal(failed, -1);
    assert_null(report);
    assert_non_null(strstr(error.message, path));
    assert_non_null(strstr(error.message, said));
}

static void damaged_files_are_refused_with_file_place_and_expectation(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } rows[] = {
        {"", ":1:0: expected JSON"},
        {"not json", "expected JSON"},
        {"[]", "format: expected \"copyspy report\""},
        {"{}", "format: expected \"copyspy report\""},
        {"{\"format\": \"copyspy report\", \"format_version\": 99}", "format_version: expected 1, found 99"},
        {"{\"format\": \"copyspy report\", \"format_version\": 1}", "program: expected it to be there"},
        {"{\"format\": \"copyspy report\", \"format_version\": 1, \"program\": 7}", "program: expected an object"},
        {"{\"format\": \"copyspy report\", \"format_version\": 1, \"program\": {\"command\": null}}",
         "program.command: expected a text"},
        {"{\"format\": \"copyspy report\", \"format_version\": 1, \"program\": {\"command\": \"x\", \"pid\": -1}}",
         "program.pid: expected a whole number from 0 on"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_damage(rows[i].text, strlen(rows[i].text), rows[i].said);
}

static void a_damaged_item_is_named_by_its_place(void **state)
{
    (void)state;
    char *text = read_file("golden/report.json"), *at = strstr(text, "\"copies\": 2,");
    assert_non_null(at);
    memcpy(at, "\"copies\": {}", 12);
    at[12] = ',';
    at[13] = ' ';
    expect_damage(text, strlen(text), "findings[1].copies: expected a whole number from 0 on");
}

/* Every cut of a good file is refused, none crashes or leaks (the sanitizers watch). */
static void every_cut_of_a_file_is_refused(void **state)
{
    (void)state;
    static char text[65536];
    strcpy(text, read_file("golden/report.json"));
    for (size_t length = strlen(text) - 2; length > 0; length -= length > 97 ? 97 : length)
        expect_damage(text, length, "expected");
}

static void a_missing_file_is_named(void **state)
{
    (void)state;
    struct cs_report *report;
    struct cs_error error;
    assert_int_equal(cs_report_load("/no/such/report.json", &report, &error), -1);
    assert_non_null(strstr(error.message, "/no/such/report.json: "));
}

static void numbers_read_as_people_write_them(void **state)
{
    (void)state;
    char buffer[CS_NUMBER_MAX];
    assert_string_equal(cs_number_exact(0, buffer), "0");
    assert_string_equal(cs_number_exact(999, buffer), "999");
    assert_string_equal(cs_number_exact(2684354560, buffer), "2,684,354,560");
    assert_string_equal(cs_number_exact(UINT64_MAX, buffer), "18,446,744,073,709,551,615");
    assert_string_equal(cs_number_bytes(2684354560, buffer), "2.7 GB");
    assert_string_equal(cs_number_bytes(512, buffer), "512 bytes");
    assert_string_equal(cs_number_bytes(0, buffer), "0 bytes");
    assert_string_equal(cs_number_time(1240000, buffer), "1.24 ms");
    assert_string_equal(cs_number_time(0, buffer), "0 ns");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_text_is_as_in_the_golden_file),
        TEST(the_text_with_everything_is_as_in_the_golden_file),
        TEST(the_json_is_as_in_the_golden_file),
        TEST(without_redundant_copies_there_is_one_line),
        TEST(colours_come_only_when_asked_for_and_change_no_text),
        TEST(reporting_changes_nothing),
        TEST(a_report_from_a_file_reads_as_the_live_one),
        TEST(names_that_are_no_text_are_made_fit_to_print),
        TEST(a_report_is_written_as_a_whole_or_not_at_all),
        TEST(a_full_device_is_an_error),
        TEST(the_extension_picks_the_format),
        TEST(damaged_files_are_refused_with_file_place_and_expectation),
        TEST(a_damaged_item_is_named_by_its_place),
        TEST(every_cut_of_a_file_is_refused),
        TEST(a_missing_file_is_named),
        TEST(numbers_read_as_people_write_them),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
