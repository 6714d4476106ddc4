/*
 * end.h - how the program ends: noticing that it began to, and leaving a report on every way out.
 */
#ifndef COPYSPY_INTERPOSE_END_H
#define COPYSPY_INTERPOSE_END_H

/* Records CS_EVENT_END once the Python interpreter, if there is one, tears itself down. Cheap; any thread. */
void cs_end_check(void);

/* Arms the ways out that need arming: exit handlers, and those fatal signals that nobody handles. Called once, when
 * CUDA is first used. */
void cs_end_arm(void);

#endif
