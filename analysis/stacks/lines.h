/*
 * lines.h - source lines and inlined calls from DWARF.
 *
 * Threads: no state.
 */
#ifndef COPYSPY_ANALYSIS_STACKS_LINES_H
#define COPYSPY_ANALYSIS_STACKS_LINES_H

#include <libelf.h>

#include "analysis/stacks/symbols.h"

/*
 * Sets file, line and column of each symbol's frames, adding one frame for each inlined call, innermost first.
 * Functions are named where DWARF names them. Does nothing for a file without .debug_line.
 */
void cs_lines_find(Elf *elf, const struct cs_symbols_request *request, struct cs_symbol *symbols, size_t count);

#endif
