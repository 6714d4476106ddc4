/*
 * code.h - the images of the GPU code modules that were loaded, kept out of memory until a launched kernel is looked
 * up.
 *
 * An image is valid only inside CUPTI's callback, and a training run loads over 100 MB of them, so they go to an
 * unnamed temporary file and are mapped again when the analysis asks.
 */
#ifndef COPYSPY_INTERPOSE_CODE_H
#define COPYSPY_INTERPOSE_CODE_H

#include <stddef.h>
#include <stdint.h>

/* Stores an image and emits CS_EVENT_CODE_LOADED. Any thread. */
void cs_code_loaded(const void *image, size_t size);

/* For struct cs_host. Analysis thread. */
int cs_code_map(void *context, uint32_t id, const void **image, size_t *size);
void cs_code_unmap(void *context, uint32_t id, const void *image, size_t size);

/* Bytes of all images so far. */
uint64_t cs_code_bytes(void);

#endif
