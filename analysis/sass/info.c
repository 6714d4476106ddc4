/*
 * info.c - the attributes of .nv.info sections: parameters and targets of indirect branches. Any thread.
 *
 * An attribute is a format byte, an attribute byte and two bytes that are a value, or, in format 4, the length of what
 * follows. Numbers of attributes are those of the public EIATTR_* list that cuobjdump prints.
 */
#include "analysis/sass/cubin.h"

#include <stdlib.h>

enum {
    FORMAT_SIZED = 4,
    ATTRIBUTE_KPARAM_INFO = 0x17,
    ATTRIBUTE_INDIRECT_BRANCH_TARGETS = 0x34,
    ATTRIBUTE_KPARAM_INFO_V2 = 0x45,
    MOST_PARAMETERS = 4096
};

bool cs_info_next(struct cs_bytes info, size_t *offset, uint8_t *attribute, struct cs_bytes *payload)
{
    if (*offset > info.size || info.size - *offset < 4)
        return false;
    const uint8_t *at = info.data + *offset;
    *attribute = at[1];
    if (at[0] != FORMAT_SIZED) {
        *payload = (struct cs_bytes){at + 2, 2};
        *offset += 4;
        return true;
    }
    size_t size = cs_read16(at + 2);
    if (info.size - *offset - 4 < size)
        return false;
    *payload = (struct cs_bytes){at + 4, size};
    *offset += 4 + size;
    return true;
}

/* Both forms: index, ordinal, offset; then the size, in the upper bits of a flags word in the old form. */
static bool parse_parameter(uint8_t attribute, struct cs_bytes payload, uint32_t *ordinal, struct cs_parameter *found)
{
    if ((attribute != ATTRIBUTE_KPARAM_INFO && attribute != ATTRIBUTE_KPARAM_INFO_V2) || payload.size < 12)
        return false;
    *ordinal = cs_read16(payload.data + 4);
    uint32_t last = cs_read32(payload.data + 8);
    found->offset = cs_read16(payload.data + 6);
    found->size = attribute == ATTRIBUTE_KPARAM_INFO ? last >> 18 : last;
    return true;
}

int cs_cubin_parameters(const struct cs_cubin *cubin, const struct cs_kernel *kernel, struct cs_parameter **parameters,
                        size_t *count, struct cs_error *error)
{
    struct cs_bytes payload, info = cubin->sections[kernel->info].bytes;
    struct cs_parameter found;
    uint32_t ordinal;
    uint8_t attribute;
    *count = 0;
    *parameters = NULL;
    for (size_t offset = 0; cs_info_next(info, &offset, &attribute, &payload);)
        if (parse_parameter(attribute, payload, &ordinal, &found) && ordinal + 1 > *count)
            *count = ordinal + 1;
    if (*count > MOST_PARAMETERS)
        return cs_fail(error, "cubin: offset %zu: %s: parameter %zu of at most %d", (size_t)(info.data - cubin->image),
                       kernel->name, *count, MOST_PARAMETERS);
    if (*count == 0)
        return 0;
    *parameters = calloc(*count, sizeof **parameters);
    if (!*parameters)
        return cs_fail(error, "cubin: out of memory for %zu parameters", *count);
    for (size_t offset = 0; cs_info_next(info, &offset, &attribute, &payload);)
        if (parse_parameter(attribute, payload, &ordinal, &found))
            (*parameters)[ordinal] = found;
    return 0;
}

bool cs_cubin_branch_targets(const struct cs_cubin *cubin, const struct cs_kernel *kernel, uint32_t branch,
                             struct cs_branch_targets *targets)
{
    struct cs_bytes payload, info = cubin->sections[kernel->info].bytes;
    uint8_t attribute;
    for (size_t offset = 0; cs_info_next(info, &offset, &attribute, &payload);) {
        if (attribute != ATTRIBUTE_INDIRECT_BRANCH_TARGETS)
            continue;
        for (size_t at = 0; at + 12 <= payload.size;) {
            uint32_t count = cs_read32(payload.data + at + 8);
            if (count > (payload.size - at - 12) / 4)
                break;
            *targets = (struct cs_branch_targets){cs_read32(payload.data + at), payload.data + at + 12, count};
            if (targets->branch == branch)
                return true;
            at += 12 + 4 * (size_t)count;
        }
    }
    return false;
}
