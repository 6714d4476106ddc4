/*
 * memory.c - what instructions do through addresses: which address, what is read, what is stored. One thread a pass.
 *
 * Contents of global memory are not followed: what is loaded from there is "loaded". Local memory is followed word by
 * word where the offset from the stack pointer is known; shared memory is one place.
 */
#include "analysis/sass/flow.h"

#include <stdlib.h>

enum { BANK_PARAMETERS = 0, BANK_LITERALS = 2, BANK_ADDRESSES = 4 };

bool cs_flow_room(struct cs_flow *flow, void **array, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return true;
    size_t larger = *room ? *room * 2 : 32;
    void *grown = realloc(*array, larger * size);
    if (!grown) {
        flow->failed = true;
        return false;
    }
    *array = grown;
    *room = larger;
    return true;
}

/* ---- constant banks ---- */

/* Words of bank 0 before the parameters that the driver fills with something that matters here. */
static const struct {
    uint32_t from, to; /* architectures */
    uint32_t offset;
    uint8_t kind;
    uint16_t knowledge;
} driver_words[] = {
    {0, 99, 0x18, CS_ATOM_WINDOW, CS_KNOW_NOTHING}, /* shared window */
    {0, 99, 0x1c, CS_ATOM_WINDOW, CS_KNOW_NOTHING},
    {0, 99, 0x20, CS_ATOM_WINDOW, CS_KNOW_NOTHING}, /* local window */
    {0, 99, 0x24, CS_ATOM_WINDOW, CS_KNOW_NOTHING},
    {0, 99, 0x28, CS_ATOM_DIRECT_END, CS_KNOW_STACK},          /* stack pointer */
    {0, 89, 0x40, CS_ATOM_PARAMETER_ADDRESS, CS_KNOW_NOTHING}, /* generic address of the bank's first byte */
    {0, 89, 0x44, CS_ATOM_PARAMETER_ADDRESS, CS_KNOW_NOTHING},
    {90, 99, 0x198, CS_ATOM_PARAMETER_ADDRESS, CS_KNOW_NOTHING}, /* generic address of the first parameter */
    {90, 99, 0x19c, CS_ATOM_PARAMETER_ADDRESS, CS_KNOW_NOTHING},
    {100, 121, 0x37c, CS_ATOM_DIRECT_END, CS_KNOW_STACK},
    {100, 121, 0x348, CS_ATOM_PARAMETER_ADDRESS, CS_KNOW_NOTHING}, /* of the first parameter */
    {100, 121, 0x34c, CS_ATOM_PARAMETER_ADDRESS, CS_KNOW_NOTHING},
};

static struct cs_value driver_word(struct cs_flow *flow, uint32_t offset)
{
    uint32_t architecture = flow->cubin->architecture;
    for (size_t i = 0; i < sizeof driver_words / sizeof *driver_words; i++) {
        if (driver_words[i].offset != offset || architecture < driver_words[i].from ||
            architecture > driver_words[i].to)
            continue;
        uint32_t payload = 0;
        if (driver_words[i].kind == CS_ATOM_PARAMETER_ADDRESS)
            payload = CS_ADDRESS_BIAS - (architecture < 90 ? flow->kernel->parameter_base : 0);
        cs_set set =
            driver_words[i].kind == CS_ATOM_DIRECT_END ? 0 : cs_set_of(flow->pool, driver_words[i].kind, payload);
        return (struct cs_value){.set = set, .knowledge = driver_words[i].knowledge};
    }
    return cs_value_of(0);
}

static struct cs_value literal_word(struct cs_flow *flow, uint32_t offset)
{
    struct cs_bytes literals = flow->cubin->sections[flow->kernel->literals].bytes;
    if (offset + 4 > literals.size ||
        cs_cubin_relocation(flow->cubin, flow->kernel->literals, offset & ~UINT32_C(7)) != SIZE_MAX)
        return cs_value_of(0);
    return cs_value_constant(cs_read32(literals.data + offset));
}

/* Variables that no host program can name, so that no copy ends in them: the compiler's own tables and strings. */
static bool compiler_owned(const char *name)
{
    static const char *const prefixes[] = {"__cudart_", "$str", "__unnamed", "__cr_", "__nv_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t at = 0;
        while (prefixes[i][at] && prefixes[i][at] == name[at])
            at++;
        if (!prefixes[i][at])
            return true;
    }
    return false;
}

