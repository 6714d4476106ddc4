/*
 * test_advice.c - which advice a chain of operators gets, and when a line is rewritten.
 */
/* cmocka wants these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "analysis/verdicts/advice.h"

static struct cs_advice advice_of(const char *first, const char *second, const char *third)
{
    const char *operators[] = {first, second, third};
    size_t count = 0;
    while (count < 3 && operators[count])
        count++;
    return cs_advice_for(operators, count);
}

static void the_outermost_operator_with_a_row_gives_the_advice(void **state)
{
    (void)state;
    assert_string_equal(advice_of("masked_fill.Scalar", "clone", "copy_").operator_name, "masked_fill");
    assert_string_equal(advice_of("index_put", "clone", "copy_").operator_name, "index_put");
    assert_string_equal(advice_of("index_put_", "clone", "copy_").operator_name, "");
    assert_string_equal(advice_of("clone", "copy_", NULL).operator_name, "clone");
    assert_string_equal(advice_of("somebody", "masked_fill.Tensor", "clone").operator_name, "masked_fill");
}

static void a_clone_inside_another_operator_is_not_the_users(void **state)
{
    (void)state;
    assert_string_equal(advice_of("somebody", "clone", "copy_").operator_name, "");
    assert_int_equal(advice_of("somebody", "clone", "copy_").form, CS_FORM_NONE);
}

static void without_operators_the_advice_is_about_buffers(void **state)
{
    (void)state;
    assert_non_null(strstr(advice_of(NULL, NULL, NULL).text, "swap the pointers"));
}

static void only_an_outermost_seed_is_a_seed(void **state)
{
    const char *outer[] = {"addmm", "copy_"}, *inner[] = {"linear", "addmm"};
    (void)state;
    assert_non_null(cs_advice_seed(outer, 2));
    assert_null(cs_advice_seed(inner, 2));
    assert_null(cs_advice_seed(outer, 0));
}

static const struct {
    const char *operator_name, *line;
    int64_t column;
    const char *rewritten; /* NULL: left alone */
} rows[] = {
    /* in place, as a method */
    {"masked_fill", "    scores = scores.masked_fill(mask, x)\n", 4, "scores.masked_fill_(mask, x)"},
    {"masked_fill", "s = s.masked_fill(m, -1e9)", -1, "s.masked_fill_(m, -1e9)"},
    {"masked_fill", "self.s = self.s.masked_fill(m, 0)", -1, "self.s.masked_fill_(m, 0)"},
    {"masked_fill", "y = x.masked_fill(m, 0)", -1, "y = x.masked_fill_(m, 0)"},
    {"masked_fill", "return (q @ k).masked_fill(m, 0)", -1, "return (q @ k).masked_fill_(m, 0)"},
    {"masked_fill", "s = s.masked_fill(m, 0).softmax(-1)", -1, "s = s.masked_fill_(m, 0).softmax(-1)"},
    {"masked_fill", "s = s.view(2, 3).masked_fill(m, 0)", -1, "s = s.view(2, 3).masked_fill_(m, 0)"},
    {"masked_fill", "s == s.masked_fill(m, 0)", -1, "s == s.masked_fill_(m, 0)"},
    {"index_copy", "    c = c.index_copy(0, i, row)          # fix: c.index_copy_", 8, "c.index_copy_(0, i, row)"},
    {"index_put", "c = c.index_put((i,), row)", -1, "c.index_put_((i,), row)"},
    /* in place, as a function */
    {"addmm", "z = torch.addmm(t, A, W)   # B", -1, "z = t.addmm_(A, W)"},
    {"addmm", "t = torch.addmm(t, A, W)", -1, "t.addmm_(A, W)"},
    {"addmm", "z = torch.addmm(t * 2, A, W)", -1, NULL},
    {"addmm", "z = torch.addmm(input=t, mat1=A, mat2=W)", -1, NULL},
    {"masked_fill", "s = torch.masked_fill(s, m, 0)", -1, "s.masked_fill_(m, 0)"},
    /* dropped */
    {"clone", "tok = p.clone().div_(q.clone_of()).argmax(-1)", -1, "tok = p.div_(q.clone_of()).argmax(-1)"},
    {"clone", "c = torch.ones(3).cuda().clone()   # fix: drop clone", -1, "c = torch.ones(3).cuda()"},
    {"clone", "m = m.clone()", -1, NULL},
    {"clone", "m = m.clone(); m[1] = 0", 4, NULL},
    /* ambiguous */
    {"masked_fill", "s = a.masked_fill(m, 0) + b.masked_fill(m, 0)", -1, NULL},
    {"masked_fill", "s = helper(s, m)", -1, NULL},
    {"masked_fill", "s = s.masked_fill(", -1, NULL},
    {"masked_fill", "s = s.masked_fill(m, 0)); x", -1, NULL},
    {"masked_fill", "t = 1; s = s.masked_fill(m, 0)", -1, NULL},
    {"masked_fill", "t = 1; s = s.masked_fill(m, 0); u = 2", 11, "s.masked_fill_(m, 0)"},
    {"masked_fill", "t = 'a;b'; s = s.masked_fill(m, 0)", 15, NULL},
    {"masked_fill", "s = s.masked_fill(m, float(\"-inf\"))  # it's", -1, NULL},
    {"masked_fill", "", -1, NULL},
};

static enum cs_advice_form form_of(const char *operator_name)
{
    return strcmp(operator_name, "clone") ? CS_FORM_IN_PLACE : CS_FORM_DROP;
}

static void a_line_is_rewritten_only_where_it_says_unambiguously_what_to_change(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct cs_advice advice = {rows[i].operator_name, "", form_of(rows[i].operator_name)};
        char out[256] = "";
        bool rewritten = cs_advice_rewrite(&advice, rows[i].line, rows[i].column, out, sizeof out);
        if (rewritten != (rows[i].rewritten != NULL))
            fail_msg("row %zu: %s: rewritten as \"%s\"", i, rows[i].line, out);
        if (rewritten)
            assert_string_equal(out, rows[i].rewritten);
    }
}

static void a_very_long_line_is_left_alone(void **state)
{
    struct cs_advice advice = {"masked_fill", "", CS_FORM_IN_PLACE};
    char line[4096], out[64];
    (void)state;
    memset(line, 'x', sizeof line);
    strcpy(line + 4000, ".masked_fill(m, 0)");
    assert_false(cs_advice_rewrite(&advice, line, -1, out, sizeof out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_outermost_operator_with_a_row_gives_the_advice),
        cmocka_unit_test(a_clone_inside_another_operator_is_not_the_users),
        cmocka_unit_test(without_operators_the_advice_is_about_buffers),
        cmocka_unit_test(only_an_outermost_seed_is_a_seed),
        cmocka_unit_test(a_line_is_rewritten_only_where_it_says_unambiguously_what_to_change),
        cmocka_unit_test(a_very_long_line_is_left_alone),
    };
    return cmocka_run_group_tests_name("advice", tests, NULL, NULL);
}
