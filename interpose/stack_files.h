/*
 * stack_files.h - tells the analysis which ELF file is mapped where, each file the first time one of its addresses is
 * seen.
 *
 * Threads: any; called only for stacks that are new. Holds no lock of ours while the loader's is held.
 */
#ifndef COPYSPY_INTERPOSE_STACK_FILES_H
#define COPYSPY_INTERPOSE_STACK_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/stack_table.h"

/* The address range of the loaded file that holds `address`; false when there is none. Takes the loader's lock. */
bool cs_files_range(uint64_t address, uint64_t *start, uint64_t *end);

/*
 * Emits CS_EVENT_OBJECT_FILE for every file that holds one of the addresses and has not been defined since a library
 * was last closed: of two definitions for one address the later holds.
 */
void cs_files_define(struct cs_table *files, const uint64_t *addresses, size_t count);

#endif