static struct cs_value address_word(struct cs_flow *flow, uint32_t offset)
{
    size_t symbol = cs_cubin_relocation(flow->cubin, flow->cubin->addresses, offset & ~UINT32_C(7));
    if (symbol == SIZE_MAX)
        return cs_value_of(cs_set_of(flow->pool, CS_ATOM_LOADED, 0));
    if (flow->cubin->symbols[symbol].function || flow->cubin->symbols[symbol].section == CS_NO_SECTION)
        return (struct cs_value){.knowledge = offset & 4 ? CS_KNOW_NOTHING : CS_KNOW_FUNCTION, .k = (int32_t)symbol};
    return cs_value_of(cs_set_of(flow->pool, CS_ATOM_SYMBOL, compiler_owned(flow->cubin->symbols[symbol].name)));
}

struct cs_value cs_flow_constant(struct cs_flow *flow, unsigned bank, uint32_t offset)
{
    uint32_t base = flow->kernel->parameter_base;
    switch (bank) {
    case BANK_PARAMETERS:
        if (offset < base)
            return driver_word(flow, offset);
        return cs_value_of(cs_set_of(flow->pool, CS_ATOM_PARAMETER, (offset - base) / 4));
    case BANK_LITERALS:
        return literal_word(flow, offset);
    case BANK_ADDRESSES:
        return address_word(flow, offset);
    default:
        return cs_value_of(cs_set_of(flow->pool, CS_ATOM_LOADED, 0));
    }
}

static uint32_t table_number(struct cs_flow *flow, uint32_t begin, uint32_t end)
{
    for (size_t i = 0; i < flow->table_count; i++)
        if (flow->tables[i].begin == begin && flow->tables[i].end == end)
            return (uint32_t)i;
    if (!cs_flow_room(flow, (void **)&flow->tables, &flow->table_room, flow->table_count, sizeof *flow->tables))
        return 0;
    flow->tables[flow->table_count] = (struct cs_table){begin, end};
    return (uint32_t)flow->table_count++;
}

/* Bank 0 indexed by a value that is not known: from the displacement on where the index is not negative. */
static cs_set parameter_table(struct cs_flow *flow, struct cs_value index, uint32_t offset, unsigned bytes)
{
    uint32_t base = flow->kernel->parameter_base;
    if (offset < base || index.knowledge != CS_KNOW_BOUND)
        return cs_set_of(flow->pool, CS_ATOM_TABLE, table_number(flow, offset < base ? UINT32_MAX : offset - base, 0));
    uint32_t begin = (offset - base) & ~UINT32_C(7);
    uint64_t end = (uint64_t)(offset - base) + (uint32_t)index.k + bytes;
    return cs_set_of(flow->pool, CS_ATOM_TABLE,
                     table_number(flow, begin, end > UINT32_MAX - 1 ? UINT32_MAX : (uint32_t)end));
}

static void load_constant(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in)
{
    struct cs_value index = cs_flow_operand(flow, state, &in->a, 0);
    bool segmented =
        (in->code == 0x182 || in->code == 0x1ac) && (in->high >> 14 & 3) != 0; /* the index carries a bank number */
    for (unsigned i = 0; i < in->count_most; i++) {
        uint32_t offset = in->b.value + 4 * i;
        struct cs_value value;
        if (in->b.bindless || segmented)
            value = cs_value_of(cs_set_of(flow->pool, CS_ATOM_UNKNOWN, 0));
        else if (index.knowledge == CS_KNOW_CONSTANT)
            value = cs_flow_constant(flow, in->b.bank, (offset + (uint32_t)index.k) & 0xffff);
        else if (in->b.bank == BANK_PARAMETERS)
            value = cs_value_of(parameter_table(flow, index, in->b.value, 4u * in->count_most));
        else if (in->b.bank == BANK_LITERALS)
            value = cs_value_of(0);
        else
            value = cs_value_of(cs_set_of(flow->pool, CS_ATOM_LOADED, 0));
        if (in->access_words == 0) {
            unsigned size = (unsigned)(in->high >> 9 & 7);
            value = cs_value_of(cs_set_mangle(flow->pool, value.set));
            if (size == 0 || size == 2)
                value.knowledge = CS_KNOW_BOUND, value.k = size == 0 ? UINT8_MAX : UINT16_MAX;
        }
        cs_flow_write(flow, state, in, i, value);
    }
}

