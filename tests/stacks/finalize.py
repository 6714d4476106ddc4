"""finalize.py <recorder library>: captures go on while the interpreter is taken down.

They come from a daemon thread that runs C code and, from the recorder's destructor, from the main thread. Each of some
child processes must end well."""

import subprocess
import sys

CHILD = """
import ctypes, sys, threading, time
library = ctypes.CDLL(sys.argv[1])
library.recorder_start(b"/nonexistent")
library.recorder_time.restype = ctypes.c_double
def down(depth):
    library.recorder_time(1000000000) if depth == 0 else down(depth - 1)
threading.Thread(target=down, args=(5,), daemon=True).start()
time.sleep(0.02)
def main_too():
    return library.recorder_capture()
assert main_too() != 0
"""
ROUNDS = 5

for number in range(ROUNDS):
    child = subprocess.run([sys.executable, "-c", CHILD, sys.argv[1]], capture_output=True, text=True, timeout=60)
    if child.returncode != 0 or child.stderr:
        sys.exit("FAILED round %d: status %d\n%s" % (number, child.returncode, child.stderr))
print("Python %s: %d interpreters ended" % (sys.version.split()[0], ROUNDS))
