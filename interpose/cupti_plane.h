/*
 * cupti_plane.h - our use of CUPTI: driver callbacks and code images (the timing of copies: cupti_timing.h).
 *
 * CUPTI has one subscriber a process. It is ours from cuInit (the driver calls InitializeInjection) until the program
 * wants it for itself; then it is given up at once and the loss of sight is recorded.
 */
#ifndef COPYSPY_INTERPOSE_CUPTI_PLANE_H
#define COPYSPY_INTERPOSE_CUPTI_PLANE_H

#include <stdbool.h>
#include <stdint.h>

/* True while driver callbacks reach us. */
bool cs_cupti_active(void);

/* Why not, as an enum cs_blind_reason; meaningful while cs_cupti_active() is false. */
uint32_t cs_cupti_blind_reason(void);

/* CUPTI's version number, 0 when it is not loaded. */
uint32_t cs_cupti_version(void);

#endif
