/*
 * test_command.c - the `copyspy` program as it is built: what it prints, and what it says when it is asked wrongly.
 */
/* cmocka wants these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static char output[65536];

/* Runs `copyspy <arguments>` in the folder of the golden files; both its outputs go to `output`. Returns the exit
 * status. */
static int run(const char *arguments)
{
    char command[1024];
    snprintf(command, sizeof command, "cd '%s/golden' && { '%s' %s; } 2>&1", TEST_DATA, COPYSPY_PROGRAM, arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t length = fread(output, 1, sizeof output - 1, pipe);
    output[length] = 0;
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static const char *golden(const char *name)
{
    static char text[65536];
    char path[512];
    snprintf(path, sizeof path, "%s/golden/%s", TEST_DATA, name);
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    size_t length = fread(text, 1, sizeof text - 1, stream);
    fclose(stream);
    text[length] = 0;
    return text;
}

static void a_report_is_printed_as_the_programs_end_printed_it(void **state)
{
    (void)state;
    assert_int_equal(run("report report.json"), 0);
    assert_string_equal(output, golden("report.txt"));
    assert_int_equal(run("report --text --color=never report.json"), 0);
    assert_string_equal(output, golden("report.txt"));
    assert_int_equal(run("report report.json --all"), 0);
    assert_string_equal(output, golden("report-all.txt"));
    assert_int_equal(run("report --json report.json"), 0);
    assert_string_equal(output, golden("report.json"));
}

static void colours_follow_the_option(void **state)
{
    (void)state;
    run("report --color=always report.json");
    assert_non_null(strchr(output, '\033'));
    run("report --color=auto report.json");
    assert_null(strchr(output, '\033')); /* a pipe is no terminal */
}

static void several_files_are_printed_under_their_names(void **state)
{
    (void)state;
    assert_int_equal(run("report report.json report.json"), 0);
    assert_memory_equal(output, "report.json:\ncopyspy: ", 22);
    assert_non_null(strstr(output, "\n\nreport.json:\n"));
}

static void mistakes_are_one_line_that_names_them_and_status_2(void **state)
{
    static const struct {
        const char *arguments, *said;
    } rows[] = {
        {"", "copyspy: no command given; expected report, kernels or help, see copyspy --help\n"},
        {"frobnicate", "copyspy: frobnicate: no such command; expected report, kernels or help, see copyspy --help\n"},
        {"report", "copyspy: report: no file given; expected one or more reports written as JSON\n"},
        {"report --colour report.json",
         "copyspy: report: --colour: expected --text, --json, --all or --color=auto|always|never\n"},
        {"report --color=blue report.json", "copyspy: report: --color=blue: expected auto, always or never\n"},
        {"report report.txt", "copyspy: report: report.txt:1:7: expected JSON: "},
        {"report no-such.json", "copyspy: report: no-such.json: expected a readable report: "},
        {"help everything", "copyspy: help: no help on everything; expected copyspy help, or copyspy help variables\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(run(rows[i].arguments), 2);
        assert_memory_equal(output, rows[i].said, strlen(rows[i].said));
        assert_ptr_equal(strchr(output, '\n'), output + strlen(output) - 1);
    }
}

static void a_bad_file_among_good_ones_does_not_hide_them(void **state)
{
    (void)state;
    assert_int_equal(run("report no-such.json report.json"), 2);
    assert_non_null(strstr(output, "no-such.json: expected a readable report"));
    assert_non_null(strstr(output, "redundant copy sites"));
}

static void output_that_cannot_be_written_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(run("report report.json >/dev/full"), 2);
    assert_non_null(strstr(output, "copyspy: report: standard output: "));
}

static void help_teaches_by_examples(void **state)
{
    (void)state;
    assert_int_equal(run("--help"), 0);
    assert_non_null(strstr(output, "LD_PRELOAD=libcopyspy.so python train.py"));
    assert_non_null(strstr(output, "copyspy report run.json"));
    assert_int_equal(run("report --help"), 0);
    assert_non_null(strstr(output, "copyspy report run.json"));
    assert_int_equal(run("help variables"), 0);
    assert_non_null(strstr(output, "COPYSPY_REPORT="));
    assert_non_null(strstr(output, "COPYSPY_DEBUG="));
    assert_int_equal(run("--version"), 0);
    assert_memory_equal(output, "copyspy ", 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_is_printed_as_the_programs_end_printed_it),
        cmocka_unit_test(colours_follow_the_option),
        cmocka_unit_test(several_files_are_printed_under_their_names),
        cmocka_unit_test(mistakes_are_one_line_that_names_them_and_status_2),
        cmocka_unit_test(a_bad_file_among_good_ones_does_not_hide_them),
        cmocka_unit_test(output_that_cannot_be_written_is_an_error),
        cmocka_unit_test(help_teaches_by_examples),
    };
    return cmocka_run_group_tests_name("command", tests, NULL, NULL);
}
