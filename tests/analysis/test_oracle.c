/*
 * test_oracle.c - random programs against the definition of source-dead, applied afterwards to the whole history by
 * brute force.
 *
 * Each copy has a call stack of its own, so the ledger's sites say what was decided of each. Streams, graphs and blind
 * windows have their own tests; here are only objects, accesses and lifetimes, with sizes small enough that every byte
 * is looked at.
 */
#include "analysis/map64.h"
#include "analysis/state.h"
#include "tests/analysis/testing.h"

enum { SLOTS = 5, SIZE = 4, STEPS = 60, PROGRAMS = 20000 };
enum what { ALLOC, FREE, LAUNCH_ONE, LAUNCH_TWO, COPY, UPLOAD, FILL, DOWNLOAD, WHATS };

/* What happened: slots a and b; bytes [from, from + bytes) of each for copies; access of a kernel to a and b. */
struct happening {
    enum what what;
    int a, b;
    unsigned from, to, bytes, access_a, access_b;
    uint32_t stack;
};

static struct happening history[STEPS];
static uint64_t seed;

static unsigned draw(unsigned below)
{
    seed = cs_mix64(seed);
    return (unsigned)(seed % below);
}

static uint64_t base(int slot)
{
    return P + (uint64_t)slot * 65536;
}

/* ---- a random program ---- */

static int start(void **state)
{
    static struct stream stream;
    *state = &stream;
    return 0;
}

static int nothing_to_stop(void **state)
{
    (void)state;
    return 0;
}

/* Kernel ids 1..9: access of two parameters, 1 read, 2 write, 3 both: id = 3 * (a - 1) + b. */
static void define_kernels(struct stream *stream)
{
    static const char letters[] = " rwu";
    for (uint32_t a = 1; a <= 3; a++)
        for (uint32_t b = 1; b <= 3; b++) {
            char name[] = "kernel_??", accesses[] = "??";
            name[7] = accesses[0] = letters[a];
            name[8] = accesses[1] = letters[b];
            stream_kernel(stream, 3 * (a - 1) + b, name, accesses);
        }
}

static struct happening choose(const bool *alive, int step)
{
    struct happening it = {.what = (enum what)draw(WHATS), .a = (int)draw(SLOTS), .b = (int)draw(SLOTS)};
    bool whole = draw(4) != 0;
    it.bytes = whole ? SIZE : 1 + draw(SIZE);
    it.from = draw(SIZE + 1 - it.bytes);
    it.to = draw(SIZE + 1 - it.bytes);
    it.access_a = 1 + draw(3);
    it.access_b = it.what == LAUNCH_ONE ? it.access_a : 1 + draw(3);
    it.stack = (uint32_t)step + 1;
    if (it.what == LAUNCH_ONE)
        it.b = it.a;
    if (!alive[it.a])
        it.what = ALLOC;
    else if (it.what == ALLOC)
        it.what = FREE;
    if (it.what == LAUNCH_TWO && !alive[it.b])
        it.b = it.a;
    if (it.what == COPY && (!alive[it.b] || it.a == it.b))
        it.what = UPLOAD;
    return it;
}

static void play(struct stream *stream, const struct happening *it)
{
    uint64_t a = base(it->a), b = base(it->b);
    stream->stack = it->stack;
    if (it->what == ALLOC)
        stream_alloc(stream, a, SIZE, CS_ALLOCATOR_PLAIN);
    else if (it->what == FREE)
        stream_free(stream, a, CS_ALLOCATOR_PLAIN);
    else if (it->what == LAUNCH_ONE || it->what == LAUNCH_TWO)
        LAUNCH(stream, 3 * (it->access_a - 1) + it->access_b, a, b);
    else if (it->what == COPY)
        stream_copy(stream, b + it->to, a + it->from, it->bytes);
    else if (it->what == UPLOAD)
        stream_upload(stream, a + it->to, it->bytes);
    else if (it->what == FILL)
        stream_fill(stream, a + it->to, it->bytes);
    else
        stream_download(stream, a + it->from, it->bytes);
}

static void run_program(struct stream *stream)
{
    bool alive[SLOTS] = {false};
    for (int step = 0; step < STEPS; step++) {
        struct happening it = choose(alive, step);
        alive[it.a] = it.what == ALLOC ? true : it.what == FREE ? false : alive[it.a];
        history[step] = it;
        play(stream, &it);
    }
}

/* ---- the definition, by brute force ---- */

static bool is_launch(const struct happening *it)
{
    return it->what == LAUNCH_ONE || it->what == LAUNCH_TWO;
}

/* The access of a kernel to a slot: 0 none, 1 read, 2 write. */
static unsigned access_of(const struct happening *it, int slot)
{
    unsigned access = 0;
    if (is_launch(it) && it->a == slot)
        access |= it->access_a;
    if (is_launch(it) && it->b == slot)
        access |= it->access_b;
    return access;
}

