/*
 * many.c - 200,000 functions of 4 bytes each, f0 to f199999, in the dynamic symbol table, and one that calls back.
 */
#include "tests/stacks/sample.h"

void many_call(void (*callback)(void))
{
    callback();
    __asm__ volatile("");
}

__asm__(".text\n"
        ".balign 4\n"
        ".altmacro\n"
        ".macro function number\n"
        ".globl f\\number\n"
        ".type f\\number, @function\n"
        "f\\number: ret; nop; nop; nop\n"
        ".size f\\number, 4\n"
        ".endm\n"
        ".set i, 0\n"
        ".rept 200000\n"
        "function %i\n"
        ".set i, i + 1\n"
        ".endr\n"
        ".noaltmacro\n");
