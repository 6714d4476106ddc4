/*
 * cupti_library.h - CUPTI's functions, from the libcupti that belongs in this process.
 */
#ifndef COPYSPY_INTERPOSE_CUPTI_LIBRARY_H
#define COPYSPY_INTERPOSE_CUPTI_LIBRARY_H

#include <cupti.h>
#include <stdbool.h>

/* The functions of CUPTI that are used, by name; all are needed. */
#define CS_CUPTI_FUNCTIONS(X)                                                                                          \
    X(cuptiSubscribe)                                                                                                  \
    X(cuptiUnsubscribe)                                                                                                \
    X(cuptiEnableCallback)                                                                                             \
    X(cuptiGetVersion)                                                                                                 \
    X(cuptiActivityRegisterCallbacks)                                                                                  \
    X(cuptiActivityEnable)                                                                                             \
    X(cuptiActivityDisable)                                                                                            \
    X(cuptiActivityFlushAll)                                                                                           \
    X(cuptiActivityGetNextRecord)                                                                                      \
    X(cuptiActivitySetAttribute)

struct cs_cupti_library {
#define CS_CUPTI_DECLARE(name) __typeof__(name) *name;
    CS_CUPTI_FUNCTIONS(CS_CUPTI_DECLARE)
#undef CS_CUPTI_DECLARE
};

/*
 * Opens CUPTI: the one that is mapped already, else the one that belongs to the runtime in use, else the newest that
 * the driver can work with. False when there is none or it lacks a function. Called once, inside cuInit.
 */
bool cs_cupti_open(struct cs_cupti_library *library);

#endif
