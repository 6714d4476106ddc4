/*
 * advice.h - what to write instead of a redundant copy, from the one table in advice.def.
 *
 * Threads: pure functions.
 */
#ifndef COPYSPY_ANALYSIS_VERDICTS_ADVICE_H
#define COPYSPY_ANALYSIS_VERDICTS_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cs_advice_form { CS_FORM_NONE, CS_FORM_IN_PLACE, CS_FORM_DROP };

struct cs_advice {
    const char *operator_name; /* of the row, "" for the general advice */
    const char *text;
    enum cs_advice_form form;
};

/* The advice for a chain of operators (outermost first, with or without overloads); there is always one. */
struct cs_advice cs_advice_for(const char *const *operators, size_t count);

/* The remark for a chain whose outermost operator copies by design, or NULL. */
const char *cs_advice_seed(const char *const *operators, size_t count);

/*
 * Rewrites the user's source line. `column` is the byte where the statement or call starts, -1 unknown. Returns true
 * and the new statement, without indentation or comment, or false where the line does not say unambiguously what to
 * change.
 */
bool cs_advice_rewrite(const struct cs_advice *advice, const char *line, int64_t column, char *out, size_t size);

#endif
