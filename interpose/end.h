/*
 * end.h - leaving a report on every way out of the program.
 */
#ifndef COPYSPY_INTERPOSE_END_H
#define COPYSPY_INTERPOSE_END_H

/* Arms the ways out that need arming: exit handlers, and those fatal signals that nobody handles. Called once, when
 * CUDA is first used. */
void cs_end_arm(void);

#endif