static bool meet(unsigned from, unsigned bytes, unsigned other, unsigned count)
{
    return from < other + count && other < from + bytes;
}

static bool reads(const struct happening *it, int slot, unsigned from, unsigned bytes)
{
    if (it->what == COPY || it->what == DOWNLOAD)
        return it->a == slot && meet(from, bytes, it->from, it->bytes);
    return access_of(it, slot) & 1;
}

/* A write other than a fill. */
static bool writes(const struct happening *it, int slot)
{
    return (it->what == COPY && it->b == slot) || (it->what == UPLOAD && it->a == slot) || access_of(it, slot) & 2;
}

static bool overwrites(const struct happening *it, int slot, unsigned from, unsigned bytes)
{
    bool here = (it->what == COPY && it->b == slot) || ((it->what == UPLOAD || it->what == FILL) && it->a == slot);
    return here && it->to <= from && it->to + it->bytes >= from + bytes;
}

/* A fill of bytes that the copy does not hide. */
static bool shows_fill(const struct happening *it, const struct happening *copy)
{
    bool hidden = copy->to <= it->to && copy->to + copy->bytes >= it->to + it->bytes;
    return it->what == FILL && it->a == copy->b && !hidden;
}

/* (a): of all the destination, or into a buffer of the same room. */
static bool is_born_for(int index)
{
    const struct happening *copy = &history[index];
    for (int i = index - 1; i >= 0 && !(history[i].what == ALLOC && history[i].a == copy->b); i--)
        if (writes(&history[i], copy->b) || reads(&history[i], copy->b, 0, SIZE) || shows_fill(&history[i], copy))
            return false;
    return copy->bytes == SIZE || (copy->from == 0 && copy->to == 0);
}

static bool is_hazard(const struct happening *it, const struct happening *copy)
{
    unsigned source = access_of(it, copy->a), destination = access_of(it, copy->b);
    return source && destination && (source | destination) & 2;
}

static bool is_return(const struct happening *it, const struct happening *copy)
{
    return it->what == COPY && it->a == copy->b && it->b == copy->a;
}

/* The destination's bytes of this copy come to their end: what lies there afterwards has nothing to do with it. */
static bool ends_destination(const struct happening *it, const struct happening *copy)
{
    return (it->what == FREE && it->a == copy->b) || overwrites(it, copy->b, copy->to, copy->bytes);
}

enum fate { SAVED, OPEN, FREED, OVERWRITTEN };

/* (b), (c), (d): followed until nothing can save the source any more. */
static enum fate fate_of_source(int index)
{
    const struct happening *copy = &history[index];
    bool destination_lives = true, overwritten = false;
    for (int i = index + 1; i < STEPS; i++) {
        const struct happening *it = &history[i];
        if (destination_lives && (is_hazard(it, copy) || is_return(it, copy)))
            return SAVED;
        bool whole = copy->bytes == SIZE;
        if (!overwritten && reads(it, copy->a, whole ? copy->from : 0, whole ? copy->bytes : SIZE))
            return SAVED;
        destination_lives &= !ends_destination(it, copy);
        if (!overwritten && it->what == FREE && it->a == copy->a)
            return FREED;
        overwritten |= overwrites(it, copy->a, copy->from, copy->bytes);
        if (overwritten && (!destination_lives || (it->what == FREE && it->a == copy->a)))
            return OVERWRITTEN;
    }
    return OPEN;
}

static unsigned long long current, confirmed;

static void check_copy(const struct stream *stream, int index)
{
    const uint64_t *at = cs_map64_get(&stream->analysis->ledger.by_stack, history[index].stack);
    assert_non_null(at);
    const struct cs_site *site = &stream->analysis->ledger.sites[*at];
    enum fate fate = is_born_for(index) ? fate_of_source(index) : SAVED;
    assert_int_equal(site->copies, 1);
    if (site->redundant && fate != FREED && fate != OVERWRITTEN)
        fail_msg("seed of program %llu: copy %d was called redundant", current, index);
    if (fate == FREED && !site->redundant)
        fail_msg("seed of program %llu: copy %d was not called redundant", current, index);
    confirmed += site->redundant != 0;
}

static void verdicts_agree_with_the_definition_over_random_programs(void **state)
{
    struct stream *stream = *state;
    for (uint64_t program = 0; program < PROGRAMS; program++) {
        current = seed = program;
        stream_start(stream);
        define_kernels(stream);
        run_program(stream);
        for (int i = 0; i < STEPS; i++)
            if (history[i].what == COPY)
                check_copy(stream, i);
        stream_stop(stream);
    }
    assert_true(confirmed > PROGRAMS / 20); /* the property was not empty */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(verdicts_agree_with_the_definition_over_random_programs, start,
                                        nothing_to_stop),
    };
    return cmocka_run_group_tests_name("oracle", tests, NULL, NULL);
}
