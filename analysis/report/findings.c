/*
 * findings.c - from the ledger to a report: what is redundant, where, why, and what to write instead. One thread at a
 * time; changes nothing but which stacks are resolved.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/report/evidence.h"
#include "analysis/report/group.h"
#include "analysis/report/source.h"
#include "analysis/verdicts/advice.h"

#ifndef COPYSPY_VERSION
#define COPYSPY_VERSION "0.1.0"
#endif

/* ---- one group ---- */

static struct cs_location location(struct cs_report *report, const struct cs_group *group)
{
    struct cs_location at = {.file = "", .function = "", .column = -1, .end_column = -1, .autograd_node = ""};
    const struct cs_attribution *attribution = group->attribution;
    if (!attribution)
        return at;
    if (attribution->site) {
        const struct cs_frame *site = attribution->site;
        bool columns = site->column >= 0 && !group->columns_differ && (site->column || site->end_column > 0);
        at.file = cs_report_text(report, *site->file ? site->file : site->module);
        at.function = cs_report_text(report, site->function);
        at.line = site->line > 0 ? site->line : 0;
        at.end_line = site->end_line > 0 ? site->end_line : at.line;
        at.column = columns ? site->column : -1;
        at.end_column = columns ? site->end_column : -1;
    }
    for (size_t i = 0; i < attribution->operator_count; i++)
        cs_text_list_add(report, &at.operators, attribution->operator_count,
                         cs_report_text(report, attribution->operators[i]));
    at.autograd_node = cs_report_text(report, attribution->autograd_node);
    return at;
}

static struct cs_report_frames frames(struct cs_report *report, const struct cs_attribution *attribution)
{
    struct cs_report_frames stack = {0};
    size_t count = attribution ? attribution->python_count + attribution->native_count : 0;
    if (count)
        stack.items = cs_report_allocate(report, count, sizeof *stack.items);
    for (size_t i = 0; stack.items && i < count; i++) {
        const struct cs_frame *frame = &attribution->frames[i];
        stack.items[stack.count++] = (struct cs_report_frame){
            .function = cs_report_text(report, frame->function),
            .file = cs_report_text(report, frame->file),
            .module = cs_report_text(report, frame->module),
            .line = frame->line > 0 ? frame->line : 0,
            .python = frame->python,
            .user = frame->user,
        };
    }
    return stack;
}

static void advise(struct cs_report *report, struct cs_finding *finding)
{
    struct cs_advice advice = cs_advice_for(finding->at.operators.items, finding->at.operators.count);
    char line[1200];
    finding->advice = advice.text;
    finding->rewrite = "";
    if (finding->source.count == 1 && finding->at.end_line <= finding->at.line &&
        cs_advice_rewrite(&advice, finding->source.items[0], finding->at.column, line, sizeof line))
        finding->rewrite = cs_report_text(report, line);
}

static void add_finding(struct cs_report *report, const struct cs_analysis *analysis, const struct cs_group *group)
{
    const struct cs_site *sum = &group->sum;
    struct cs_finding *finding = &report->findings.items[report->findings.count++];
    *finding = (struct cs_finding){
        .reason = cs_verdict_redundant()->reason,
        .headline = cs_verdict_redundant()->headline,
        .confidence = cs_confidence_name(sum->confidence),
        .at = location(report, group),
        .copies = sum->copies,
        .bytes = sum->bytes,
        .pending = sum->pending,
        .gpu_ns = cs_group_time(group),
        .gpu_ns_measured = sum->timed_ns,
        .copies_measured = sum->timed,
        .evidence = cs_evidence_redundant(report, analysis, &sum->evidence),
        .stack = frames(report, group->attribution),
    };
    finding->source = cs_source_lines(report, finding->at.file, finding->at.line, finding->at.end_line);
    advise(report, finding);
    if (sum->confidence == CS_CONFIDENCE_POSSIBLE)
        return;
    report->totals.redundant_copies += finding->copies;
    report->totals.redundant_bytes += finding->bytes;
    report->totals.redundant_ns += finding->gpu_ns;
}

static void add_remark(struct cs_report *report, const struct cs_group *group, const char *kind, const char *text)
{
    report->remarks.items[report->remarks.count++] =
        (struct cs_remark){.kind = kind, .text = text, .at = location(report, group)};
}

/* The why that most of a group's copies have; necessary ones come first. */
static enum cs_why main_why(const struct cs_group *group)
{
    enum cs_why best = CS_WHY_NONE;
    for (enum cs_why why = 1; why < CS_WHY_COUNT; why++) {
        uint64_t count = group->sum.whys[why], most = group->sum.whys[best];
        bool rank = cs_why_necessary(why), best_rank = cs_why_necessary(best);
        if (count && (!best || rank > best_rank || (rank == best_rank && count > most)))
            best = why;
    }
    return best;
}

static bool is_needless(const struct cs_group *group)
{
    return group->sum.redundant && group->sum.redundant == cs_group_settled(group);
}

