/*
 * stack_native.c - see stack_native.h.
 *
 * unw_backtrace keeps a cache of frame layouts per thread and costs some 8 ns a frame; stepping a cursor costs
 * hundreds, but tells where each return address lies. The first is for captures, the second for the first sight of a
 * stack.
 */
#include "interpose/stack_native.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "interpose/debug.h"
#include "interpose/warn.h"

#define TEXT_OF(name) #name
#define SYMBOL(name) TEXT_OF(name) /* libunwind's names carry the architecture: _ULx86_64_step */

static struct {
    int (*backtrace)(void **, int); /* unw_backtrace, else glibc's */
    int (*get_context)(unw_context_t *);
    int (*start)(unw_cursor_t *, unw_context_t *);
    int (*step)(unw_cursor_t *);
    int (*get_register)(unw_cursor_t *, int, unw_word_t *);
    int (*get_place)(unw_cursor_t *, int, unw_save_loc_t *);
} native = {.backtrace = backtrace};

static void *open_library(const char *own_directory)
{
    char path[PATH_MAX];
    void *library = NULL;
    if (own_directory && snprintf(path, sizeof path, "%s/libunwind.so.8", own_directory) < (int)sizeof path)
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return library ? library : dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
}

/* Sets one pointer of `native`; all of them are pointers to functions. */
static void resolve(void *library, void *field, const char *symbol)
{
    void *address = dlsym(library, symbol);
    memcpy(field, &address, sizeof address);
}

void cs_native_open(const char *own_directory)
{
    void *library = open_library(own_directory);
    if (library && dlsym(library, "unw_backtrace")) {
        resolve(library, &native.backtrace, "unw_backtrace");
        resolve(library, &native.get_context, SYMBOL(UNW_ARCH_OBJ(getcontext)));
        resolve(library, &native.start, SYMBOL(UNW_OBJ(init_local)));
        resolve(library, &native.step, SYMBOL(UNW_OBJ(step)));
        resolve(library, &native.get_register, SYMBOL(UNW_OBJ(get_reg)));
        resolve(library, &native.get_place, SYMBOL(UNW_OBJ(get_save_loc)));
        cs_debug(CS_DEBUG_unwind, 1, "native stacks through libunwind");
        return;
    }
    cs_warn_once("no-libunwind", "libunwind.so.8 cannot be opened: call stacks cost some 4 us each");
    void *warm[4];
    backtrace(warm, 4); /* glibc opens libgcc_s on the first call: not in a hook */
}

size_t cs_native_backtrace(uint64_t *addresses, size_t capacity)
{
    int count = native.backtrace((void **)addresses, (int)capacity);
    while (count > 0 && addresses[count - 1] == 0) /* the outermost frame's */
        count--;
    return count > 0 ? (size_t)count : 0;
}

#ifdef __x86_64__

/* A stack word of any frame: no sanitizer's business. */
__attribute__((no_sanitize("address", "thread"))) static uint64_t stack_word(uint64_t address)
{
    return *(const volatile uint64_t *)(uintptr_t)address;
}

static void add_base(struct cs_native_walk *walk, uint64_t base, uint64_t place)
{
    struct cs_native_word *word = &walk->at_base[walk->bases++];
    word->offset = (uint32_t)(place - base);
    word->value = stack_word(place) - base;
}

/*
 * Notes what the place of a frame's return address depends on beyond its callee: nothing when the frame has a fixed
 * size; the saved rbp when the frame is laid out from it (alloca, -fno-omit-frame-pointer); also the word below it when
 * that holds the frame's upper end, as in functions that align their stack. `low` and `high` are the frame's bounds,
 * `rbp` its value there, `saved` where its callee keeps that.
 */
static void note_base(struct cs_native_walk *walk, uint64_t base, uint64_t low, uint64_t high, uint64_t rbp,
                      uint64_t saved)
{
    if (rbp < low || rbp >= high || rbp % 8 != 0 || saved < base)
        return;
    add_base(walk, base, saved);
    if (rbp != high - 16 && rbp - 8 >= low && stack_word(rbp - 8) == high)
        add_base(walk, base, rbp - 8);
}

/* One frame outwards; fills what the next call starts from. False at the end or when it cannot be followed. */
struct position {
    unw_cursor_t cursor;
    unw_word_t stack, rbp;
    uint64_t rbp_place;
};

static bool look(struct position *at)
{
    unw_save_loc_t place;
    if (native.get_register(&at->cursor, UNW_REG_SP, &at->stack) < 0 ||
        native.get_register(&at->cursor, UNW_X86_64_RBP, &at->rbp) < 0 ||
        native.get_place(&at->cursor, UNW_X86_64_RBP, &place) < 0)
        return false;
    at->rbp_place = place.type == UNW_SLT_MEMORY ? place.u.addr : 0;
    return true;
}

/* Takes the step out of the frame at *at. 1 noted, 0 the outermost frame, -1 not to be followed. */
static int take_step(struct cs_native_walk *walk, struct position *at, uint64_t base)
{
    uint64_t low = at->stack, rbp = at->rbp, place = at->rbp_place;
    unw_word_t address;
    if (native.step(&at->cursor) <= 0)
        return 0;
    if (native.get_register(&at->cursor, UNW_REG_IP, &address) < 0 || !look(at))
        return -1;
    if (address == 0)
        return 0;
    uint64_t high = at->stack;
    if (high <= low || high - base > UINT32_MAX || stack_word(high - 8) != address)
        return -1;
    if (low >= base)
        note_base(walk, base, low, high, rbp, place);
    walk->at_return[walk->returns++] = (struct cs_native_word){(uint32_t)(high - 8 - base), address};
    return 1;
}

bool cs_native_walk(struct cs_native_walk *walk, const void *base, size_t depth)
{
    unw_context_t context;
    struct position at;
    uint64_t start = (uintptr_t)base;
    walk->returns = walk->bases = 0;
    if (depth == 0 || !native.get_context || !native.start || !native.step || !native.get_register || !native.get_place)
        return false;
    native.get_context(&context);
    if (native.start(&at.cursor, &context) < 0 || !look(&at))
        return false;
    while (at.stack <= start) { /* our own frames up to and including the base's; x86-64: base + 16 is its upper end */
        if (native.step(&at.cursor) <= 0 || !look(&at))
            return false;
    }
    if (at.stack != start + 16)
        return false;
    walk->at_return[walk->returns++] = (struct cs_native_word){8, stack_word(start + 8)};
    while (walk->returns < depth && walk->returns < CS_WALK_MAX) {
        int step = take_step(walk, &at, start);
        if (step < 0)
            return false;
        if (step == 0)
            break;
    }
    return true;
}

#else

bool cs_native_walk(struct cs_native_walk *walk, const void *base, size_t depth)
{
    (void)walk, (void)base, (void)depth;
    return false;
}

#endif