/* ---- addresses ---- */

struct address {
    struct cs_value low, high;
};

static struct address address_of(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in)
{
    bool zero = in->a.value == CS_RZ;
    struct address address = {cs_flow_operand(flow, state, &in->a, 0), cs_value_constant(0)};
    if (!zero && !in->narrow_address)
        address.high = cs_flow_operand(flow, state, &in->a, 1);
    if (in->uniform_address) {
        struct cs_operand uniform = {.kind = CS_OPERAND_UNIFORM, .value = in->uniform_register};
        address.low = cs_flow_add(flow, address.low, cs_flow_operand(flow, state, &uniform, 0));
        address.high = cs_flow_add(flow, address.high, cs_flow_operand(flow, state, &uniform, 1));
    }
    return address;
}

/* Joins what this visit saw to what is recorded of the instruction; `part` tells apart several accesses of one. */
static void record(struct cs_flow *flow, uint32_t index, uint32_t access, bool map, struct address address)
{
    uint32_t at = flow->touch_of[index] ? flow->touch_of[index] - 1 : (uint32_t)flow->touch_count;
    while (at < flow->touch_count && flow->touches[at].instruction == index) {
        struct cs_touch *touch = &flow->touches[at];
        if (touch->access == access && touch->map == map) {
            touch->low = cs_set_join(flow->pool, touch->low, address.low.set);
            touch->high = cs_set_join(flow->pool, touch->high, address.high.set);
            return;
        }
        at++;
    }
    if (!cs_flow_room(flow, (void **)&flow->touches, &flow->touch_room, flow->touch_count, sizeof *flow->touches))
        return;
    if (!flow->touch_of[index])
        flow->touch_of[index] = (uint32_t)flow->touch_count + 1;
    flow->touches[flow->touch_count++] = (struct cs_touch){index, access, map, address.low.set, address.high.set};
}

static bool may_be_window(const struct cs_flow *flow, struct address address)
{
    static const enum cs_atom_kind kinds[] = {CS_ATOM_WINDOW, CS_ATOM_LOADED, CS_ATOM_MANGLED_LOADED, CS_ATOM_UNKNOWN};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (cs_set_has_kind(flow->pool, address.low.set, kinds[i]) &&
            cs_set_has_kind(flow->pool, address.high.set, kinds[i]))
            return true;
    return cs_set_has_kind(flow->pool, address.high.set, CS_ATOM_WINDOW) || address.high.set == 0;
}

/* ---- contents of shared and local memory ---- */

static void pour(struct cs_flow *flow, cs_set *into, cs_set set)
{
    cs_set joined = cs_set_join(flow->pool, *into, set);
    if (joined != *into) {
        *into = joined;
        flow->contents_changed = true;
    }
}

/* Word i of a store of `words`: a word whose place in a pair is known goes to its half. */
static void pour_pair(struct cs_flow *flow, cs_set into[2], unsigned i, unsigned words, cs_set set)
{
    if (words < 2 || i % 2 == 0)
        pour(flow, &into[0], set);
    if (words < 2 || i % 2 == 1)
        pour(flow, &into[1], set);
}

static cs_set draw_pair(struct cs_flow *flow, const cs_set from[2], unsigned i, unsigned words)
{
    return words < 2 ? cs_set_join(flow->pool, from[0], from[1]) : from[i % 2];
}

static struct cs_cell *find_cell(struct cs_flow *flow, int32_t offset, bool create)
{
    for (size_t i = 0; i < flow->cell_count; i++)
        if (flow->cells[i].offset == offset)
            return &flow->cells[i];
    if (!create || !cs_flow_room(flow, (void **)&flow->cells, &flow->cell_room, flow->cell_count, sizeof *flow->cells))
        return NULL;
    flow->cells[flow->cell_count] = (struct cs_cell){.offset = offset};
    return &flow->cells[flow->cell_count++];
}

static bool stack_offset(const struct cs_instruction *in, struct cs_value low, int32_t *offset)
{
    int64_t at = (int64_t)low.k + in->offset;
    *offset = (int32_t)at;
    return low.knowledge == CS_KNOW_STACK && at > -(1 << 24) && at < 0;
}

