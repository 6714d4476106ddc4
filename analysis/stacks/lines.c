/*
 * lines.c - see lines.h. Compilation units are found by their own address ranges, which every compiler writes;
 * .debug_aranges is left out by some.
 */
#include "analysis/stacks/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

static bool has_section(Elf *elf, const char *wanted)
{
    size_t names;
    Elf_Scn *section = NULL;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && strcmp(name, wanted) == 0)
            return true;
    }
    return false;
}

static const char *add_text(const struct cs_symbols_request *request, const char *text)
{
    return text ? cs_texts_add(request->texts, text, strlen(text)) : "";
}

/* The name of a subprogram or an inlined call of one; its linkage name tells the scope too. */
static const char *function_of(const struct cs_symbols_request *request, Dwarf_Die *scope)
{
    char name[2048];
    Dwarf_Attribute attribute;
    const char *linkage = NULL;
    if (dwarf_attr_integrate(scope, DW_AT_linkage_name, &attribute))
        linkage = dwarf_formstring(&attribute);
    if (!linkage)
        return add_text(request, dwarf_diename(scope));
    size_t length = cs_name_readable(linkage, request->demangle, name, sizeof name);
    return cs_texts_add(request->texts, name, length);
}

/* DWARF counts columns from 1, 0 is unknown. */
static int32_t column_of(Dwarf_Word column)
{
    return column > 0 && column < INT32_MAX ? (int32_t)column - 1 : -1;
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, &value) == 0 ? value : 0;
}

/* Where an inlined call was written. */
static struct cs_source call_site(const struct cs_symbols_request *request, Dwarf_Die *unit, Dwarf_Die *inlined)
{
    Dwarf_Files *files;
    size_t count;
    struct cs_source source = {.function = "", .file = ""};
    Dwarf_Word file = number_of(inlined, DW_AT_call_file);
    if (dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count)
        source.file = add_text(request, dwarf_filesrc(files, file, NULL, NULL));
    source.line = (int32_t)number_of(inlined, DW_AT_call_line);
    source.column = column_of(number_of(inlined, DW_AT_call_column));
    return source;
}

static struct cs_source line_of(const struct cs_symbols_request *request, Dwarf_Die *unit, uint64_t address)
{
    struct cs_source source = {.function = "", .file = "", .column = -1};
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    int number = 0, column = 0;
    if (!line || dwarf_lineno(line, &number) != 0)
        return source;
    dwarf_linecol(line, &column);
    source.file = add_text(request, dwarf_linesrc(line, NULL, NULL));
    source.line = number;
    source.column = column_of((Dwarf_Word)(column > 0 ? column : 0));
    return source;
}

/*
 * The scopes around an address, innermost first, as they lie in the code; NULL when there are none. dwarf_getscopes
 * goes on from an inlined call to where that function was defined, so only its first scope is of use.
 */
static Dwarf_Die *scopes_of(Dwarf_Die *unit, uint64_t address, int *count)
{
    Dwarf_Die *innermost = NULL, *scopes = NULL;
    *count = 0;
    if (dwarf_getscopes(unit, address, &innermost) > 0)
        *count = dwarf_getscopes_die(innermost, &scopes);
    free(innermost);
    return scopes;
}

/* Fills the frames of one address, one for each function whose code it is in. */
static void fill(const struct cs_symbols_request *request, Dwarf_Die *unit, struct cs_symbol *symbol)
{
    int count;
    Dwarf_Die *scopes = scopes_of(unit, symbol->address, &count);
    symbol->count = 1;
    symbol->frames[0] = line_of(request, unit, symbol->address);
    for (int i = 0; i < count; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        symbol->frames[symbol->count - 1].function = function_of(request, &scopes[i]);
        if (tag == DW_TAG_subprogram || symbol->count == CS_INLINE_MAX)
            break;
        symbol->frames[symbol->count++] = call_site(request, unit, &scopes[i]);
    }
    free(scopes);
}

/* One look at a unit's ranges serves all addresses: asking for each would take seconds in a program of thousands of
 * units. */
static void fill_unit(const struct cs_symbols_request *request, Dwarf_Die *unit, struct cs_symbol *symbols,
                      size_t count)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t next = 0;
    while ((next = dwarf_ranges(unit, next, &base, &start, &end)) > 0) {
        size_t i = cs_symbols_at_least(symbols, count, start);
        for (; i < count && symbols[i].address < end; i++) {
            if (symbols[i].frames[0].line == 0)
                fill(request, unit, &symbols[i]);
        }
    }
}

void cs_lines_find(Elf *elf, const struct cs_symbols_request *request, struct cs_symbol *symbols, size_t count)
{
    if (!has_section(elf, ".debug_line"))
        return;
    Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    if (!dwarf)
        return;
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, &split) == 0)
        fill_unit(request, &die, symbols, count);
    dwarf_end(dwarf);
}
