/*
 * fakes.c - what the rings need of the rest of the library: always on, no analysis thread.
 */
#include "interpose/engine.h"
#include "interpose/state.h"

bool cs_state_active(void)
{
    return true;
}

void cs_engine_wake(void)
{
}
