/*
 * stack_native.h - the native half of a stack: libunwind behind three functions, opened at run time.
 *
 * Threads: any, after cs_native_open. libunwind takes the loader's lock for code that it has not met; no lock of ours
 * is held meanwhile.
 */
#ifndef COPYSPY_INTERPOSE_STACK_NATIVE_H
#define COPYSPY_INTERPOSE_STACK_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens libunwind from beside our own library first, RTLD_LOCAL. Without it glibc's backtrace is used: one warning.
 * Once. */
void cs_native_open(const char *own_directory);

/* Return addresses from the caller's caller outwards, at most `capacity`; the innermost few are this library's own. */
size_t cs_native_backtrace(uint64_t *addresses, size_t capacity);

/*
 * What fixes a stack, seen from one frame's base: the words of stack memory that hold return addresses, and those that
 * hold a frame's base where that frame is laid out from it. Offsets count bytes from `base`.
 */
enum { CS_WALK_MAX = 96 };
struct cs_native_word {
    uint32_t offset;
    uint64_t value; /* a return address, or the distance of a saved pointer from `base` */
};
struct cs_native_walk {
    size_t returns, bases; /* used entries of each */
    struct cs_native_word at_return[CS_WALK_MAX], at_base[2 * CS_WALK_MAX];
};

/*
 * Walks from the frame whose __builtin_frame_address(0) is `base`, which must be a caller's, for at most `depth` return
 * addresses. False when libunwind is not there or some frame's return address does not lie just below the frame above
 * it (signal frames, other architectures).
 */
bool cs_native_walk(struct cs_native_walk *walk, const void *base, size_t depth);

#endif
