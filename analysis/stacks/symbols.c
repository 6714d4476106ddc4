/*
 * symbols.c - see symbols.h: the ELF symbol tables; lines.c reads DWARF.
 */
#include "analysis/stacks/symbols.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/stacks/lines.h"

/* The best symbol seen so far for one address. */
struct candidate {
    uint64_t size; /* 0: none */
    int rank;
    const char *name;
};

static struct cs_source unknown(void)
{
    return (struct cs_source){.function = "", .file = "", .line = 0, .column = -1};
}

/* The span of the file's loaded segments, as the loader computes it. */
static bool has_shape(Elf *elf, uint64_t start, uint64_t end)
{
    size_t count;
    uint64_t low = UINT64_MAX, high = 0;
    if (elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD)
            continue;
        low = segment.p_vaddr < low ? segment.p_vaddr : low;
        high = segment.p_vaddr + segment.p_memsz > high ? segment.p_vaddr + segment.p_memsz : high;
    }
    return low == start && high == end;
}

size_t cs_symbols_at_least(const struct cs_symbol *symbols, size_t count, uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (symbols[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of several names for one address: the tightest, then the exported before the weak before the local. */
static int rank_of(const GElf_Sym *symbol)
{
    int binding = GELF_ST_BIND(symbol->st_info);
    return binding == STB_GLOBAL ? 2 : binding == STB_WEAK ? 1 : 0;
}

static void consider(const GElf_Sym *symbol, const char *names, size_t names_size, const struct cs_symbol *symbols,
                     struct candidate *best, size_t count)
{
    int type = GELF_ST_TYPE(symbol->st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF || symbol->st_size == 0 ||
        symbol->st_name >= names_size)
        return;
    size_t i = cs_symbols_at_least(symbols, count, symbol->st_value);
    for (; i < count && symbols[i].address - symbol->st_value < symbol->st_size; i++) {
        int rank = rank_of(symbol);
        bool better = best[i].size == 0 || symbol->st_size < best[i].size ||
                      (symbol->st_size == best[i].size && rank > best[i].rank);
        if (better)
            best[i] = (struct candidate){symbol->st_size, rank, names + symbol->st_name};
    }
}

/* Names are used only if the string table ends with a NUL. */
static void scan_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, const struct cs_symbol *symbols,
                       struct candidate *best, size_t count)
{
    Elf_Scn *linked = elf_getscn(elf, header->sh_link);
    Elf_Data *table = elf_getdata(section, NULL), *names = linked ? elf_getdata(linked, NULL) : NULL;
    if (!table || !names || !names->d_buf || names->d_size == 0 || ((char *)names->d_buf)[names->d_size - 1] != '\0')
        return;
    size_t entry = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
    if (entry == 0)
        return;
    for (size_t i = 0; i < table->d_size / entry; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(table, (int)i, &symbol))
            consider(&symbol, names->d_buf, names->d_size, symbols, best, count);
    }
}

static void scan_tables(Elf *elf, const struct cs_symbol *symbols, struct candidate *best, size_t count)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
            scan_table(elf, section, &header, symbols, best, count);
    }
}

static void name_frames(const struct cs_symbols_request *request, struct cs_symbol *symbol,
                        const struct candidate *candidate)
{
    char name[2048];
    if (candidate->size == 0)
        return;
    size_t length = cs_name_readable(candidate->name, request->demangle, name, sizeof name);
    /* The symbol names the function that the code was emitted in: the outermost of its inlined frames. */
    symbol->frames[symbol->count - 1].function = cs_texts_add(request->texts, name, length);
}

static void find_in(Elf *elf, const struct cs_symbols_request *request, struct cs_symbol *symbols, size_t count)
{
    struct candidate *best = calloc(count, sizeof *best);
    if (!best || !has_shape(elf, request->start, request->end)) {
        free(best);
        return;
    }
    if (request->lines)
        cs_lines_find(elf, request, symbols, count);
    scan_tables(elf, symbols, best, count);
    for (size_t i = 0; i < count; i++)
        name_frames(request, &symbols[i], &best[i]);
    free(best);
}

void cs_symbols_find(const struct cs_symbols_request *request, struct cs_symbol *symbols, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        symbols[i].count = 1;
        symbols[i].frames[0] = unknown();
    }
    elf_version(EV_CURRENT);
    int file = open(request->path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    Elf *elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF)
        find_in(elf, request, symbols, count);
    elf_end(elf);
    close(file);
}
