/*
 * runtime_absent.c - the functions that the real runtime exports and the stand-in does not do: they answer
 * cudaErrorNotSupported, so that a program linked against the real library loads.
 *
 * Apart from the others because the toolkit's headers, which declare them with their parameters, must stay out.
 *
 * Threads: any.
 */
#define NOT_SUPPORTED 801 /* cudaErrorNotSupported */

#define RUNTIME(name, id, parameters, arguments)
#define RUNTIME_HOST(name, id, parameters, arguments)
#define RUNTIME_PTSZ(name, id, twin, parameters, arguments)
#define RUNTIME_PTDS(name, id, twin, parameters, arguments)
#define RUNTIME_LAUNCH(name, id, twin, parameters, arguments, function)
#define RUNTIME_VOID(name, id)
#define RUNTIME_ABSENT(name)                                                                                           \
    __attribute__((visibility("default"))) int name(void);                                                             \
    int name(void)                                                                                                     \
    {                                                                                                                  \
        return NOT_SUPPORTED;                                                                                          \
    }
#include "tests/sim/runtime_api.def"
