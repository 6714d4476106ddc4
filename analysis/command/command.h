/*
 * command.h - the `copyspy` program: one file a subcommand, one row a subcommand in main.c.
 *
 * Threads: one.
 */
#ifndef COPYSPY_ANALYSIS_COMMAND_COMMAND_H
#define COPYSPY_ANALYSIS_COMMAND_COMMAND_H

#ifndef COPYSPY_VERSION
#define COPYSPY_VERSION "0.1.0"
#endif

/* Exit status after a mistake of the caller or a file that cannot be read. */
#define CS_EXIT_FAILURE 2

/* arguments[0] is the subcommand's name. Each returns the exit status. */
int cs_command_report(int count, char **arguments);
int cs_command_kernels(int count, char **arguments);
int cs_command_help(int count, char **arguments);

/* Prints "copyspy: <message>" on standard error and returns CS_EXIT_FAILURE. */
int cs_command_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
