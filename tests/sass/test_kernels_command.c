/*
 * test_kernels_command.c - `copyspy kernels` as it is built: what it says of container.cu in every kind of file, and
 * what it says when it is asked wrongly or given something else.
 *
 * Arguments: the folder of container.cubin (sm_90), .fatbin (sm_80, sm_90 and PTX, compressed), .ptx.fatbin (PTX
 * alone), .o (to be linked on the device) and .so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const char *folder;
static char output[1 << 20];

/* Runs `copyspy kernels <arguments>` in the folder; both its outputs go to `output`. Returns the exit status. */
static int run(const char *arguments)
{
    char command[2048];
    snprintf(command, sizeof command, "cd '%s' && { '%s' kernels %s; } 2>&1", folder, COPYSPY_PROGRAM, arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t length = fread(output, 1, sizeof output - 1, pipe);
    output[length] = 0;
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static json_t *run_json(const char *arguments)
{
    json_error_t error;
    assert_int_equal(run(arguments), 0);
    json_t *array = json_loads(output, 0, &error);
    if (!array)
        fail_msg("%s in %.200s", error.text, output);
    assert_true(json_is_array(array));
    return array;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    assert_non_null(text);
    return text;
}

static json_t *kernel_of(json_t *array, const char *name, const char *arch)
{
    size_t i;
    json_t *kernel;
    json_array_foreach(array, i, kernel) if (strcmp(text_of(kernel, "kernel"), name) == 0 &&
                                             strcmp(text_of(kernel, "arch"), arch) == 0) return kernel;
    fail_msg("no kernel %s for %s", name, arch);
    return NULL;
}

/* "offset+size access, ..." of all ranges */
static const char *ranges_of(const json_t *kernel)
{
    static char text[1024];
    size_t i, used = 0;
    json_t *range;
    *text = 0;
    json_array_foreach(json_object_get(kernel, "params"), i, range)
    {
        json_int_t offset = json_integer_value(json_object_get(range, "offset"));
        json_int_t size = json_integer_value(json_object_get(range, "size"));
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%d+%d %s", i ? ", " : "", (int)offset, (int)size,
                                 text_of(range, "access"));
        assert_true(used < sizeof text);
    }
    return text;
}

static const char add_float[] = "_Z3addIfEvPT_PKS0_S3_i", add_double[] = "_Z3addIdEvPT_PKS0_S3_i";

/* container.cu: what its kernels do */
static const struct {
    const char *kernel, *ranges;
    bool opaque;
} truth[] = {
    {add_float, "0+8 write, 8+8 read, 16+8 read, 24+4 none", false},
    {add_double, "0+8 write, 8+8 read, 16+8 read, 24+4 none", false},
    {"scale", "0+8 read-write, 8+4 none", false},
    {"count", "0+8 read-write, 8+8 read", false},
    {"keep", "0+8 write, 8+8 stored", false},
    {"follow", "0+8 read, 8+4 none", true},
    {"clear", "0+32 write, 32+8 none", false},
};
enum { KERNELS = sizeof truth / sizeof *truth };

static void check_truth(json_t *array, const char *arch)
{
    for (size_t i = 0; i < KERNELS; i++) {
        json_t *kernel = kernel_of(array, truth[i].kernel, arch);
        assert_string_equal(ranges_of(kernel), truth[i].ranges);
        json_t *opaque = json_object_get(kernel, "opaque");
        assert_true(json_is_boolean(opaque));
        assert_int_equal(json_is_true(opaque), truth[i].opaque);
        assert_non_null(strstr(" copy relayout cast fill compute ", text_of(kernel, "class")));
    }
}

static void every_kind_of_file_tells_the_same_truth(void **state)
{
    static const struct {
        const char *file;
        bool both;
    } rows[] = {{"container.cubin", false}, {"container.fatbin", true}, {"container.o", true}, {"container.so", true}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "--json %s", rows[i].file);
        json_t *array = run_json(arguments);
        assert_int_equal(json_array_size(array), rows[i].both ? 2 * KERNELS : KERNELS);
        check_truth(array, "sm_90");
        if (rows[i].both)
            check_truth(array, "sm_80");
        json_decref(array);
    }
}

static void text_shows_names_parameters_and_flags(void **state)
{
    (void)state;
    assert_int_equal(run("--match=add container.cubin"), 0);
    assert_non_null(strstr(output,
                           "void add<float>(float*, float const*, float const*, int)\n    _Z3addIfEvPT_PKS0_S3_i\n"
                           "    sm_90, "));
    assert_non_null(strstr(output, "  parameter  offset   size  access\n"
                                   "          0       0      8  write\n"
                                   "          1       8      8  read\n"
                                   "          2      16      8  read\n"
                                   "          3      24      4  none\n"));
    assert_int_equal(run("--match=follow container.cubin"), 0);
    assert_memory_equal(output, "follow\n    sm_90, ", 18);
    assert_non_null(strstr(output, "writes through addresses that it loaded from memory\n"));
    assert_int_equal(run("--match=count container.cubin"), 0);
    assert_non_null(strstr(output, "read-write, atomically\n"));
    assert_int_equal(run("--match=clear container.cubin"), 0);
    assert_non_null(strstr(output, "     0     32  write (table)\n"));
}

