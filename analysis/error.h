/*
 * error.h - a failure's message, passed up by return value: who fails fills it, who reports it prints it.
 */
#ifndef COPYSPY_ANALYSIS_ERROR_H
#define COPYSPY_ANALYSIS_ERROR_H

struct cs_error {
    char message[256]; /* what, where (file, offset) and what was expected; no newline */
};

/* Formats the message; error may be NULL. Returns -1 so that a caller can `return cs_fail(error, ...)`. */
int cs_fail(struct cs_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
