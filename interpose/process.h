/*
 * process.h - who and what this process is: for the report's head and its file name.
 */
#ifndef COPYSPY_INTERPOSE_PROCESS_H
#define COPYSPY_INTERPOSE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/config.h"
#include "analysis/event.h"

/* Gives `take` the CS_EVENT_PROCESS record. Analysis thread. */
void cs_process_describe(void (*take)(void *context, const struct cs_event *event), void *context);

/*
 * COPYSPY_REPORT with %p replaced by the process id and %% by %. Returns false, and "" in path, when none is set; when the
 * result is too long, the path is cut.
 */
bool cs_process_report_path(const struct cs_config *config, char *path, size_t size);

#endif