static void store_local_word(struct cs_flow *flow, int32_t offset, struct cs_value value)
{
    size_t before = flow->cell_count;
    struct cs_cell *cell = find_cell(flow, offset, true);
    if (!cell)
        return;
    struct cs_value joined = flow->cell_count > before ? value : cs_flow_join(flow, cell->value, value);
    if (flow->cell_count > before || joined.set != cell->value.set || joined.knowledge != cell->value.knowledge ||
        joined.k != cell->value.k)
        flow->contents_changed = true;
    cell->value = joined;
}

static unsigned data_words(const struct cs_instruction *in)
{
    return in->access_words ? in->access_words : 1;
}

static struct cs_value data_word(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in,
                                 const struct cs_operand *operand, unsigned i)
{
    struct cs_value value = cs_flow_operand(flow, state, operand, operand->value == CS_RZ ? 0 : i);
    return in->access_words ? value : cs_value_of(cs_set_mangle(flow->pool, value.set));
}

static void store_local(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in)
{
    struct cs_value low = cs_flow_operand(flow, state, &in->a, 0);
    int32_t offset;
    bool known = stack_offset(in, low, &offset);
    for (unsigned i = 0; i < data_words(in); i++) {
        struct cs_value value = data_word(flow, state, in, &in->b, i);
        int32_t word = (offset & ~3) + 4 * (int32_t)i;
        if (known) {
            store_local_word(flow, word, value);
            pour(flow, &flow->local_all[(uint32_t)word / 4 % 2], value.set);
        } else {
            pour_pair(flow, flow->local_wild, i, data_words(in), value.set);
            pour_pair(flow, flow->local_all, i, data_words(in), value.set);
        }
    }
}

static void load_local(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in)
{
    struct cs_value low = cs_flow_operand(flow, state, &in->a, 0);
    int32_t offset;
    bool known = stack_offset(in, low, &offset);
    for (unsigned i = 0; i < in->count_most; i++) {
        struct cs_value value = cs_value_of(draw_pair(flow, flow->local_all, i, in->count_most));
        if (known) {
            struct cs_cell *cell = find_cell(flow, (offset & ~3) + 4 * (int32_t)i, false);
            cs_set wild = cs_set_join(flow->pool, flow->local_wild[0], flow->local_wild[1]);
            value = cell ? cell->value : cs_value_of(0);
            if (wild)
                value = cs_value_of(cs_set_join(flow->pool, value.set, wild));
        }
        if (in->access_words == 0)
            value = cs_value_of(cs_set_mangle(flow->pool, value.set));
        cs_flow_write(flow, state, in, i, value);
    }
}

/* ---- global and generic memory ---- */

/* Words of the parameters read through their generic address. */
static cs_set parameters_behind(struct cs_flow *flow, const struct cs_instruction *in, struct address address,
                                unsigned i)
{
    cs_set found = 0;
    for (uint32_t j = 0; j < cs_set_members(flow->pool, address.low.set).count; j++) {
        cs_atom atom = cs_set_members(flow->pool, address.low.set).atoms[j];
        int64_t offset = (int64_t)cs_atom_payload(atom) - CS_ADDRESS_BIAS + in->offset + 4 * (int64_t)i;
        cs_set one = 0;
        if (cs_atom_kind(atom) == CS_ATOM_PARAMETER_ADDRESS && offset >= 0 && offset < UINT16_MAX)
            one = cs_set_of(flow->pool, CS_ATOM_PARAMETER, (uint32_t)offset / 4);
        else if (cs_atom_kind(atom) == CS_ATOM_PARAMETER_RANGE)
            one = cs_set_of(flow->pool, CS_ATOM_TABLE,
                            table_number(flow, offset < 0 ? UINT32_MAX : (uint32_t)(offset - 4 * (int64_t)i), 0));
        found = cs_set_join(flow->pool, found, one);
    }
    return found;
}

/* The other half of a load of 32 bytes. */
static void write_more(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in, unsigned i,
                       struct cs_value value)
{
    struct cs_instruction more = *in;
    more.destination = in->destination_more;
    cs_flow_write(flow, state, &more, i, value);
}

