/*
 * verdict.c - the tables of reasons and of whys. Pure functions.
 */
#include "analysis/verdicts/verdict.h"

extern const struct cs_verdict cs_source_dead;

static const struct cs_verdict *const reasons[] = {&cs_source_dead};

struct cs_outcome cs_verdict_judge(const struct cs_analysis *analysis, const struct cs_pending *copy,
                                   enum cs_moment moment, const struct cs_actor *actor)
{
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        struct cs_outcome outcome = reasons[i]->judge(analysis, copy, moment, actor);
        if (outcome.decision != CS_DECISION_OPEN)
            return outcome;
    }
    return cs_open();
}

const struct cs_verdict *cs_verdict_redundant(void)
{
    return reasons[0];
}

enum { IS_UNJUDGED, IS_NECESSARY };

static const struct {
    const char *text;
    int verdict;
} whys[CS_WHY_COUNT] = {
    {"", IS_UNJUDGED},
#define CS_WHY(NAME, VERDICT, text) {text, IS_##VERDICT},
#include "analysis/verdicts/whys.def"
#undef CS_WHY
};

const char *cs_why_text(enum cs_why why)
{
    return whys[why].text;
}

bool cs_why_necessary(enum cs_why why)
{
    return whys[why].verdict == IS_NECESSARY;
}

const char *cs_confidence_name(enum cs_confidence confidence)
{
    static const char *const names[] = {"possible", "likely", "proven"};
    return names[confidence];
}

struct cs_outcome cs_stands(enum cs_why why, const struct cs_actor *actor)
{
    struct cs_outcome outcome = {.decision = cs_why_necessary(why) ? CS_DECISION_NECESSARY : CS_DECISION_UNJUDGED,
                                 .why = why};
    if (actor)
        outcome.actor = *actor;
    return outcome;
}
