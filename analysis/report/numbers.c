/*
 * numbers.c - numbers as people read them. Pure functions.
 */
#include "analysis/report/model.h"

#include <string.h>

const char *cs_number_exact(uint64_t number, char buffer[CS_NUMBER_MAX])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number), at = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            buffer[at++] = ',';
        buffer[at++] = digits[i];
    }
    buffer[at] = 0;
    return buffer;
}

struct unit {
    double size;
    int digits;
    const char *name;
};

static const char *scaled(double value, const struct unit *units, char *buffer)
{
    while (value < units->size)
        units++;
    snprintf(buffer, CS_NUMBER_MAX, "%.*f %s", units->digits, value / (units->size ? units->size : 1), units->name);
    return buffer;
}

const char *cs_number_bytes(uint64_t bytes, char buffer[CS_NUMBER_MAX])
{
    static const struct unit units[] = {
        {1e12, 1, "TB"}, {1e9, 1, "GB"}, {1e6, 1, "MB"}, {1e3, 1, "kB"}, {0, 0, "bytes"}};
    return scaled((double)bytes, units, buffer);
}

const char *cs_number_time(uint64_t nanoseconds, char buffer[CS_NUMBER_MAX])
{
    static const struct unit units[] = {{1e9, 2, "s"}, {1e6, 2, "ms"}, {1e3, 2, "µs"}, {0, 0, "ns"}};
    return scaled((double)nanoseconds, units, buffer);
}
