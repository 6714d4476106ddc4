/*
 * evidence.c - see evidence.h. One thread at a time.
 */
#include "analysis/report/evidence.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define EVIDENCE_MAX 8

/* The function's own name in an Itanium-mangled one: the last identifier of its nested name. "" when it is not mangled
 * so. */
static void base_name(const char *mangled, char *name, size_t size)
{
    const char *at = mangled;
    snprintf(name, size, "%s", mangled);
    if (strncmp(at, "_Z", 2))
        return;
    at += 2;
    at += strspn(at, "NKLVr");
    while (*at == 'S' && at[1] && strchr("tabsiod", at[1]))
        at += 2;
    while (isdigit((unsigned char)*at)) {
        char *identifier;
        unsigned long length = strtoul(at, &identifier, 10);
        if (length > strlen(identifier))
            return;
        snprintf(name, size, "%.*s", (int)length, identifier);
        at = identifier + length;
    }
}

/* "masked_fill_.Scalar" is masked_fill_. */
static int operator_length(const char *name)
{
    return (int)strcspn(name, ".");
}

static const char *file_base(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

static const char *place(struct cs_report *report, const struct cs_attribution *attribution)
{
    const struct cs_frame *site = attribution ? attribution->site : NULL;
    if (site && *site->file && site->line > 0)
        return cs_report_format(report, " at %s:%d", file_base(site->file), site->line);
    if (attribution && attribution->autograd_node)
        return cs_report_format(report, " in %s", attribution->autograd_node);
    return "";
}

const char *cs_evidence_actor(struct cs_report *report, const struct cs_analysis *analysis,
                              const struct cs_actor *actor)
{
    static const char *const kinds[] = {
        [CS_ACTOR_NONE] = "something unknown",       [CS_ACTOR_KERNEL] = "an unknown kernel",
        [CS_ACTOR_COPY] = "a device-to-device copy", [CS_ACTOR_UPLOAD] = "a copy from the host",
        [CS_ACTOR_DOWNLOAD] = "a copy to the host",  [CS_ACTOR_FILL] = "a fill (memset)",
    };
    const struct cs_attribution *attribution = cs_stacks_attribution(analysis->stacks, actor->stack);
    const char *where = place(report, attribution);
    if (actor->kind != CS_ACTOR_KERNEL)
        return cs_report_format(report, "%s%s", kinds[actor->kind], where);
    if (attribution && attribution->operator_count) {
        const char *operator_name = attribution->operators[attribution->operator_count - 1];
        return cs_report_format(report, "`%.*s`%s", operator_length(operator_name), operator_name, where);
    }
    if (actor->kernel >= analysis->kernels.count)
        return cs_report_format(report, "%s%s", kinds[CS_ACTOR_KERNEL], where);
    char name[96];
    base_name(analysis->kernels.kernels[actor->kernel]->name, name, sizeof name);
    return cs_report_format(report, "kernel `%s`%s", name, where);
}

const char *cs_evidence_why(struct cs_report *report, const struct cs_analysis *analysis, enum cs_why why,
                            const struct cs_actor *actor)
{
    const char *text = cs_why_text(why), *hole = strstr(text, "%s");
    if (!hole)
        return text;
    return cs_report_format(report, "%.*s%s%s", (int)(hole - text), text, cs_evidence_actor(report, analysis, actor),
                            hole + 2);
}

static const char *written(struct cs_report *report, const struct cs_analysis *analysis,
                           const struct cs_evidence *evidence)
{
    char bytes[CS_NUMBER_MAX];
    cs_number_exact(evidence->source_size, bytes);
    if (!evidence->writer.kind)
        return cs_report_format(report, "nothing was seen writing the source (%s bytes) before the copy", bytes);
    return cs_report_format(report, "the source (%s bytes) was last written by %s", bytes,
                            cs_evidence_actor(report, analysis, &evidence->writer));
}

static const char *died(struct cs_report *report, const struct cs_analysis *analysis,
                        const struct cs_evidence *evidence)
{
    unsigned long long later = evidence->death - evidence->copy;
    const char *plural = later == 1 ? "" : "s";
    if (evidence->overwritten)
        return cs_report_format(
            report,
            "this copy is the last to read it: %llu event%s later %s overwrote all of it, before any "
            "further launch or copy had read it",
            later, plural, cs_evidence_actor(report, analysis, &evidence->ender));
    return cs_report_format(
        report,
        "this copy is the last to read it: it was freed %llu event%s later, before any further launch "
        "or copy had read it",
        later, plural);
}

static const char *consumed(struct cs_report *report, const struct cs_analysis *analysis,
                            const struct cs_evidence *evidence)
{
    static const char *const doing[] = {"used", "read", "overwritten", "read and overwritten"};
    const struct cs_actor *consumer = &evidence->consumer;
    if (!consumer->kind)
        return "nothing had used the destination by then";
    uint32_t access = consumer->access & (CS_ACCESS_READ | CS_ACCESS_WRITE);
    return cs_report_format(report, "the destination was next %s by %s", doing[access],
                            cs_evidence_actor(report, analysis, consumer));
}

struct cs_text_list cs_evidence_redundant(struct cs_report *report, const struct cs_analysis *analysis,
                                          const struct cs_evidence *evidence)
{
    struct cs_text_list texts = {0};
    cs_text_list_add(report, &texts, EVIDENCE_MAX, written(report, analysis, evidence));
    cs_text_list_add(report, &texts, EVIDENCE_MAX, died(report, analysis, evidence));
    cs_text_list_add(report, &texts, EVIDENCE_MAX,
                     evidence->filled
                         ? "the destination was made for this copy: it held nothing but a fill that nobody read"
                         : "the destination was made for this copy: nothing had written to it before");
    cs_text_list_add(report, &texts, EVIDENCE_MAX, consumed(report, analysis, evidence));
    return texts;
}

void cs_evidence_want(struct cs_analysis *analysis, const struct cs_site *site)
{
    const struct cs_actor *actors[] = {&site->evidence.writer, &site->evidence.consumer, &site->evidence.ender};
    cs_stacks_want(analysis->stacks, site->stack);
    for (size_t i = 0; i < sizeof actors / sizeof actors[0]; i++)
        cs_stacks_want(analysis->stacks, actors[i]->stack);
    for (size_t why = 0; why < CS_WHY_COUNT; why++)
        if (site->whys[why])
            cs_stacks_want(analysis->stacks, site->actors[why].stack);
}