/* Made by a library's own thread (autograd's backward): no frame is Python or the user's, so no change to the program
 * removes it. */
static bool is_library_made(const struct cs_group *group)
{
    const struct cs_attribution *attribution = group->attribution;
    if (!attribution || !attribution->native_count)
        return false;
    for (size_t i = 0; i < attribution->python_count + attribution->native_count; i++)
        if (attribution->frames[i].python || attribution->frames[i].user)
            return false;
    return true;
}

static bool is_redundant(const struct cs_group *group)
{
    return is_needless(group) && !is_library_made(group);
}

static void add_copy_site(struct cs_report *report, const struct cs_analysis *analysis, const struct cs_group *group)
{
    const struct cs_site *sum = &group->sum;
    struct cs_copy_site *site = &report->copy_sites.items[report->copy_sites.count++];
    enum cs_why why = main_why(group);
    *site = (struct cs_copy_site){
        .at = location(report, group),
        .copies = sum->copies,
        .bytes = sum->bytes,
        .pending = sum->pending,
        .redundant = sum->redundant,
        .captured = sum->captured,
        .verdict = cs_why_necessary(why) ? "necessary" : "not judged",
    };
    if (is_needless(group) && is_library_made(group)) {
        site->reason = "source-dead, but made by a library's own code: no change to the program removes it";
    } else if (is_redundant(group)) {
        bool sure = sum->confidence != CS_CONFIDENCE_POSSIBLE;
        site->verdict = sure ? "redundant" : "not judged";
        site->reason =
            sure
                ? cs_verdict_redundant()->reason
                : "possibly source-dead, but its source is far larger than what was copied, or can be read by the host";
    } else if (!sum->copies) {
        site->reason = cs_why_text(CS_WHY_CAPTURED);
    } else if (why) {
        site->reason = cs_evidence_why(report, analysis, why, &sum->actors[why]);
    } else {
        site->reason = "still undecided when the program ended: the source was alive";
    }
}

static void remark_share(struct cs_report *report, const struct cs_group *group)
{
    const struct cs_site *sum = &group->sum;
    char redundant[CS_NUMBER_MAX], settled[CS_NUMBER_MAX];
    if (!sum->redundant || is_needless(group))
        return;
    cs_number_exact(sum->redundant, redundant);
    cs_number_exact(cs_group_settled(group), settled);
    add_remark(report, group, "share",
               cs_report_format(report, "%s of %s settled copies here were %s, the others were not", redundant, settled,
                                cs_verdict_redundant()->reason));
}

static void remark_seed(struct cs_report *report, const struct cs_group *group)
{
    const struct cs_attribution *attribution = group->attribution;
    const char *text = attribution && !is_redundant(group)
                           ? cs_advice_seed(attribution->operators, attribution->operator_count)
                           : NULL;
    if (text)
        add_remark(report, group, "library-seed", text);
}

static void remark_library(struct cs_report *report, const struct cs_group *group)
{
    char copies[CS_NUMBER_MAX], bytes[CS_NUMBER_MAX];
    if (!is_needless(group) || !is_library_made(group))
        return;
    cs_number_exact(group->sum.copies, copies);
    cs_number_exact(group->sum.bytes, bytes);
    add_remark(
        report, group, "library",
        cs_report_format(report,
                         "%s copies of %s bytes in all are %s, but a library's own code makes them: no change to "
                         "the program removes them",
                         copies, bytes, cs_verdict_redundant()->reason));
}

/* ---- the rest of the report ---- */

static const char *version(struct cs_report *report, uint32_t number)
{
    return number ? cs_report_format(report, "%u.%u", number / 1000, number % 1000 / 10) : "";
}

/* CUPTI numbers its versions by plain increments (CUPTI_API_VERSION); python_version is PY_VERSION_HEX. */
static void describe_program(struct cs_report *report, const struct cs_analysis *analysis)
{
    const struct cs_process_def *process = &analysis->process;
    uint32_t python = process->python_version;
    report->program.command = cs_report_text(report, analysis->command);
    report->program.pid = process->pid;
    report->program.stand_in = process->stand_in;
    for (size_t i = 0; i < CS_DEVICES_MAX; i++)
        if (*analysis->devices[i].name)
            cs_text_list_add(report, &report->program.devices, CS_DEVICES_MAX,
                             cs_report_text(report, analysis->devices[i].name));
    report->versions.copyspy = COPYSPY_VERSION;
    report->versions.runtime = version(report, process->runtime_version);
    report->versions.driver = version(report, process->driver_version);
    if (process->cupti_version)
        report->versions.cupti = cs_report_format(report, "%u", process->cupti_version);
    if (python)
        report->versions.python =
            cs_report_format(report, "%u.%u.%u", python >> 24, python >> 16 & 0xff, python >> 8 & 0xff);
}

