/*
 * real.h - the real function behind a hook: the one that the caller would have reached without us.
 */
#ifndef COPYSPY_INTERPOSE_REAL_H
#define COPYSPY_INTERPOSE_REAL_H

/* One number per exported hook. */
enum cs_api {
#define CS_API_PLAIN(name) CS_API_##name,
#define CS_API_PTDS(name) CS_API_##name, CS_API_##name##_ptds,
#define CS_API_PTSZ(name) CS_API_##name, CS_API_##name##_ptsz,
#define CS_API(name, variant, parameters, arguments, fact) CS_API_##variant(name)
#define CS_API_FREE(name, variant, parameters, arguments, allocator, address) CS_API_##variant(name)
#include "interpose/cuda_api.def"
#undef CS_API
#undef CS_API_FREE
#undef CS_API_PLAIN
#undef CS_API_PTDS
#undef CS_API_PTSZ
    CS_API_COUNT
};

/*
 * The real function `symbol` for the code at `caller` (a return address in it); never `own`, our hook. With one runtime
 * in the process it is that one's; with several, the one that the caller's library was linked with. NULL: no runtime in
 * the process has it. Found once per caller, then a hash look-up. Any thread; takes no lock of ours.
 */
void *cs_real(enum cs_api api, const char *symbol, const void *own, const void *caller);

/*
 * A function of a library that is in the process already (in any scope), by a part of the library's file name such as
 * "libcuda.so."; NULL when either is missing. Does not load anything, but keeps
 * the library from being unloaded, since its functions are remembered. Not for hot paths.
 */
void *cs_mapped_symbol(const char *library_part, const char *symbol);

/* A handle of a library that is in the process already, by a part of its file name; NULL when there is none. */
void *cs_mapped_library(const char *library_part);

#endif
