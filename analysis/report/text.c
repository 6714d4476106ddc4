/*
 * text.c - the report as a compiler would say it. One thread at a time.
 */
#include <stdarg.h>
#include <string.h>

#include "analysis/report/model.h"

struct out {
    FILE *stream;
    const struct cs_report *report;
    bool colour, all;
};

enum style { PLAIN, BOLD, WARNING, PLACE, HELP, DIM };

static const char *const styles[] = {"", "\033[1m", "\033[1;33m", "\033[1;34m", "\033[1;32m", "\033[2m"};

static void __attribute__((format(printf, 3, 4))) say(const struct out *out, enum style style, const char *format, ...)
{
    va_list arguments;
    if (out->colour)
        fputs(styles[style], out->stream);
    va_start(arguments, format);
    vfprintf(out->stream, format, arguments);
    va_end(arguments);
    if (out->colour && style)
        fputs("\033[0m", out->stream);
}

static const char *plural(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

/* "402,653,184 bytes (402.7 MB)" */
static void say_bytes(const struct out *out, uint64_t bytes)
{
    char exact[CS_NUMBER_MAX], rounded[CS_NUMBER_MAX];
    say(out, PLAIN, "%s %s", cs_number_exact(bytes, exact), plural(bytes, "byte", "bytes"));
    if (bytes >= 1000)
        say(out, PLAIN, " (%s)", cs_number_bytes(bytes, rounded));
}

/* ---- the first line ---- */

/* Says so when the time is no measurement, or only in part. */
static const char *estimated(const struct cs_findings *findings)
{
    bool measured = false, guessed = false;
    for (size_t i = 0; i < findings->count; i++) {
        measured |= findings->items[i].copies_measured != 0;
        guessed |= !findings->items[i].copies_measured;
    }
    return !guessed ? "" : measured ? " (partly estimated)" : " (estimated)";
}

static void say_summary(const struct out *out)
{
    const struct cs_report_totals *totals = &out->report->totals;
    size_t sites = cs_report_findings(out->report);
    char copies[CS_NUMBER_MAX], bytes[CS_NUMBER_MAX], time[CS_NUMBER_MAX];
    if (!sites) {
        say(out, BOLD, "copyspy: no redundant copies");
        say(out, PLAIN, " (%s device-to-device %s seen, %s %s)\n", cs_number_exact(totals->copies, copies),
            plural(totals->copies, "copy", "copies"), cs_number_exact(totals->bytes, bytes),
            plural(totals->bytes, "byte", "bytes"));
        return;
    }
    say(out, BOLD, "copyspy: %zu redundant copy %s: %s %s, %s copied for nothing", sites,
        plural(sites, "site", "sites"), cs_number_exact(totals->redundant_copies, copies),
        plural(totals->redundant_copies, "copy", "copies"), cs_number_bytes(totals->redundant_bytes, bytes));
    if (totals->redundant_ns)
        say(out, BOLD, ", %s of GPU time%s", cs_number_time(totals->redundant_ns, time),
            estimated(&out->report->findings));
    fputc('\n', out->stream);
}

/* ---- places and quotes ---- */

/* A range of columns; a start alone (from a compiler's line table, which may number a generated file) is not shown. */
static bool has_columns(const struct cs_location *at)
{
    return at->column >= 0 && at->end_column > 0;
}

static void say_place(const struct out *out, const struct cs_location *at)
{
    say(out, BOLD, "%s", *at->file ? at->file : "(unknown place)");
    if (at->line)
        say(out, BOLD, ":%lld", (long long)at->line);
    if (at->line && has_columns(at))
        say(out, BOLD, ":%lld", (long long)at->column + 1);
    if (!at->line && *at->function)
        say(out, BOLD, " in %s", at->function);
}

static void say_operators(const struct out *out, const struct cs_location *at)
{
    for (size_t i = 0; i < at->operators.count; i++)
        say(out, PLAIN, "%s%s", i ? " > " : "", at->operators.items[i]);
    if (*at->autograd_node)
        say(out, PLAIN, "%sin the backward pass, %s", at->operators.count ? ", " : "", at->autograd_node);
}

/* How many bytes of the line to underline, and from where: the columns that are known, else the statement on it. */
static void underlined(const struct cs_location *at, const char *line, size_t number, size_t *from, size_t *to)
{
    size_t length = strlen(line);
    bool first = number == 0, last = at->line + (int64_t)number >= at->end_line;
    *from = strspn(line, " \t");
    *to = length;
    if (!has_columns(at))
        return;
    if (first && (size_t)at->column < length)
        *from = (size_t)at->column;
    if (last && (size_t)at->end_column < length)
        *to = (size_t)at->end_column;
}

/* Carets under [from, to), aligned whatever the line holds: tabs stay tabs, a multi-byte character counts once. */
static void say_carets(const struct out *out, const char *line, size_t from, size_t to)
{
    char mark[2] = " ";
    for (size_t i = 0; i < to && line[i]; i++) {
        if (((unsigned char)line[i] & 0xc0) == 0x80)
            continue;
        mark[0] = i >= from ? '^' : line[i] == '\t' ? '\t' : ' ';
        say(out, i >= from ? WARNING : PLAIN, "%s", mark);
    }
}

static int digits(int64_t number)
{
    int count = 1;
    for (; number >= 10; number /= 10)
        count++;
    return count;
}

static int gutter_of(const struct cs_finding *finding)
{
    return finding->source.count ? digits(finding->at.line + (int64_t)finding->source.count - 1) : 1;
}

static void say_source(const struct out *out, const struct cs_finding *finding, int gutter)
{
    if (finding->source.count)
        say(out, PLACE, "%*s |\n", gutter, "");
    for (size_t i = 0; i < finding->source.count; i++) {
        const char *line = finding->source.items[i];
        size_t from, to;
        say(out, PLACE, "%*lld | ", gutter, (long long)finding->at.line + (long long)i);
        say(out, PLAIN, "%s\n", line);
        underlined(&finding->at, line, i, &from, &to);
        if (from >= to)
            continue;
        say(out, PLACE, "%*s | ", gutter, "");
        say_carets(out, line, from, to);
        fputc('\n', out->stream);
    }
}

/* ---- one finding ---- */

static void say_note(const struct out *out, int gutter, const char *label)
{
    say(out, PLACE, "%*s = ", gutter, "");
    say(out, BOLD, "%s: ", label);
}

static void say_time(const struct out *out, const struct cs_finding *finding)
{
    char time[CS_NUMBER_MAX];
    if (!finding->gpu_ns) {
        say(out, PLAIN, ", GPU time not known");
        return;
    }
    say(out, PLAIN, ", %s of GPU time", cs_number_time(finding->gpu_ns, time));
    if (!finding->copies_measured)
        say(out, PLAIN, " (estimated from the memory's bandwidth)");
    else if (finding->copies_measured < finding->copies)
        say(out, PLAIN, " (scaled up from %llu measured %s)", (unsigned long long)finding->copies_measured,
            plural(finding->copies_measured, "copy", "copies"));
    else
        say(out, PLAIN, " (measured)");
}

static void say_cost(const struct out *out, const struct cs_finding *finding, int gutter)
{
    char copies[CS_NUMBER_MAX];
    say_note(out, gutter, "cost");
    say(out, PLAIN, "%s %s, ", cs_number_exact(finding->copies, copies), plural(finding->copies, "copy", "copies"));
    say_bytes(out, finding->bytes);
    say_time(out, finding);
    fputc('\n', out->stream);
}

static void say_pending(const struct out *out, const struct cs_finding *finding, int gutter)
{
    if (!finding->pending)
        return;
    say_note(out, gutter, "note");
    say(out, PLAIN, "%llu of the %llu copies %s still undecided when the program ended; all others were redundant\n",
        (unsigned long long)finding->pending, (unsigned long long)finding->copies,
        plural(finding->pending, "was", "were"));
}

static void say_advice(const struct out *out, const struct cs_finding *finding, int gutter)
{
    say(out, PLACE, "%*s = ", gutter, "");
    say(out, HELP, "write instead: %s\n", *finding->rewrite ? finding->rewrite : finding->advice);
    if (!*finding->rewrite)
        return;
    say_note(out, gutter, "help");
    say(out, PLAIN, "%s\n", finding->advice);
}

/* The callers in the user's own code; library frames are folded. */
static void say_callers(const struct out *out, const struct cs_finding *finding, int gutter)
{
    enum { SHOWN = 8 };
    size_t shown = 0;
    bool at_site = false;
    for (size_t i = 0; i < finding->stack.count && shown < SHOWN; i++) {
        const struct cs_report_frame *frame = &finding->stack.items[i];
        if (!frame->user || !frame->line)
            continue;
        if (!at_site && frame->line == finding->at.line && !strcmp(frame->file, finding->at.file)) {
            at_site = true;
            continue;
        }
        say_note(out, gutter, "called from");
        say(out, PLAIN, "%s:%lld%s%s\n", frame->file, (long long)frame->line, *frame->function ? " in " : "",
            frame->function);
        shown++;
    }
}

static void say_finding(const struct out *out, const struct cs_finding *finding)
{
    int gutter = gutter_of(finding);
    say(out, WARNING, "\n%s", finding->headline);
    say(out, PLAIN, " [%s, %s]\n", finding->reason, finding->confidence);
    say(out, PLACE, "%*s--> ", gutter, "");
    say_place(out, &finding->at);
    if (*finding->at.function)
        say(out, PLAIN, "%s%s", finding->at.line ? ", in " : "", finding->at.line ? finding->at.function : "");
    fputc('\n', out->stream);
    say_source(out, finding, gutter);
    if (finding->at.operators.count || *finding->at.autograd_node) {
        say_note(out, gutter, "operators");
        say_operators(out, &finding->at);
        fputc('\n', out->stream);
    }
    say_cost(out, finding, gutter);
    for (size_t i = 0; i < finding->evidence.count; i++) {
        say_note(out, gutter, "why");
        say(out, PLAIN, "%s\n", finding->evidence.items[i]);
    }
    say_pending(out, finding, gutter);
    say_advice(out, finding, gutter);
    say_callers(out, finding, gutter);
}

static void say_findings(const struct out *out)
{
    for (size_t i = 0; i < out->report->findings.count; i++)
        if (out->all || strcmp(out->report->findings.items[i].confidence, "possible"))
            say_finding(out, &out->report->findings.items[i]);
}

/* ---- what else was seen ---- */

static void say_at(const struct out *out, const struct cs_location *at)
{
    say_place(out, at);
    if (!at->operators.count && !*at->autograd_node)
        return;
    say(out, PLAIN, " (");
    say_operators(out, at);
    say(out, PLAIN, ")");
}

static void say_copy_site(const struct out *out, const struct cs_copy_site *site)
{
    char number[CS_NUMBER_MAX];
    fputs("  ", out->stream);
    say_at(out, &site->at);
    say(out, PLAIN, ": %s %s, ", cs_number_exact(site->copies, number), plural(site->copies, "copy", "copies"));
    say_bytes(out, site->bytes);
    if (site->captured)
        say(out, PLAIN, ", %s more recorded into graphs", cs_number_exact(site->captured, number));
    say(out, PLAIN, ": %s: %s\n", site->verdict, site->reason);
}

static void say_copy_sites(const struct out *out)
{
    const struct cs_copy_sites *sites = &out->report->copy_sites;
    size_t shown = 0;
    for (size_t i = 0; i < sites->count; i++) {
        if (!strcmp(sites->items[i].verdict, "redundant"))
            continue;
        if (!shown++)
            say(out, BOLD, "\nother device-to-device copies:\n");
        say_copy_site(out, &sites->items[i]);
    }
}

static void say_remarks(const struct out *out)
{
    for (size_t i = 0; i < out->report->remarks.count; i++) {
        const struct cs_remark *remark = &out->report->remarks.items[i];
        if (!i)
            say(out, BOLD, "\nremarks:\n");
        fputs("  ", out->stream);
        say_at(out, &remark->at);
        say(out, PLAIN, ": %s [%s]\n", remark->text, remark->kind);
    }
}

/* ---- copyspy itself ---- */

static bool anything_unseen(const struct cs_report *report)
{
    const struct cs_report_unseen *unseen = &report->unseen;
    return unseen->lost_events || unseen->blind_no_cupti || unseen->blind_cupti_lent || unseen->blind_at_end ||
           unseen->graph_launches || unseen->stray_accesses || unseen->unreadable_modules || unseen->kernels.count ||
           unseen->unnamed_launches;
}

static void __attribute__((format(printf, 3, 4)))
say_count(const struct out *out, uint64_t count, const char *format, ...)
{
    char number[CS_NUMBER_MAX];
    va_list arguments;
    if (!count)
        return;
    say(out, PLAIN, "  %s ", cs_number_exact(count, number));
    va_start(arguments, format);
    vfprintf(out->stream, format, arguments);
    va_end(arguments);
    fputc('\n', out->stream);
}

static void say_unknown_kernels(const struct out *out)
{
    enum { SHOWN = 10, NAME_SHOWN = 100 }; /* template arguments fill pages; the file has the whole name */
    const struct cs_unknown_kernels *kernels = &out->report->unseen.kernels;
    say_count(out, kernels->count, "%s not understood (taken to read and write everything):",
              plural(kernels->count, "kernel was", "kernels were"));
    size_t shown = out->all || kernels->count <= SHOWN ? kernels->count : SHOWN;
    for (size_t i = 0; i < shown; i++)
        say(out, PLAIN, "    %.*s%s, %llu %s: %s\n", NAME_SHOWN, kernels->items[i].name,
            strlen(kernels->items[i].name) > NAME_SHOWN ? "..." : "", (unsigned long long)kernels->items[i].launches,
            plural(kernels->items[i].launches, "launch", "launches"), kernels->items[i].why);
    if (shown < kernels->count)
        say(out, PLAIN, "    and %zu more\n", kernels->count - shown);
}

static void say_unseen(const struct out *out)
{
    const struct cs_report_unseen *unseen = &out->report->unseen;
    say_count(out, unseen->lost_events, "%s lost; what was alive then counts as touched",
              plural(unseen->lost_events, "event was", "events were"));
    if (unseen->blind_no_cupti)
        say(out, PLAIN, "  CUPTI could not be used: launches by libraries went unseen, so little could be judged\n");
    say_count(out, unseen->blind_cupti_lent, "%s in which another profiler had CUPTI and launches may have gone unseen",
              plural(unseen->blind_cupti_lent, "period", "periods"));
    say_unknown_kernels(out);
    say_count(out, unseen->unnamed_launches,
              "%s of kernels whose name was not seen (taken to read and write everything)",
              plural(unseen->unnamed_launches, "launch", "launches"));
    say_count(out, unseen->graph_launches, "%s: taken to touch everything their capture could reach",
              plural(unseen->graph_launches, "graph launch", "graph launches"));
    say_count(out, unseen->graph_launches_not_followed, "of them could not be followed: taken to touch everything");
    say_count(out, unseen->stray_accesses, "%s to an allocation outside all known blocks",
              plural(unseen->stray_accesses, "access", "accesses"));
    say_count(out, unseen->unknown_addresses, "%s whose allocation was not seen, ignored",
              plural(unseen->unknown_addresses, "address", "addresses"));
    say_count(out, unseen->unreadable_modules, "code %s not be read",
              plural(unseen->unreadable_modules, "module could", "modules could"));
}

static void say_version(const struct out *out, const char *what, const char *version)
{
    if (*version)
        say(out, PLAIN, ", %s %s", what, version);
}

static void say_program(const struct out *out)
{
    const struct cs_report *report = out->report;
    say(out, PLAIN, "  copyspy %s", report->versions.copyspy);
    say_version(out, "CUDA runtime", report->versions.runtime);
    say_version(out, "driver", report->versions.driver);
    say_version(out, "CUPTI", report->versions.cupti);
    say_version(out, "Python", report->versions.python);
    for (size_t i = 0; i < report->program.devices.count; i++)
        say(out, PLAIN, ", %s", report->program.devices.items[i]);
    say(out, PLAIN, "%s\n", report->program.stand_in ? ", on the stand-in runtime, not on a GPU" : "");
    if (*report->program.command)
        say(out, PLAIN, "  process %llu: %s\n", (unsigned long long)report->program.pid, report->program.command);
}

static void say_self(const struct out *out)
{
    const struct cs_report *report = out->report;
    char number[CS_NUMBER_MAX];
    if (!out->all && !report->findings.count && !anything_unseen(report))
        return;
    say(out, BOLD, "\ncopyspy itself:\n");
    say(out, PLAIN, "  %s events", cs_number_exact(report->self.events, number));
    say(out, PLAIN, ", %s %s", cs_number_exact(report->self.kernels, number),
        plural(report->self.kernels, "kernel", "kernels"));
    if (report->self.code_bytes)
        say(out, PLAIN, ", %s of GPU code", cs_number_bytes(report->self.code_bytes, number));
    fputc('\n', out->stream);
    say(out, PLAIN, "  %s device-to-device %s seen, ", cs_number_exact(report->totals.copies, number),
        plural(report->totals.copies, "copy", "copies"));
    say_bytes(out, report->totals.bytes);
    fputc('\n', out->stream);
    say_count(out, report->totals.captured_copies, "more %s recorded into graphs",
              plural(report->totals.captured_copies, "was", "were"));
    say_count(out, report->self.copies_without_time, "of the copies were not timed by the device");
    say_unseen(out);
    say_program(out);
}

void cs_report_write_text(const struct cs_report *report, const struct cs_render_options *options, FILE *stream)
{
    struct out out = {stream, report, options && options->colour, options && options->all};
    say_summary(&out);
    say_findings(&out);
    if (out.all)
        say_copy_sites(&out);
    say_remarks(&out);
    say_self(&out);
}
