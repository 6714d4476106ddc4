/*
 * access.h - applies reads and writes to objects, and tells the ledger of each.
 *
 * Threads: the analysis thread.
 */
#ifndef COPYSPY_ANALYSIS_OBJECTS_ACCESS_H
#define COPYSPY_ANALYSIS_OBJECTS_ACCESS_H

#include "analysis/objects/object.h"
#include "analysis/objects/span.h"

struct cs_analysis;

/* A read of the bytes of `span`, or (NULL) of any. */
void cs_access_read(struct cs_analysis *analysis, struct cs_object *object, const struct cs_span *span,
                    const struct cs_actor *actor);
/* A write by a kernel: anywhere in the object. */
void cs_access_write(struct cs_analysis *analysis, struct cs_object *object, const struct cs_actor *actor);
/* A write of exactly the bytes of `span` by a copy or fill; `source` is the object they come from, NULL when there is
 * none. */
void cs_access_overwrite(struct cs_analysis *analysis, struct cs_object *object, const struct cs_span *span,
                         struct cs_object *source, const struct cs_actor *actor);
/* Something touched a pooled allocation outside all blocks, or unknown parts of it. */
void cs_access_stray(struct cs_analysis *analysis, struct cs_object *allocation);

/* Calls `each` for all objects that hold bytes of [low, high), the finest ones; a pooled allocation only where bytes
 * lie in none of its blocks. Returns how many. */
size_t cs_access_each(struct cs_analysis *analysis, uint64_t low, uint64_t high,
                      void (*each)(void *context, struct cs_object *object), void *context);

#endif