static void load(struct cs_flow *flow, struct cs_value *state, uint32_t index)
{
    const struct cs_instruction *in = &flow->instructions[index];
    struct address address = address_of(flow, state, in);
    unsigned words = in->count_most;
    bool generic = in->opcode->space == CS_SPACE_GENERIC;
    record(flow, index, CS_ACCESS_READ, false, address);
    for (unsigned i = 0; i < words; i++) {
        cs_set set =
            cs_set_join(flow->pool, parameters_behind(flow, in, address, i), cs_set_of(flow->pool, CS_ATOM_LOADED, 0));
        if (generic && may_be_window(flow, address)) {
            set = cs_set_join(flow->pool, set, draw_pair(flow, flow->shared, i, words));
            set = cs_set_join(flow->pool, set, draw_pair(flow, flow->local_all, i, words));
        }
        struct cs_value value = cs_value_of(set);
        unsigned size = (unsigned)(in->high >> 9 & 7);
        if (in->access_words == 0) {
            value.set = cs_set_mangle(flow->pool, set);
            if (size == 0 || size == 2)
                value.knowledge = CS_KNOW_BOUND, value.k = size == 0 ? UINT8_MAX : UINT16_MAX;
        }
        cs_flow_write(flow, state, in, i, value);
        write_more(flow, state, in, i, value);
    }
}

static void keep_pair(struct cs_flow *flow, cs_set low, cs_set high)
{
    if (!low || !high)
        return;
    for (size_t i = 0; i < flow->stored_count; i++)
        if (flow->stored[i].low == low && flow->stored[i].high == high)
            return;
    if (cs_flow_room(flow, (void **)&flow->stored, &flow->stored_room, flow->stored_count, sizeof *flow->stored))
        flow->stored[flow->stored_count++] = (struct cs_pair){low, high};
}

/* Data that reaches memory which others can read. */
static void publish(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in,
                    const struct cs_operand *operand)
{
    for (unsigned i = 0; i + 1 < in->access_words; i += 2)
        keep_pair(flow, data_word(flow, state, in, operand, i).set, data_word(flow, state, in, operand, i + 1).set);
    if (in->access_words == 1)
        flow->stored_words = cs_set_join(flow->pool, flow->stored_words, data_word(flow, state, in, operand, 0).set);
}

static void store_shared(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in,
                         const struct cs_operand *operand)
{
    for (unsigned i = 0; i < data_words(in); i++)
        pour_pair(flow, flow->shared, i, data_words(in), data_word(flow, state, in, operand, i).set);
}

static void store(struct cs_flow *flow, struct cs_value *state, uint32_t index, uint32_t access)
{
    const struct cs_instruction *in = &flow->instructions[index];
    struct address address = address_of(flow, state, in);
    record(flow, index, access, false, address);
    publish(flow, state, in, &in->b);
    if (in->opcode->operands == CS_OPERANDS_CAS || in->opcode->operands == CS_OPERANDS_STORE_32_BYTES)
        publish(flow, state, in, &in->c);
    if (in->opcode->space == CS_SPACE_GENERIC && may_be_window(flow, address)) {
        for (unsigned i = 0; i < data_words(in); i++) {
            cs_set set = data_word(flow, state, in, &in->b, i).set;
            pour_pair(flow, flow->shared, i, data_words(in), set);
            pour_pair(flow, flow->local_wild, i, data_words(in), set);
            pour_pair(flow, flow->local_all, i, data_words(in), set);
        }
    }
    for (unsigned i = 0; i < in->count_most; i++) /* the old value */
        cs_flow_write(flow, state, in, i, cs_value_of(cs_set_of(flow->pool, CS_ATOM_LOADED, 0)));
}

static void load_shared(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in)
{
    bool matrices = in->opcode->width == CS_WIDTH_MATRICES, narrow = in->access_words == 0 || matrices;
    for (unsigned i = 0; i < in->count_most; i++) {
        cs_set set = draw_pair(flow, flow->shared, i, in->count_most);
        cs_flow_write(flow, state, in, i, cs_value_of(narrow ? cs_set_mangle(flow->pool, set) : set));
    }
}

static void fill_shared_from_memory(struct cs_flow *flow)
{
    cs_set loaded = cs_set_of(flow->pool, CS_ATOM_LOADED, 0);
    pour_pair(flow, flow->shared, 0, 1, loaded);
}

/* What lies in shared memory reaches global memory. */
static void publish_shared(struct cs_flow *flow)
{
    keep_pair(flow, flow->shared[0], flow->shared[1]);
}

