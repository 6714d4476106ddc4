/*
 * analysis.c - see analysis.h: one table from event kinds to what they do. One thread at a time.
 */
#include "analysis/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/state.h"

static void on_process(struct cs_analysis *analysis, const struct cs_event *event)
{
    size_t room = event->size - offsetof(struct cs_process_def, command);
    const struct cs_process_def *process = (const struct cs_process_def *)event;
    memcpy(&analysis->process, process, sizeof analysis->process);
    free(analysis->command);
    analysis->command = strndup(process->command, room);
}

static void on_device(struct cs_analysis *analysis, const struct cs_event *event)
{
    const struct cs_device_def *definition = (const struct cs_device_def *)event;
    size_t room = event->size - offsetof(struct cs_device_def, name);
    if (event->device >= CS_DEVICES_MAX)
        return;
    struct cs_device *device = &analysis->devices[event->device];
    *device = (struct cs_device){.bytes_per_second = definition->bytes_per_second,
                                 .compute_capability = definition->compute_capability};
    strncpy(device->name, definition->name, room < sizeof device->name ? room : sizeof device->name - 1);
}

static void on_end(struct cs_analysis *analysis, const struct cs_event *event)
{
    (void)event;
    analysis->ended = true;
}

static void on_stack(struct cs_analysis *analysis, const struct cs_event *event)
{
    cs_stacks_event(analysis->stacks, event);
}

struct handler {
    void (*handle)(struct cs_analysis *analysis, const struct cs_event *event);
    uint32_t size; /* the least that a record of this kind has */
};

static const struct handler handlers[CS_EVENT_KIND_COUNT] = {
    [CS_EVENT_PROCESS] = {on_process, sizeof(struct cs_process_def)},
    [CS_EVENT_DEVICE] = {on_device, sizeof(struct cs_device_def)},
    [CS_EVENT_KERNEL] = {cs_on_kernel, sizeof(struct cs_kernel_def)},
    [CS_EVENT_CODE_LOADED] = {cs_on_code_loaded, sizeof(struct cs_code)},
    [CS_EVENT_CODE_UNLOADED] = {cs_on_code_unloaded, sizeof(struct cs_code)},
    [CS_EVENT_OBJECT_FILE] = {on_stack, sizeof(struct cs_object_file)},
    [CS_EVENT_PYTHON_FRAME] = {on_stack, sizeof(struct cs_python_frame_def)},
    [CS_EVENT_STACK] = {on_stack, sizeof(struct cs_stack_def)},
    [CS_EVENT_LAUNCH] = {cs_on_launch, sizeof(struct cs_launch)},
    [CS_EVENT_COPY] = {cs_on_copy, sizeof(struct cs_copy)},
    [CS_EVENT_FILL] = {cs_on_fill, sizeof(struct cs_fill)},
    [CS_EVENT_ALLOC] = {cs_on_alloc, sizeof(struct cs_allocation)},
    [CS_EVENT_FREE] = {cs_on_free, sizeof(struct cs_allocation)},
    [CS_EVENT_ESCAPE] = {cs_on_escape, sizeof(struct cs_escape)},
    [CS_EVENT_CAPTURE_BEGIN] = {cs_on_capture_begin, sizeof(struct cs_event)},
    [CS_EVENT_GRAPH_LAUNCH] = {cs_on_graph_launch, sizeof(struct cs_event)},
    [CS_EVENT_COPY_TIME] = {cs_on_copy_time, sizeof(struct cs_copy_time)},
    [CS_EVENT_END] = {on_end, sizeof(struct cs_event)},
    [CS_EVENT_BLIND_BEGIN] = {cs_on_blind_begin, sizeof(struct cs_blind)},
    [CS_EVENT_BLIND_END] = {cs_on_blind_end, sizeof(struct cs_blind)},
    [CS_EVENT_LOST] = {cs_on_lost, sizeof(struct cs_lost)},
};

struct cs_analysis *cs_analysis_new(const struct cs_host *host)
{
    struct cs_analysis *analysis = calloc(1, sizeof *analysis);
    if (!analysis)
        return NULL;
    if (host)
        analysis->host = *host;
    analysis->stacks = cs_stacks_new();
    if (!analysis->stacks) {
        free(analysis);
        return NULL;
    }
    return analysis;
}

/* A record of a known kind, long enough, whose variable part fits. */
static bool valid(const struct cs_event *event)
{
    if (event->kind >= CS_EVENT_KIND_COUNT || !handlers[event->kind].handle)
        return false;
    if (event->size < handlers[event->kind].size)
        return false;
    if (event->kind == CS_EVENT_LAUNCH)
        return ((const struct cs_launch *)event)->parameter_bytes <= event->size - sizeof(struct cs_launch);
    return true;
}

void cs_analysis_event(struct cs_analysis *analysis, const struct cs_event *event)
{
    analysis->events++;
    if (!valid(event))
        return;
    analysis->sequence = event->sequence;
    analysis->stream = event->stream;
    handlers[event->kind].handle(analysis, event);
}

struct cs_report *cs_analysis_report(struct cs_analysis *analysis, const struct cs_self *self)
{
    return cs_findings_report(analysis, self);
}

static void abandon_all(struct cs_object *tree)
{
    if (!tree)
        return;
    abandon_all(tree->left);
    abandon_all(tree->right);
    cs_ledger_abandon(tree);
}

void cs_analysis_free(struct cs_analysis *analysis)
{
    if (!analysis)
        return;
    abandon_all(analysis->map.blocks);
    abandon_all(analysis->map.allocations);
    cs_map_release(&analysis->map);
    cs_kernels_release(&analysis->kernels);
    cs_ledger_release(&analysis->ledger);
    cs_timing_release(&analysis->timing);
    cs_stacks_free(analysis->stacks);
    free(analysis->accessed);
    free(analysis->command);
    free(analysis);
}
