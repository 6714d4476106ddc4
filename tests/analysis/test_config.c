/*
 * test_config.c - the COPYSPY_* table: defaults, accepted values, warnings that name what is wrong.
 */
/* cmocka wants these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "analysis/config.h"

/* An environment of one variable, and what was warned of. */
struct world {
    const char *name, *value;
    int warnings;
    char last[CS_CONFIG_MESSAGE_MAX];
};

static const char *get(void *context, const char *name)
{
    struct world *world = context;
    return world->name && !strcmp(name, world->name) ? world->value : NULL;
}

static void warn(void *context, const char *message)
{
    struct world *world = context;
    world->warnings++;
    strcpy(world->last, message);
}

static struct cs_config read_one(struct world *world, const char *name, const char *value)
{
    struct cs_config config;
    *world = (struct world){name, value, 0, ""};
    memset(&config, 0xff, sizeof config);
    cs_config_read(&config, get, warn, world);
    return config;
}

static void check_defaults(const struct cs_config *config)
{
    assert_string_equal(config->report, "");
    assert_int_equal(config->colour, CS_COLOUR_AUTO);
    assert_int_equal(config->show, CS_SHOW_REDUNDANT);
    assert_int_equal(config->enable, 1);
    assert_int_equal(config->cupti, 1);
    assert_int_equal(config->ring_kb, 2048);
    for (size_t i = 0; i < CS_DEBUG_DOMAIN_COUNT; i++)
        assert_int_equal(config->debug[i], 0);
}

static void an_empty_environment_gives_the_defaults_without_a_word(void **state)
{
    struct world world;
    (void)state;
    struct cs_config config = read_one(&world, NULL, NULL);
    check_defaults(&config);
    assert_int_equal(world.warnings, 0);
    config = read_one(&world, "COPYSPY_RING_KB", "");
    check_defaults(&config);
    assert_int_equal(world.warnings, 0);
}

static void accepted_values_are_taken(void **state)
{
    struct world world;
    (void)state;
    assert_string_equal(read_one(&world, "COPYSPY_REPORT", "out/%p.json").report, "out/%p.json");
    assert_int_equal(read_one(&world, "COPYSPY_COLOR", "never").colour, CS_COLOUR_NEVER);
    assert_int_equal(read_one(&world, "COPYSPY_COLOR", "always").colour, CS_COLOUR_ALWAYS);
    assert_int_equal(read_one(&world, "COPYSPY_SHOW", "all").show, CS_SHOW_ALL);
    assert_int_equal(read_one(&world, "COPYSPY_ENABLE", "off").enable, 0);
    assert_int_equal(read_one(&world, "COPYSPY_CUPTI", "off").cupti, 0);
    assert_int_equal(read_one(&world, "COPYSPY_RING_KB", "65536").ring_kb, 65536);
    struct cs_config config = read_one(&world, "COPYSPY_DEBUG", "unwind:2,report:3");
    assert_int_equal(config.debug[CS_DEBUG_unwind], 2);
    assert_int_equal(config.debug[CS_DEBUG_report], 3);
    assert_int_equal(config.debug[CS_DEBUG_cupti], 0);
    assert_int_equal(world.warnings, 0);
}

