/*
 * decode.c - from 16 bytes to a cs_instruction. Any thread.
 */
#include "analysis/sass/instruction.h"

#include <string.h>

#include "analysis/sass/cubin.h"

enum {
    FORM_A_B_C = 1,         /* B register at 32, C register at 64 */
    FORM_A_C_IMMEDIATE = 2, /* C immediate at 32, B register at 64 */
    FORM_A_C_CONSTANT = 3,
    FORM_A_IMMEDIATE = 4, /* B immediate at 32, C register at 64 */
    FORM_A_CONSTANT = 5,
    FORM_A_UNIFORM = 6,
    FORM_A_C_UNIFORM = 7
};

enum { CS_CODE_ST = 0x185, CS_CODE_LDCU = 0x1ac, CS_CODE_LDGMC = 0x1a5 };

static const struct cs_family families[] = {
    {120, 121, 8, 255, true, true, {cs_opcodes_sm120, cs_opcodes_sm100, cs_opcodes_sm90, cs_opcodes_common}},
    {100, 103, 8, 255, true, true, {cs_opcodes_sm100, cs_opcodes_sm90, cs_opcodes_common}},
    {90, 90, 6, 63, true, true, {cs_opcodes_sm90, cs_opcodes_common}},
    {80, 89, 6, 63, true, false, {cs_opcodes_common}},
    {70, 75, 6, 63, false, false, {cs_opcodes_sm70, cs_opcodes_common}},
};

const struct cs_family *cs_family(uint32_t architecture)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (architecture >= families[i].from && architecture <= families[i].to)
            return &families[i];
    return NULL;
}

/* Bits first..first+count-1 of the instruction; they may cross the two words. */
static uint64_t bits(const struct cs_instruction *in, unsigned first, unsigned count)
{
    uint64_t value = first >= 64 ? in->high >> (first - 64) : in->low >> first;
    if (first < 64 && first + count > 64)
        value |= in->high << (64 - first);
    return value & ((UINT64_C(1) << count) - 1);
}

static int64_t extend(uint64_t value, unsigned count)
{
    uint64_t sign = UINT64_C(1) << (count - 1);
    return (int64_t)((value ^ sign) - sign);
}

static struct cs_operand at_register(const struct cs_family *family, const struct cs_instruction *in, unsigned first,
                                     bool uniform)
{
    struct cs_operand operand = {.kind = uniform ? CS_OPERAND_UNIFORM : CS_OPERAND_REGISTER,
                                 .value = (uint32_t)bits(in, first, uniform ? family->uniform_bits : 8)};
    if (uniform && operand.value == family->uniform_zero)
        operand.value = CS_RZ;
    return operand;
}

/* The operand at bit 32 of a form. */
static struct cs_operand at_32(const struct cs_family *family, const struct cs_instruction *in)
{
    if (in->opcode->width == CS_WIDTH_WIDE_FORM && in->form == FORM_A_C_CONSTANT)
        return at_register(family, in, 32, in->opcode->uniform);
    switch (in->form) {
    case FORM_A_C_IMMEDIATE:
    case FORM_A_IMMEDIATE:
        return (struct cs_operand){.kind = CS_OPERAND_IMMEDIATE, .value = (uint32_t)bits(in, 32, 32)};
    case FORM_A_C_CONSTANT:
    case FORM_A_CONSTANT:
        return (struct cs_operand){.kind = CS_OPERAND_CONSTANT,
                                   .bank = (uint8_t)bits(in, 54, 5),
                                   .value = (uint32_t)bits(in, 38, 16),
                                   .bindless = bits(in, 91, 1)};
    case FORM_A_UNIFORM:
    case FORM_A_C_UNIFORM:
        return at_register(family, in, 32, true);
    default:
        return at_register(family, in, 32, in->opcode->uniform);
    }
}

/* Minus signs of integer operands: A at 72, what is at 32 at 63 (not where an immediate lies), what is at 64 at 75. */
static void decode_signs(struct cs_instruction *in)
{
    bool swapped = in->form == FORM_A_C_IMMEDIATE || in->form == FORM_A_C_CONSTANT || in->form == FORM_A_C_UNIFORM;
    struct cs_operand *at32 = swapped ? &in->c : &in->b, *at64 = swapped ? &in->b : &in->c;
    in->a.negated = bits(in, 72, 1);
    at32->negated = at32->kind != CS_OPERAND_IMMEDIATE && bits(in, 63, 1);
    at64->negated = bits(in, 75, 1);
}

