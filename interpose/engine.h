/*
 * engine.h - the analysis thread: started by the first event, ended by the report.
 */
#ifndef COPYSPY_INTERPOSE_ENGINE_H
#define COPYSPY_INTERPOSE_ENGINE_H

/* Makes sure that the analysis thread runs. One relaxed load once it does. Any thread. */
void cs_engine_wake(void);

/*
 * Has the report written and waits until it is, at most a few seconds; then the library is off. Does nothing when there
 * was no event, in a fork's child, or when it was done. Any thread of the program, also in
 * a signal handler: it makes only async-signal-safe calls.
 */
void cs_engine_finish(void);

/* In a fork's child: there is no analysis thread any more. */
void cs_engine_after_fork(void);

#endif
