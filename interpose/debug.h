/*
 * debug.h - what copyspy says of its own work when COPYSPY_DEBUG asks for it. Levels: 1 what was set up or given up, 2
 * what happens now and then, 3 everything. Cold paths only. Any thread, not in signal handlers.
 */
#ifndef COPYSPY_INTERPOSE_DEBUG_H
#define COPYSPY_INTERPOSE_DEBUG_H

#include "analysis/config.h"

/* Prints "copyspy <domain>: <message>\n" on standard error if the domain's level is at least `level`. Keeps errno. */
void cs_debug(enum cs_debug_domain domain, int level, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
