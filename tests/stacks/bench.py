"""bench.py <recorder library> <captures>: captures that often from 3 Python frames.

Under `valgrind --tool=callgrind` the difference between two numbers of captures gives the instructions of one."""

import ctypes
import sys

LIBRARY = ctypes.CDLL(sys.argv[1])
LIBRARY.recorder_time.restype = ctypes.c_double
LIBRARY.recorder_start(b"/nonexistent")


def forward(times):
    return LIBRARY.recorder_time(times)


def step(times):
    return forward(times)


print("%.1f ns a capture, Python %s" % (step(int(sys.argv[2])), sys.version.split()[0]))
