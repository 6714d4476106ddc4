/*
 * alone.h - has every thread of the program ended but ours?
 */
#ifndef COPYSPY_INTERPOSE_ALONE_H
#define COPYSPY_INTERPOSE_ALONE_H

#include <stdbool.h>

/*
 * True when main ended by pthread_exit and the calling thread is the only one that is left: without us the process
 * would have ended by itself. Reads /proc; not for hot paths. Analysis thread.
 */
bool cs_alone(void);

#endif