static struct address uniform_address(struct cs_flow *flow, struct cs_value *state, const struct cs_operand *operand)
{
    return (struct address){cs_flow_operand(flow, state, operand, 0), cs_flow_operand(flow, state, operand, 1)};
}

enum { READ_WRITE_ATOMIC = CS_ACCESS_READ | CS_ACCESS_WRITE | CS_ACCESS_ATOMIC };

/* Bits 73 and 74 tell whether the destination and the source are shared memory. */
static void bulk(struct cs_flow *flow, struct cs_value *state, uint32_t index)
{
    const struct cs_instruction *in = &flow->instructions[index];
    bool to_shared = in->high >> 9 & 1, from_shared = in->high >> 10 & 1;
    bool reduces = in->opcode->action == CS_DO_BULK_REDUCE;
    if (!from_shared)
        record(flow, index, CS_ACCESS_READ, false, uniform_address(flow, state, &in->a));
    if (!to_shared) {
        record(flow, index, reduces ? READ_WRITE_ATOMIC : CS_ACCESS_WRITE, false, uniform_address(flow, state, &in->b));
        publish_shared(flow);
    } else if (!from_shared) {
        fill_shared_from_memory(flow);
    }
}

static void tensor(struct cs_flow *flow, struct cs_value *state, uint32_t index)
{
    const struct cs_instruction *in = &flow->instructions[index];
    uint32_t access = CS_ACCESS_READ;
    if (in->opcode->action == CS_DO_TENSOR_STORE)
        access = CS_ACCESS_WRITE;
    if (in->opcode->action == CS_DO_TENSOR_REDUCE)
        access = READ_WRITE_ATOMIC;
    record(flow, index, access, true, uniform_address(flow, state, &in->a));
    if (in->opcode->action == CS_DO_TENSOR_LOAD)
        fill_shared_from_memory(flow);
    else if (in->opcode->action != CS_DO_TENSOR_PREFETCH)
        publish_shared(flow);
}

static void texture(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in)
{
    flow->opaque_read = true;
    flow->opaque_write |= in->opcode->action == CS_DO_TEXTURE_WRITE;
    for (unsigned i = 0; i < in->count_most; i++)
        cs_flow_write(flow, state, in, i, cs_value_of(cs_set_of(flow->pool, CS_ATOM_LOADED, 0)));
}

void cs_flow_memory(struct cs_flow *flow, struct cs_value *state, uint32_t index)
{
    const struct cs_instruction *in = &flow->instructions[index];
    bool local = in->opcode->space == CS_SPACE_LOCAL, shared = in->opcode->space == CS_SPACE_SHARED;
    switch ((enum cs_action)in->opcode->action) {
    case CS_DO_LOAD_CONSTANT:
        return load_constant(flow, state, in);
    case CS_DO_LOAD:
        return local ? load_local(flow, state, in) : shared ? load_shared(flow, state, in) : load(flow, state, index);
    case CS_DO_STORE:
        if (local)
            return store_local(flow, state, in);
        return shared ? store_shared(flow, state, in, &in->b) : store(flow, state, index, CS_ACCESS_WRITE);
    case CS_DO_ATOMIC:
    case CS_DO_REDUCE:
        if (!shared)
            return store(flow, state, index, READ_WRITE_ATOMIC);
        store_shared(flow, state, in, &in->b);
        if (in->opcode->operands == CS_OPERANDS_CAS)
            store_shared(flow, state, in, &in->c);
        return load_shared(flow, state, in);
    case CS_DO_COPY_TO_SHARED:
        record(flow, index, CS_ACCESS_READ, false, address_of(flow, state, in));
        return fill_shared_from_memory(flow);
    case CS_DO_BULK_COPY:
    case CS_DO_BULK_REDUCE:
        return bulk(flow, state, index);
    case CS_DO_BULK_PREFETCH:
        return record(flow, index, CS_ACCESS_READ, false, uniform_address(flow, state, &in->a));
    case CS_DO_TENSOR_LOAD:
    case CS_DO_TENSOR_STORE:
    case CS_DO_TENSOR_REDUCE:
    case CS_DO_TENSOR_PREFETCH:
        return tensor(flow, state, index);
    case CS_DO_TEXTURE_READ:
    case CS_DO_TEXTURE_WRITE:
        return texture(flow, state, in);
    default:
        return;
    }
}