static void decode_three(const struct cs_family *family, struct cs_instruction *in)
{
    bool uniform = in->opcode->uniform;
    bool swapped = in->form == FORM_A_C_IMMEDIATE || in->form == FORM_A_C_CONSTANT || in->form == FORM_A_C_UNIFORM;
    in->a = at_register(family, in, 24, uniform);
    in->b = swapped ? at_register(family, in, 64, uniform) : at_32(family, in);
    in->c = swapped ? at_32(family, in) : at_register(family, in, 64, uniform);
    if (in->opcode->action == CS_DO_ADD || in->opcode->action == CS_DO_ADD64) {
        decode_signs(in);
    } else if (in->opcode->action == CS_DO_MAD || in->opcode->action == CS_DO_MAD_WIDE) {
        in->c.negated = swapped && in->form != FORM_A_C_IMMEDIATE ? bits(in, 63, 1) : !swapped && bits(in, 75, 1);
    } else if (in->opcode->action == CS_DO_LEA) {
        in->b.negated = in->b.kind != CS_OPERAND_IMMEDIATE && bits(in, 63, 1);
    }
}

/* LEA has an operand C only for the high half, and not where A is sign-extended instead. */
static void decode_lea(const struct cs_family *family, struct cs_instruction *in)
{
    decode_three(family, in);
    bool high = bits(in, 80, 1), extended = bits(in, 73, 1);
    if (!high || extended)
        in->c = (struct cs_operand){.kind = CS_OPERAND_NONE};
}

static void decode_shuffle(const struct cs_family *family, struct cs_instruction *in)
{
    in->a = at_register(family, in, 24, false);
    if (in->form == 1 || in->form == 2)
        in->b = at_register(family, in, 32, false);
    if (in->form == 1 || in->form == 4)
        in->c = at_register(family, in, 64, false);
}

/* A uniform register may be added to an address, or only name the descriptor of the access. */
static void decode_uniform_address(const struct cs_family *family, struct cs_instruction *in)
{
    bool store = in->opcode->action != CS_DO_LOAD || in->opcode->space == CS_SPACE_LOCAL;
    bool atomic = in->opcode->action == CS_DO_ATOMIC || in->opcode->action == CS_DO_REDUCE;
    if (in->opcode->space == CS_SPACE_SHARED || in->opcode->space == CS_SPACE_NONE) {
        in->uniform_address = bits(in, 91, 1);
        store = store || in->opcode->space == CS_SPACE_NONE;
    } else if (bits(in, 91, 1) && !family->descriptors) {
        in->uniform_address = true;
        in->narrow_address = atomic || !bits(in, 90, 1);
    } else if (in->code == CS_CODE_LDGMC) {
        in->uniform_address = store = bits(in, 91, 1);
    } else if (bits(in, 91, 1)) {
        in->uniform_address = atomic ? !bits(in, 72, 1) : !bits(in, 76, 1);
        in->narrow_address = in->uniform_address && (atomic || (in->code != 0x1ae && !bits(in, 90, 1)));
    }
    if (in->uniform_address)
        in->uniform_register = (uint8_t)at_register(family, in, store ? 64 : 32, true).value;
}

static void decode_address(const struct cs_family *family, struct cs_instruction *in)
{
    static const uint8_t words[8] = {0, 0, 0, 0, 1, 2, 4, 8};
    bool wide_offset = in->code == CS_CODE_ST && in->form == FORM_A_B_C && !family->descriptors; /* data at 64 */
    in->a = at_register(family, in, 24, in->opcode->uniform);
    if (in->opcode->operands == CS_OPERANDS_ASYNC)
        in->c = at_register(family, in, 16, false);
    else if (wide_offset)
        in->b = at_register(family, in, 64, false);
    else if (in->opcode->operands != CS_OPERANDS_ADDRESS && in->form != FORM_A_C_UNIFORM) /* ATOMS.POPC has no data */
        in->b = at_register(family, in, 32, in->opcode->operands == CS_OPERANDS_UNIFORM_AB);
    if (in->opcode->operands == CS_OPERANDS_CAS)
        in->c = at_register(family, in, 64, false);
    if (in->opcode->operands == CS_OPERANDS_UNIFORM_AB)
        return;
    in->offset = wide_offset ? (int32_t)bits(in, 32, 32) : (int32_t)extend(bits(in, 40, 24), 24);
    in->access_words = words[bits(in, 73, 3)];
    decode_uniform_address(family, in);
}

