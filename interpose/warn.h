/*
 * warn.h - the only way for the hooks' side to say anything before the report: one line on standard error, each text
 * once a process. Async-signal-safe, keeps errno. Any thread.
 */
#ifndef COPYSPY_INTERPOSE_WARN_H
#define COPYSPY_INTERPOSE_WARN_H

/* Prints "copyspy: <message>\n" the first time this `topic` (a string literal) is given; later calls print nothing. */
void cs_warn_once(const char *topic, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
