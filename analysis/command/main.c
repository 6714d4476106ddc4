/*
 * main.c - picks the subcommand. One thread.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/command/command.h"

static const struct {
    const char *name;
    int (*run)(int count, char **arguments);
} commands[] = {
    {"report", cs_command_report},
    {"kernels", cs_command_kernels},
    {"help", cs_command_help},
};

int cs_command_fail(const char *format, ...)
{
    va_list arguments;
    fputs("copyspy: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return CS_EXIT_FAILURE;
}

int main(int count, char **arguments)
{
    char *help[] = {"help", NULL};
    if (count < 2)
        return cs_command_fail("no command given; expected report, kernels or help, see copyspy --help");
    if (!strcmp(arguments[1], "--help") || !strcmp(arguments[1], "-h"))
        return cs_command_help(1, help);
    if (!strcmp(arguments[1], "--version")) {
        puts("copyspy " COPYSPY_VERSION);
        return 0;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (!strcmp(arguments[1], commands[i].name))
            return commands[i].run(count - 1, arguments + 1);
    return cs_command_fail("%s: no such command; expected report, kernels or help, see copyspy --help", arguments[1]);
}
