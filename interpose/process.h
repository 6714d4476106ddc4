/*
 * process.h - who and what this process is: for the report's head.
 */
#ifndef COPYSPY_INTERPOSE_PROCESS_H
#define COPYSPY_INTERPOSE_PROCESS_H

#include "analysis/event.h"

/* Gives `take` the CS_EVENT_PROCESS record. Analysis thread. */
void cs_process_describe(void (*take)(void *context, const struct cs_event *event), void *context);

#endif
