/*
 * fake_code.c - kernel summaries out of a string of letters; see stream.h. One thread.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/analysis/fakes.h"
#include "tests/analysis/stream.h"

struct image {
    char name[128], accesses[32];
    uint32_t architecture;
    bool gone;
};
struct cs_cubin {
    const struct image *image;
};

static struct image images[256];
static uint32_t image_count;
static int mapped, mappings, summaries;

void fakes_reset(void)
{
    fake_code_reset();
    fake_stacks_reset();
}

void fake_code_reset(void)
{
    image_count = 0;
    mapped = mappings = summaries = 0;
}

uint32_t fake_code(const char *name, const char *accesses, uint32_t architecture)
{
    struct image *image = &images[image_count];
    memset(image, 0, sizeof *image);
    strncpy(image->name, name, sizeof image->name - 1);
    strncpy(image->accesses, accesses, sizeof image->accesses - 1);
    image->architecture = architecture;
    return ++image_count;
}

void stream_code_gone(uint32_t module)
{
    images[module - 1].gone = true;
}

int stream_mapped(void)
{
    return mapped;
}

int stream_mappings(void)
{
    return mappings;
}

int stream_summaries(void)
{
    return summaries;
}

int fake_map(void *context, uint32_t id, const void **image, size_t *size)
{
    (void)context;
    if (!id || id > image_count || images[id - 1].gone)
        return -1;
    mapped++;
    mappings++;
    *image = &images[id - 1];
    *size = sizeof images[0];
    return 0;
}

void fake_unmap(void *context, uint32_t id, const void *image, size_t size)
{
    (void)context;
    (void)size;
    mapped -= image == &images[id - 1];
}

int cs_cubin_open(const void *image, size_t size, struct cs_cubin **cubin, struct cs_error *error)
{
    (void)size;
    (void)error;
    *cubin = malloc(sizeof **cubin);
    (*cubin)->image = image;
    return 0;
}

void cs_cubin_close(struct cs_cubin *cubin)
{
    free(cubin);
}

size_t cs_cubin_kernel_count(const struct cs_cubin *cubin)
{
    (void)cubin;
    return 1;
}

const char *cs_cubin_kernel_name(const struct cs_cubin *cubin, size_t kernel)
{
    (void)kernel;
    return cubin->image->name;
}

size_t cs_cubin_find(const struct cs_cubin *cubin, const char *name)
{
    return strcmp(cubin->image->name, name) ? SIZE_MAX : 0;
}

uint32_t cs_cubin_architecture(const struct cs_cubin *cubin)
{
    return cubin->image->architecture;
}

uint64_t cs_cubin_kernel_hash(const struct cs_cubin *cubin, size_t kernel)
{
    uint64_t hash = 14695981039346656037u;
    (void)kernel;
    for (const char *at = cubin->image->accesses; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    return hash;
}

static const struct {
    char letter;
    uint32_t access, kind, words;
} letters[] = {
    {'r', CS_ACCESS_READ, CS_SLOT_POINTER, 1},
    {'w', CS_ACCESS_WRITE, CS_SLOT_POINTER, 1},
    {'u', CS_ACCESS_READ | CS_ACCESS_WRITE, CS_SLOT_POINTER, 1},
    {'s', CS_ACCESS_STORED, CS_SLOT_POINTER, 1},
    {'t', CS_ACCESS_READ, CS_SLOT_TABLE, 4},
    {'m', CS_ACCESS_WRITE, CS_SLOT_TENSOR_MAP, 8},
};

static uint32_t add_slot(struct cs_kernel_summary *summary, char letter, uint32_t offset)
{
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (letters[i].letter == letter) {
            summary->slots[summary->slot_count++] =
                (struct cs_slot){offset, letters[i].words * 8, letters[i].access, letters[i].kind};
            return letters[i].words * 8;
        }
    return 8;
}

int cs_summarize(const struct cs_cubin *cubin, size_t kernel, struct cs_kernel_summary *summary, struct cs_error *error)
{
    uint32_t offset = 0;
    (void)kernel;
    (void)error;
    summaries++;
    memset(summary, 0, sizeof *summary);
    summary->architecture = cubin->image->architecture;
    summary->slots = calloc(strlen(cubin->image->accesses) + 1, sizeof *summary->slots);
    for (const char *at = cubin->image->accesses; *at; at++) {
        summary->opaque_read |= *at == '*' || *at == '!' || *at == '?';
        summary->opaque_write |= *at == '!' || *at == '?';
        summary->incomplete |= *at == '?';
        offset += add_slot(summary, *at, offset);
    }
    return 0;
}

void cs_summary_release(struct cs_kernel_summary *summary)
{
    free(summary->slots);
}
