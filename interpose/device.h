/*
 * device.h - which device a context belongs to, and what the devices are.
 */
#ifndef COPYSPY_INTERPOSE_DEVICE_H
#define COPYSPY_INTERPOSE_DEVICE_H

#include <cuda.h>
#include <stdint.h>

#include "analysis/event.h"

/* The device ordinal of a context; CS_DEVICE_UNKNOWN when it cannot be told. Any thread, also in CUPTI callbacks. */
uint32_t cs_device_of(CUcontext context);

/* Gives `take` one CS_EVENT_DEVICE record for each device. After cuInit; makes no context. Analysis thread. */
void cs_device_each(void (*take)(void *context, const struct cs_event *event), void *context);

#endif