static void filters_choose_by_architecture_and_either_name(void **state)
{
    static const struct {
        const char *arguments;
        size_t kernels;
    } rows[] = {
        {"--json --arch=sm_80 container.fatbin", KERNELS},
        {"--json --arch 90 container.so", KERNELS},
        {"--json --arch=sm_75 container.fatbin", 0},
        {"--json --arch=sm_80 container.cubin", 0},
        {"--json '--match=add<float>' container.fatbin", 2},
        {"--json --match=_Z3addI --arch=sm_90 container.fatbin", 2},
        {"--json --match=nothing container.fatbin", 0},
        {"--json --match=scale container.cubin container.fatbin", 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *array = run_json(rows[i].arguments);
        assert_int_equal(json_array_size(array), rows[i].kernels);
        json_decref(array);
    }
}

static void several_files_are_printed_under_their_names(void **state)
{
    (void)state;
    assert_int_equal(run("--match=scale container.cubin container.o"), 0);
    assert_memory_equal(output, "container.cubin:\nscale\n", 23);
    assert_non_null(strstr(output, "\n\ncontainer.o:\nscale\n"));
}

static void ptx_alone_is_no_mistake_and_is_said(void **state)
{
    (void)state;
    assert_int_equal(run("container.ptx.fatbin"), 0);
    assert_string_equal(output, "copyspy: kernels: container.ptx.fatbin: no machine code: PTX or other intermediate "
                                "code alone\n");
    assert_int_equal(run("--json container.ptx.fatbin 2>/dev/null"), 0);
    assert_string_equal(output, "[]\n");
}

static void mistakes_are_one_line_that_names_them_and_status_2(void **state)
{
    static const struct {
        const char *arguments, *said;
    } rows[] = {
        {"", "no file given; expected cubins, fat binaries, libraries or programs\n"},
        {"--jason container.cubin", "--jason: expected --text, --json, --arch=sm_NN or --match=TEXT\n"},
        {"--arch=ampere container.cubin", "--arch=ampere: expected an architecture such as sm_90\n"},
        {"--arch=sm_-9 container.cubin", "--arch=sm_-9: expected an architecture such as sm_90\n"},
        {"--json no-such-file", "no-such-file: No such file or directory\n"},
        {".", ".: expected a regular file\n"},
        {"--json /dev/null", "/dev/null: expected a regular file\n"},
        {"--json empty", "empty: offset 0: expected a cubin, a fat binary, or an ELF file that carries GPU code, "
                         "found an empty file\n"},
        {"--json text", "text: offset 0: expected a cubin, a fat binary, or an ELF file that carries GPU code\n"},
        {"--json short.cubin", "short.cubin: offset 40: expected the ELF section table within the file's "},
        {"--json short.fatbin", "short.fatbin: offset 8: fat binary: expected at most "},
        {"--json short.so", "short.so: offset 40: expected the ELF section table within the file's "},
    };
    (void)state;
    run("--help; : >empty; echo text >text; for f in cubin fatbin so; do head -c 3000 container.$f >short.$f; done");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char said[512] = "copyspy: kernels: ";
        assert_int_equal(run(rows[i].arguments), 2);
        strncat(said, rows[i].said, sizeof said - strlen(said) - 1);
        if (strncmp(output, said, strlen(said)) != 0)
            fail_msg("%s: expected \"%s\", found \"%s\"", rows[i].arguments, said, output);
        assert_ptr_equal(strchr(output, '\n'), output + strlen(output) - 1);
    }
    assert_int_equal(run("--json /proc/self/exe"), 2);
    assert_non_null(strstr(output, ": ELF file without GPU code: expected a section .nv_fatbin or __nv_relfatbin\n"));
}

static void a_bad_file_among_good_ones_does_not_hide_them(void **state)
{
    (void)state;
    assert_int_equal(run("--json --match=scale text container.cubin 2>/dev/null"), 2);
    json_t *array = json_loads(output, 0, NULL);
    assert_int_equal(json_array_size(array), 1);
    json_decref(array);
}

static void output_that_cannot_be_written_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(run("container.fatbin >/dev/full"), 2);
    assert_non_null(strstr(output, "copyspy: kernels: standard output: "));
}

int main(int count, char **arguments)
{
    if (count != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", arguments[0]);
        return 2;
    }
    folder = arguments[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_file_tells_the_same_truth),
        cmocka_unit_test(text_shows_names_parameters_and_flags),
        cmocka_unit_test(filters_choose_by_architecture_and_either_name),
        cmocka_unit_test(several_files_are_printed_under_their_names),
        cmocka_unit_test(ptx_alone_is_no_mistake_and_is_said),
        cmocka_unit_test(mistakes_are_one_line_that_names_them_and_status_2),
        cmocka_unit_test(a_bad_file_among_good_ones_does_not_hide_them),
        cmocka_unit_test(output_that_cannot_be_written_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