static void a_bad_value_keeps_the_default_and_warns_once_with_name_value_and_what_is_accepted(void **state)
{
    static const struct {
        const char *name, *value, *accepted;
    } rows[] = {
        {"COPYSPY_COLOR", "yes", "auto|always|never"},
        {"COPYSPY_COLOR", "auto|always", "auto|always|never"},
        {"COPYSPY_SHOW", "al", "redundant|all"},
        {"COPYSPY_SHOW", "all ", "redundant|all"},
        {"COPYSPY_ENABLE", "1", "off|on"},
        {"COPYSPY_CUPTI", "OFF", "off|on"},
        {"COPYSPY_RING_KB", "65537", "64..65536"},
        {"COPYSPY_RING_KB", "+64", "64..65536"},
        {"COPYSPY_RING_KB", "64x", "64..65536"},
        {"COPYSPY_RING_KB", "4294967360", "64..65536"},
        {"COPYSPY_RING_KB", "99999999999999999999999", "64..65536"},
        {"COPYSPY_RING_KB", "-1", "64..65536"},
        {"COPYSPY_RING_KB", "63", "64..65536"},
        {"COPYSPY_DEBUG", "unwind", "domain:level"},
        {"COPYSPY_DEBUG", "unwind:4", "domain:level"},
        {"COPYSPY_DEBUG", "unwind:", "domain:level"},
        {"COPYSPY_DEBUG", "nothing:1", "unwind"},
        {"COPYSPY_DEBUG", "report:1,,unwind:2", "domain:level"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;
        struct cs_config config = read_one(&world, rows[i].name, rows[i].value);
        check_defaults(&config);
        assert_int_equal(world.warnings, 1);
        assert_non_null(strstr(world.last, rows[i].name));
        assert_non_null(strstr(world.last, rows[i].value));
        assert_non_null(strstr(world.last, rows[i].accepted));
        assert_null(strchr(world.last, '\n'));
    }
}

static void a_path_that_is_too_long_is_refused(void **state)
{
    static char path[CS_CONFIG_PATH_MAX + 1];
    struct world world;
    (void)state;
    memset(path, 'x', CS_CONFIG_PATH_MAX);
    assert_string_equal(read_one(&world, "COPYSPY_REPORT", path).report, "");
    assert_int_equal(world.warnings, 1);
    path[CS_CONFIG_PATH_MAX - 1] = 0;
    assert_string_equal(read_one(&world, "COPYSPY_REPORT", path).report, path);
    assert_int_equal(world.warnings, 0);
}

static void unknown_names_are_warned_of_with_the_nearest_one(void **state)
{
    char *environment[] = {"PATH=/bin", "COPYSPY_REPROT=x", "COPYSPY_RING_KB=64", "COPYSPYX=1", NULL};
    struct world world = {0};
    (void)state;
    cs_config_check_names(environment, warn, &world);
    assert_int_equal(world.warnings, 1);
    assert_string_equal(world.last, "COPYSPY_REPROT is not a variable of copyspy; did you mean COPYSPY_REPORT?");
}

static void a_name_like_no_other_is_warned_of_without_a_guess(void **state)
{
    char *environment[] = {"COPYSPY_SOMETHING_ALTOGETHER_DIFFERENT_AND_VERY_LONG=x", NULL};
    struct world world = {0};
    (void)state;
    cs_config_check_names(environment, warn, &world);
    assert_int_equal(world.warnings, 1);
    assert_non_null(strstr(world.last, "`copyspy help variables`"));
}

static void the_process_id_goes_into_the_path(void **state)
{
    static const struct {
        const char *pattern, *path;
    } rows[] = {
        {"run.json", "run.json"},
        {"run.%p.json", "run.4711.json"},
        {"%p%p", "47114711"},
        {"100%%/%p", "100%/4711"},
        {"50%", "50%"},
        {"%q", "%q"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;
        struct cs_config config = read_one(&world, "COPYSPY_REPORT", rows[i].pattern);
        char path[32];
        assert_int_equal(cs_config_report_path(&config, 4711, path, sizeof path), 0);
        assert_string_equal(path, rows[i].path);
        assert_int_equal(cs_config_report_path(&config, 4711, path, strlen(rows[i].path)), -1);
    }
}

static void the_help_names_every_variable_with_its_default(void **state)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    (void)state;
    cs_config_print_help(stream);
    fclose(stream);
#define CS_VARIABLE(NAME, field, TYPE, standard, accepted, help)                                                       \
    assert_non_null(strstr(text, "COPYSPY_" #NAME "=" accepted));                                                      \
    assert_non_null(strstr(text, help));                                                                               \
    assert_non_null(strstr(text, standard));
#include "analysis/config.def"
#undef CS_VARIABLE
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_environment_gives_the_defaults_without_a_word),
        cmocka_unit_test(accepted_values_are_taken),
        cmocka_unit_test(a_bad_value_keeps_the_default_and_warns_once_with_name_value_and_what_is_accepted),
        cmocka_unit_test(a_path_that_is_too_long_is_refused),
        cmocka_unit_test(unknown_names_are_warned_of_with_the_nearest_one),
        cmocka_unit_test(a_name_like_no_other_is_warned_of_without_a_guess),
        cmocka_unit_test(the_process_id_goes_into_the_path),
        cmocka_unit_test(the_help_names_every_variable_with_its_default),
    };
    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
