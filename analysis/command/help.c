/*
 * help.c - `copyspy help [variables]`. One thread.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/command/command.h"
#include "analysis/config.h"

static const char general[] =
    "copyspy finds device-to-device copies that a CUDA program makes for nothing.\n"
    "\n"
    "Watch a program (nothing in it changes; the report comes on standard error when it ends):\n"
    "    LD_PRELOAD=libcopyspy.so python train.py\n"
    "\n"
    "Keep the report in a file and look at it again:\n"
    "    COPYSPY_REPORT=run.json LD_PRELOAD=libcopyspy.so python train.py\n"
    "    copyspy report run.json\n"
    "    copyspy report --all run.json          also what is not redundant, and why\n"
    "    copyspy report --json run.json | jq '.findings[] | {file, line, bytes, rewrite}'\n"
    "\n"
    "A process of many (ranks, workers) each in its own file:\n"
    "    COPYSPY_REPORT=run.%p.json LD_PRELOAD=libcopyspy.so torchrun ...\n"
    "\n"
    "See what the kernels in a file read and write (a cubin, a fat binary, a library, a program):\n"
    "    copyspy kernels build/libmine.so\n"
    "    copyspy kernels --json --arch=sm_90 --match=copy libtorch_cuda.so | jq '.[] | {kernel, class, params}'\n"
    "\n"
    "Commands:\n"
    "    copyspy report [--text|--json] [--all] [--color=auto|always|never] FILE...\n"
    "                              prints reports that were written as JSON\n"
    "    copyspy kernels [--text|--json] [--arch=sm_NN] [--match=TEXT] FILE...\n"
    "                              prints, from the machine code, what each kernel does with its parameters\n"
    "    copyspy help variables    the COPYSPY_ environment variables\n"
    "    copyspy --help            this text\n"
    "    copyspy --version\n"
    "\n"
    "Exit status: 0, or 2 when something was asked for wrongly or a file cannot be read.\n";

int cs_command_help(int count, char **arguments)
{
    if (count > 2 || (count == 2 && strcmp(arguments[1], "variables")))
        return cs_command_fail("help: no help on %s; expected copyspy help, or copyspy help variables",
                               arguments[count - 1]);
    if (count == 2)
        cs_config_print_help(stdout);
    else
        fputs(general, stdout);
    return 0;
}