/* Offsets count 32 bytes; above them a mask of the bytes. */
static void decode_32_bytes(const struct cs_family *family, struct cs_instruction *in)
{
    in->a = at_register(family, in, 24, false);
    if (in->opcode->operands == CS_OPERANDS_STORE_32_BYTES) {
        in->b = at_register(family, in, 32, false);
        in->c = at_register(family, in, 16, false);
    } else {
        in->destination_more = (uint8_t)bits(in, 64, 8);
    }
    in->offset = (int32_t)extend(bits(in, 40, 16), 16) * 32;
    in->access_words = 4;
}

/* Registers that move between a warp's thread and tensor memory. */
static uint8_t tensor_memory_words(const struct cs_instruction *in)
{
    static const uint8_t of_shape[4] = {2, 4, 1, 1};
    unsigned words = (unsigned)of_shape[bits(in, 81, 2)] << bits(in, 83, 3);
    return (uint8_t)(words > 128 ? 128 : words);
}

static void decode_constant(const struct cs_family *family, struct cs_instruction *in)
{
    bool uniform = in->opcode->uniform, late = in->code == CS_CODE_LDCU;
    in->a = at_register(family, in, 24, uniform);
    in->b = (struct cs_operand){.kind = CS_OPERAND_CONSTANT,
                                .bank = (uint8_t)bits(in, 54, 5),
                                .value = (uint32_t)bits(in, late ? 37 : 38, 16),
                                .bindless = bits(in, 91, 1) && !uniform};
    if (uniform && in->code == 0x0b9)
        in->a = (struct cs_operand){.kind = CS_OPERAND_NONE};
    in->access_words = (uint8_t[]){0, 0, 0, 0, 1, 2, 4, 8}[bits(in, 73, 3)];
}

static void decode_operands(const struct cs_family *family, struct cs_instruction *in)
{
    bool uniform = in->opcode->uniform;
    switch ((enum cs_operands)in->opcode->operands) {
    case CS_OPERANDS_NONE:
        break;
    case CS_OPERANDS_A:
        in->a = at_register(family, in, 24, uniform);
        break;
    case CS_OPERANDS_B:
        in->b = at_32(family, in);
        break;
    case CS_OPERANDS_AB:
        in->a = at_register(family, in, 24, uniform);
        in->b = at_32(family, in);
        in->b.negated = in->opcode->action == CS_DO_ADD && in->b.kind != CS_OPERAND_IMMEDIATE && bits(in, 63, 1);
        in->a.negated = in->opcode->action == CS_DO_ADD && bits(in, 72, 1);
        break;
    case CS_OPERANDS_AC:
        in->a = at_register(family, in, 24, uniform);
        in->c = in->form == FORM_A_B_C ? at_register(family, in, 64, uniform) : at_32(family, in);
        break;
    case CS_OPERANDS_ABC:
        decode_three(family, in);
        break;
    case CS_OPERANDS_LEA:
        decode_lea(family, in);
        break;
    case CS_OPERANDS_SHFL:
        decode_shuffle(family, in);
        break;
    case CS_OPERANDS_MMA:
        in->a = at_register(family, in, 24, false);
        in->b = at_register(family, in, 32, false);
        in->c = at_register(family, in, 64, false);
        break;
    case CS_OPERANDS_GMMA:
        in->a = at_register(family, in, 24, in->form == FORM_A_IMMEDIATE);
        if (in->form == FORM_A_UNIFORM)
            in->b = at_register(family, in, 32, true);
        in->c = at_register(family, in, 64, false);
        break;
    case CS_OPERANDS_CONSTANT:
        decode_constant(family, in);
        break;
    case CS_OPERANDS_ADDRESS:
    case CS_OPERANDS_STORE:
    case CS_OPERANDS_CAS:
    case CS_OPERANDS_ASYNC:
    case CS_OPERANDS_UNIFORM_AB:
        decode_address(family, in);
        break;
    case CS_OPERANDS_ADDRESS_32_BYTES:
    case CS_OPERANDS_STORE_32_BYTES:
        decode_32_bytes(family, in);
        break;
    case CS_OPERANDS_TENSOR_MEMORY:
        in->a = at_register(family, in, 32, true);
        in->access_words = tensor_memory_words(in);
        if (in->opcode->action == CS_DO_STORE)
            in->b = at_register(family, in, 64, false);
        break;
    }
}

static uint8_t atomic_words(const struct cs_family *family, const struct cs_instruction *in)
{
    static const uint8_t old[8] = {1, 1, 2, 1, 1, 2, 2, 1}, since_sm90[8] = {1, 1, 2, 2, 4, 1, 1, 1};
    static const uint8_t floating[16] = {1, 2, 4, 1, 2, 4, 1, 1, 1, 1, 2, 4, 1, 2, 4, 2};
    if (in->opcode->width == CS_WIDTH_ATOMIC_FLOAT || in->code == 0x1a6)
        return family->split_jump ? floating[bits(in, 73, 4)] : old[bits(in, 73, 3)];
    return family->split_jump ? since_sm90[bits(in, 73, 3)] : old[bits(in, 73, 3)];
}

