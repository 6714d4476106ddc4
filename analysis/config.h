/*
 * config.h - the COPYSPY_* variables, from the one table in config.def.
 *
 * Pure: the values come from a getter, warnings go to a callback, nothing is allocated, libc only (the file is compiled
 * into libcopyspy.so as well as into the analysis).
 *
 * Threads: no state; any thread.
 */
#ifndef COPYSPY_ANALYSIS_CONFIG_H
#define COPYSPY_ANALYSIS_CONFIG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CS_CONFIG_PATH_MAX 4096
#define CS_CONFIG_MESSAGE_MAX 512

enum cs_colour { CS_COLOUR_AUTO, CS_COLOUR_ALWAYS, CS_COLOUR_NEVER };
enum cs_show { CS_SHOW_REDUNDANT, CS_SHOW_ALL };
enum cs_debug_domain {
#define CS_DOMAIN(name) CS_DEBUG_##name,
#include "analysis/config.def"
#undef CS_DOMAIN
    CS_DEBUG_DOMAIN_COUNT
};

struct cs_config {
    char report[CS_CONFIG_PATH_MAX];      /* as given, %p not yet replaced; "" means standard error */
    uint32_t colour;                      /* enum cs_colour */
    uint32_t show;                        /* enum cs_show */
    uint32_t enable, cupti;               /* 0 or 1 */
    uint32_t ring_kb;                     /* kilobytes */
    uint8_t debug[CS_DEBUG_DOMAIN_COUNT]; /* level by enum cs_debug_domain; 0 is silent */
};

/* Returns the value of a variable, or NULL when it is not set. `context` is the one given to cs_config_read. */
typedef const char *cs_config_getter(void *context, const char *name);

/* Takes one line without a newline, valid during the call. */
typedef void cs_config_warner(void *context, const char *message);

/*
 * Fills *config. A variable that is not set or empty has its default. A bad value keeps the default and gives one
 * warning that names the variable, the value and what is accepted. `warn` may be NULL.
 */
void cs_config_read(struct cs_config *config, cs_config_getter *get, cs_config_warner *warn, void *context);

/* Warns of each name in `environment` ("NAME=value", NULL-terminated) that starts with COPYSPY_ and is not in the
 * table, with the nearest name that is. */
void cs_config_check_names(char *const *environment, cs_config_warner *warn, void *context);

/* The report's path with %p replaced by pid and %% by %. Returns 0, or -1 when it does not fit. "" stays "". */
int cs_config_report_path(const struct cs_config *config, unsigned long pid, char *path, size_t size);

/* Prints the table: name, what is accepted, default, what it does. */
void cs_config_print_help(FILE *stream);

#endif