static int by_launches(const void *a, const void *b)
{
    const struct cs_unknown_kernel *x = a, *y = b;
    if (x->launches != y->launches)
        return x->launches < y->launches ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void list_unknown_kernels(struct cs_report *report, const struct cs_kernels *kernels)
{
    static const char *const gaps[] = {
        [CS_GAP_NONE] = "",
        [CS_GAP_NO_CODE] = "its machine code was not seen",
        [CS_GAP_NOT_FOLLOWED] = "its machine code could not be followed",
        [CS_GAP_NO_PARAMETERS] = "its parameters were not known",
        [CS_GAP_UNNAMED] = "its name was not seen",
    };
    struct cs_unknown_kernels *list = &report->unseen.kernels;
    for (size_t i = 0; i < kernels->count; i++)
        list->count += kernels->kernels[i]->not_understood != 0;
    list->items = list->count ? cs_report_allocate(report, list->count, sizeof *list->items) : NULL;
    list->count = 0;
    for (size_t i = 0; list->items && i < kernels->count; i++)
        if (kernels->kernels[i]->not_understood)
            list->items[list->count++] = (struct cs_unknown_kernel){
                .name = cs_report_text(report, kernels->kernels[i]->name),
                .why = gaps[kernels->kernels[i]->gap],
                .launches = kernels->kernels[i]->not_understood,
            };
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, by_launches);
}

static void describe_unseen(struct cs_report *report, const struct cs_analysis *analysis, const struct cs_self *self)
{
    const struct cs_unseen *unseen = &analysis->unseen;
    struct cs_report_unseen *out = &report->unseen;
    uint64_t told = self ? self->lost_events : 0;
    out->lost_events = unseen->lost > told ? unseen->lost : told;
    out->blind_no_cupti = unseen->blind_periods[CS_BLIND_NO_CUPTI];
    out->blind_cupti_lent = unseen->blind_periods[CS_BLIND_CUPTI_LENT];
    out->blind_at_end = unseen->blind;
    out->graph_launches = unseen->graph_launches;
    out->graph_launches_not_followed = unseen->graph_launches_unfollowed;
    out->unknown_addresses = unseen->unknown_addresses;
    out->stray_accesses = unseen->strays;
    out->unnamed_launches = unseen->unnamed_launches;
    out->unreadable_modules = analysis->kernels.unreadable;
    list_unknown_kernels(report, &analysis->kernels);
}

static void describe_self(struct cs_report *report, const struct cs_analysis *analysis, const struct cs_self *self)
{
    struct cs_report_self *out = &report->self;
    out->events = self && self->events ? self->events : analysis->events;
    out->lost_events = report->unseen.lost_events;
    out->code_bytes = self ? self->code_bytes : 0;
    out->kernels = analysis->kernels.count;
}

static int by_bytes(const void *a, const void *b)
{
    const struct cs_group *x = a, *y = b;
    if (x->sum.bytes != y->sum.bytes)
        return x->sum.bytes < y->sum.bytes ? 1 : -1;
    return x->sum.stack < y->sum.stack ? -1 : x->sum.stack > y->sum.stack;
}

static void describe_groups(struct cs_report *report, const struct cs_analysis *analysis, struct cs_group *groups,
                            size_t count)
{
    report->findings.items = cs_report_allocate(report, count, sizeof *report->findings.items);
    report->copy_sites.items = cs_report_allocate(report, count, sizeof *report->copy_sites.items);
    report->remarks.items = cs_report_allocate(report, 3 * count, sizeof *report->remarks.items);
    if (report->failed)
        return;
    qsort(groups, count, sizeof *groups, by_bytes);
    for (size_t i = 0; i < count; i++) {
        report->totals.copies += groups[i].sum.copies;
        report->totals.bytes += groups[i].sum.bytes;
        report->self.copies_without_time += groups[i].sum.copies - groups[i].sum.timed;
        if (is_redundant(&groups[i]))
            add_finding(report, analysis, &groups[i]);
        add_copy_site(report, analysis, &groups[i]);
        remark_share(report, &groups[i]);
        remark_seed(report, &groups[i]);
        remark_library(report, &groups[i]);
    }
}

struct cs_report *cs_findings_report(struct cs_analysis *analysis, const struct cs_self *self)
{
    struct cs_report *report = cs_report_new();
    size_t count;
    if (!report)
        return NULL;
    for (size_t i = 0; i < analysis->ledger.site_count; i++)
        cs_evidence_want(analysis, &analysis->ledger.sites[i]);
    cs_stacks_resolve(analysis->stacks);
    describe_program(report, analysis);
    describe_unseen(report, analysis, self);
    describe_self(report, analysis, self);
    report->totals.captured_copies = analysis->unseen.captured_copies;
    report->totals.captured_bytes = analysis->unseen.captured_bytes;
    struct cs_group *groups = cs_groups(analysis, &count);
    if (!groups)
        report->failed = true;
    else if (count)
        describe_groups(report, analysis, groups, count);
    free(groups);
    if (report->failed) {
        cs_report_free(report);
        return NULL;
    }
    return report;
}
