/*
 * group.c - see group.h. One thread at a time.
 */
#include "analysis/report/group.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

/* A copy reads and writes every byte, at about this share of the memory's peak bandwidth. */
#define BANDWIDTH_SHARE 0.85

static void hash_text(XXH3_state_t *state, const char *text)
{
    XXH3_64bits_update(state, text, strlen(text) + 1);
}

/* Same file, line and function, same operators, same backward node. */
static uint64_t key_of(const struct cs_attribution *attribution, XXH3_state_t *state)
{
    const struct cs_frame *site = attribution ? attribution->site : NULL;
    XXH3_64bits_reset(state);
    if (site) {
        hash_text(state, site->file);
        hash_text(state, site->line > 0 ? "" : site->function);
        hash_text(state, site->line > 0 ? "" : site->module);
        XXH3_64bits_update(state, &site->line, sizeof site->line);
    }
    for (size_t i = 0; attribution && i < attribution->operator_count; i++)
        hash_text(state, attribution->operators[i]);
    hash_text(state, attribution && attribution->autograd_node ? attribution->autograd_node : "");
    return XXH3_64bits_digest(state);
}

static uint64_t estimate(const struct cs_analysis *analysis, const struct cs_site *site)
{
    uint64_t rate = site->device < CS_DEVICES_MAX ? analysis->devices[site->device].bytes_per_second : 0;
    return rate ? (uint64_t)(2.0 * (double)site->bytes / (BANDWIDTH_SHARE * (double)rate) * 1e9) : 0;
}

static bool same_columns(const struct cs_frame *a, const struct cs_frame *b)
{
    return a->column == b->column && a->end_column == b->end_column && a->end_line == b->end_line;
}

static void add(struct cs_site *sum, const struct cs_site *site)
{
    if (site->redundant && !sum->redundant)
        sum->evidence = site->evidence;
    if (site->redundant && site->confidence < sum->confidence)
        sum->confidence = site->confidence;
    for (size_t why = 0; why < CS_WHY_COUNT; why++) {
        if (site->whys[why] && !sum->whys[why])
            sum->actors[why] = site->actors[why];
        sum->whys[why] += site->whys[why];
    }
    sum->copies += site->copies;
    sum->bytes += site->bytes;
    sum->captured += site->captured;
    sum->pending += site->pending;
    sum->redundant += site->redundant;
    sum->timed += site->timed;
    sum->timed_ns += site->timed_ns;
}

static void join(struct cs_group *group, const struct cs_site *site, const struct cs_attribution *attribution)
{
    if (attribution && attribution->site && group->attribution && group->attribution->site &&
        !same_columns(attribution->site, group->attribution->site))
        group->columns_differ = true;
    add(&group->sum, site);
}

struct cs_group *cs_groups(const struct cs_analysis *analysis, size_t *count)
{
    const struct cs_ledger *ledger = &analysis->ledger;
    struct cs_group *groups = calloc(ledger->site_count ? ledger->site_count : 1, sizeof *groups);
    XXH3_state_t *state = XXH3_createState();
    struct cs_map64 by_key = {0};
    *count = 0;
    for (size_t i = 0; groups && state && i < ledger->site_count; i++) {
        const struct cs_site *site = &ledger->sites[i];
        const struct cs_attribution *attribution = cs_stacks_attribution(analysis->stacks, site->stack);
        uint64_t key = key_of(attribution, state), *known = cs_map64_get(&by_key, key);
        struct cs_group *group = known ? &groups[*known] : &groups[*count];
        if (!known) {
            cs_map64_put(&by_key, key, (*count)++);
            *group = (struct cs_group){.key = key, .attribution = attribution};
            group->sum.confidence = CS_CONFIDENCE_PROVEN;
        }
        join(group, site, attribution);
        group->estimated_ns += estimate(analysis, site);
    }
    cs_map64_release(&by_key);
    XXH3_freeState(state);
    return groups;
}

uint64_t cs_group_time(const struct cs_group *group)
{
    const struct cs_site *sum = &group->sum;
    if (!sum->timed)
        return group->estimated_ns;
    return (uint64_t)((double)sum->timed_ns * (double)sum->copies / (double)sum->timed);
}