/* Sets the registers written: surely `least`, perhaps `most`. */
static void set_count(struct cs_instruction *in, unsigned least, unsigned most)
{
    in->count = (uint8_t)least;
    in->count_most = (uint8_t)most;
}

static void set_wide(struct cs_instruction *in, bool wide)
{
    in->wide = wide;
    set_count(in, wide ? 2 : 1, wide ? 2 : 1);
}

static void decode_width(const struct cs_family *family, struct cs_instruction *in)
{
    unsigned memory = in->access_words ? in->access_words : 1, columns = (unsigned)(bits(in, 53, 5) + 1) * 8, n;
    switch ((enum cs_width)in->opcode->width) {
    case CS_WIDTH_0:
        return;
    case CS_WIDTH_1:
        return set_count(in, 1, 1);
    case CS_WIDTH_2:
        return set_count(in, 2, 2);
    case CS_WIDTH_MEMORY:
        return set_count(in, memory, memory);
    case CS_WIDTH_CONVERSION:
        n = bits(in, 75, 2) == 3 ? 2 : 1;
        return set_count(in, n, n);
    case CS_WIDTH_CS2R:
        n = bits(in, 80, 1) ? 2 : 1;
        return set_count(in, n, n);
    case CS_WIDTH_MATRICES:
        n = 1u << bits(in, 72, 2);
        return set_count(in, n > 4 ? 4 : n, n > 4 ? 4 : n);
    case CS_WIDTH_ATOMIC:
    case CS_WIDTH_ATOMIC_FLOAT:
        if (in->opcode->operands == CS_OPERANDS_CAS && in->form == FORM_A_C_IMMEDIATE) /* a predicate is the result */
            return set_count(in, 0, 0);
        n = atomic_words(family, in);
        return set_count(in, n, n);
    case CS_WIDTH_HMMA:
        n = bits(in, 76, 1) ? 4 : 2;
        return set_count(in, n, n);
    case CS_WIDTH_GMMA:
        n = in->code == 0x1f1 || bits(in, 75, 1) ? 2 : 4;
        return set_count(in, columns / n, columns / n);
    case CS_WIDTH_2_TO_4:
        return set_count(in, 2, 4);
    case CS_WIDTH_4_TO_8:
        return set_count(in, 4, 8);
    case CS_WIDTH_0_TO_2:
        return set_count(in, 0, 2);
    case CS_WIDTH_0_TO_4:
        return set_count(in, 0, 4);
    case CS_WIDTH_WIDE_BIT_73:
        return set_wide(in, bits(in, 73, 1));
    case CS_WIDTH_WIDE_BIT_80:
        return set_wide(in, bits(in, 80, 1) || in->form == FORM_A_C_IMMEDIATE);
    case CS_WIDTH_WIDE_FORM:
        n = in->opcode->uniform ? FORM_A_UNIFORM : FORM_A_C_UNIFORM;
        return set_wide(in, in->form == FORM_A_C_IMMEDIATE || in->form == FORM_A_C_CONSTANT || in->form == n);
    case CS_WIDTH_TENSOR_MEMORY:
        return set_count(in, memory, memory);
    }
}

static void decode_jump(const struct cs_family *family, struct cs_instruction *in)
{
    if (in->code == CS_CODE_BSSY) { /* modifiers lie behind its distance */
        in->jump = extend(bits(in, 34, 30), 30) * 4;
        return;
    }
    int64_t distance = extend(bits(in, 34, 48), 48);
    if (family->split_jump)
        distance = (int64_t)((uint64_t)distance << 8 | bits(in, 16, 8));
    in->jump = (int64_t)((uint64_t)distance * 4);
}

/* Operations with predicate results at bits 81 and, the second list, 84. */
static const uint16_t writes_one[] = {
    0x006, 0x011, 0x012, 0x014, 0x015, 0x025, 0x027, 0x02f, 0x086, 0x091, 0x092, 0x0a5, 0x0bc, 0x0bd, 0x1c2,
    0x0ca, 0x100, 0x102, 0x11c, 0x160, 0x161, 0x162, 0x163, 0x164, 0x165, 0x166, 0x167, 0x168, 0x169, 0x16a,
    0x16b, 0x16c, 0x16d, 0x16e, 0x180, 0x181, 0x189, 0x18a, 0x18b, 0x193, 0x194, 0x195, 0x196, 0x197, 0x198,
    0x199, 0x19a, 0x1a1, 0x1a2, 0x1a3, 0x1a7, 0x1a8, 0x1a9, 0x1aa, 0x1b1, 0x1b3, 0x1c8, 0x18d, 0x1e3, 0x0a6};
