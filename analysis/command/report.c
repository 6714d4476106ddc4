/*
 * report.c - `copyspy report`: prints reports again from their JSON files. One thread.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/command/command.h"
#include "analysis/report/report.h"

struct request {
    enum cs_format format;
    const char *colour;
    struct cs_render_options options;
};

enum { OPTION_TEXT = 256, OPTION_JSON, OPTION_ALL, OPTION_COLOUR };

static const struct option options[] = {
    {"text", no_argument, NULL, OPTION_TEXT},
    {"json", no_argument, NULL, OPTION_JSON},
    {"all", no_argument, NULL, OPTION_ALL},
    {"color", required_argument, NULL, OPTION_COLOUR},
    {NULL, 0, NULL, 0},
};

static int parse_colour(struct request *request, const char *value)
{
    if (strcmp(value, "auto") && strcmp(value, "always") && strcmp(value, "never"))
        return cs_command_fail("report: --color=%s: expected auto, always or never", value);
    request->options.colour = !strcmp(value, "always") || (!strcmp(value, "auto") && isatty(STDOUT_FILENO));
    return 0;
}

static int parse(struct request *request, int count, char **arguments)
{
    int option, status;
    opterr = 0;
    optind = 1;
    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) {
        switch (option) {
        case OPTION_TEXT:
            request->format = CS_FORMAT_TEXT;
            break;
        case OPTION_JSON:
            request->format = CS_FORMAT_JSON;
            break;
        case OPTION_ALL:
            request->options.all = true;
            break;
        case OPTION_COLOUR:
            if ((status = parse_colour(request, optarg)))
                return status;
            break;
        default:
            return cs_command_fail("report: %s: expected --text, --json, --all or --color=auto|always|never",
                                   arguments[optind - 1]);
        }
    }
    return 0;
}

static int print(const struct request *request, const char *path)
{
    struct cs_report *report;
    struct cs_error error;
    if (cs_report_load(path, &report, &error))
        return cs_command_fail("report: %s", error.message);
    int failed = cs_report_write(report, request->format, &request->options, stdout, &error);
    cs_report_free(report);
    return failed ? cs_command_fail("report: standard output: %s", error.message) : 0;
}

int cs_command_report(int count, char **arguments)
{
    struct request request = {.format = CS_FORMAT_TEXT};
    parse_colour(&request, "auto");
    char *help[] = {"help", NULL};
    if (count == 2 && !strcmp(arguments[1], "--help"))
        return cs_command_help(1, help);
    int status = parse(&request, count, arguments);
    if (status)
        return status;
    if (optind == count)
        return cs_command_fail("report: no file given; expected one or more reports written as JSON");
    for (int i = optind; i < count; i++) {
        if (count - optind > 1 && request.format == CS_FORMAT_TEXT)
            printf("%s%s:\n", i > optind ? "\n" : "", arguments[i]);
        int failed = print(&request, arguments[i]);
        status = failed ? failed : status;
    }
    return status;
}
