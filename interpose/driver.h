/*
 * driver.h - the driver plane: what CUPTI's driver callbacks tell becomes events. Everything about CUPTI itself is in
 * cupti_plane.h; here is only the dispatch by callback id.
 */
#ifndef COPYSPY_INTERPOSE_DRIVER_H
#define COPYSPY_INTERPOSE_DRIVER_H

#include <cupti.h>
#include <stdbool.h>

/* Calls `enable` with each callback id of driver_api.def. */
void cs_driver_each(void (*enable)(void *context, CUpti_CallbackId id), void *context);

/* One driver callback, enter or exit, on the program's thread. */
void cs_driver_callback(CUpti_CallbackId id, const CUpti_CallbackData *data);

#endif