static const uint16_t writes_two[] = {0x00b, 0x00c, 0x00d, 0x010, 0x01c, 0x01d, 0x01e, 0x01f, 0x02a, 0x034,
                                      0x048, 0x053, 0x085, 0x08c, 0x090, 0x097, 0x09c, 0x09d, 0x09e, 0x09f};
static const uint16_t writes_any[] = {0x004, 0x084};
/* Their results are uniform predicates although their operands are not all uniform registers. */
static const uint16_t writes_uniform[] = {0x086, 0x1c8};
/* Guarded by a uniform predicate although their operands are not all uniform registers. */
static const uint16_t guarded_uniform[] = {0x1b2, 0x1b7, 0x1c3, 0x1c7, 0x1c8, 0x1c9, 0x1ce};

static bool listed(uint16_t code, const uint16_t *codes, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof *codes; i++)
        if (codes[i] == code)
            return true;
    return false;
}

static void decode_predicates(struct cs_instruction *in)
{
    bool two = listed(in->code, writes_two, sizeof writes_two);
    unsigned written = 0;
    in->guard_uniform = in->opcode->uniform || listed(in->code, guarded_uniform, sizeof guarded_uniform);
    if (two || listed(in->code, writes_one, sizeof writes_one))
        written |= 1u << bits(in, 81, 3);
    if (two)
        written |= 1u << bits(in, 84, 3);
    if (listed(in->code, writes_any, sizeof writes_any))
        written = UINT8_MAX;
    written &= ~(1u << CS_PT);
    bool uniform = in->opcode->uniform || listed(in->code, writes_uniform, sizeof writes_uniform);
    in->predicates = (uint16_t)(uniform ? written << 8 : written);
}

static const struct cs_opcode *find_opcode(const struct cs_family *family, unsigned code)
{
    for (size_t i = 0; i < sizeof family->tables / sizeof *family->tables && family->tables[i]; i++)
        if (family->tables[i][code].name[0])
            return &family->tables[i][code];
    return NULL;
}

void cs_decode(const struct cs_family *family, const uint8_t *p, struct cs_instruction *in)
{
    memset(in, 0, sizeof *in);
    in->low = cs_read64(p);
    in->high = cs_read64(p + 8);
    in->code = (uint16_t)bits(in, 0, 9);
    in->form = (uint8_t)bits(in, 9, 3);
    in->guard = (uint8_t)bits(in, 12, 3);
    in->guard_negated = bits(in, 15, 1);
    in->destination = in->destination_more = CS_RZ;
    in->opcode = find_opcode(family, in->code);
    if (!in->opcode) {
        in->destination = (uint8_t)bits(in, 16, 8);
        in->predicates = UINT16_MAX;
        set_count(in, 0, 8);
        return;
    }
    decode_predicates(in);
    decode_operands(family, in);
    if (in->opcode->width == CS_WIDTH_WIDE_BIT_80 && in->form == FORM_A_C_IMMEDIATE)
        in->b.value = (uint32_t)bits(in, 24, 32); /* the lower half of 64 bits */
    if (in->opcode->width != CS_WIDTH_0) {
        decode_width(family, in);
        in->destination_uniform = in->opcode->to_uniform;
        in->destination = (uint8_t)at_register(family, in, 16, in->destination_uniform).value;
    }
    bool collective = in->form == FORM_A_B_C && family->split_jump; /* WARPSYNC names code only then */
    if ((in->opcode->action == CS_DO_BRANCH && (in->code != 0x148 || collective)) || in->opcode->action == CS_DO_CALL ||
        in->code == CS_CODE_BSSY)
        decode_jump(family, in);
    if (in->opcode->action == CS_DO_STORE || in->opcode->action == CS_DO_LOAD)
        return;
    if (in->opcode->action == CS_DO_ATOMIC || in->opcode->action == CS_DO_REDUCE)
        in->access_words = in->opcode->space == CS_SPACE_SHARED ? 0 : atomic_words(family, in);
}

bool cs_instruction_conditional(const struct cs_instruction *in)
{
    bool guarded = in->guard != CS_PT || in->guard_negated;
    return guarded || bits(in, 87, 4) != CS_PT || bits(in, 91, 1) || in->code == 0x148;
}
