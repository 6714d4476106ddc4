"""A launch-bound loop that takes turns: each line on standard input runs one round, whose microseconds a call are printed.

launch_loop.py KIND, KIND one of launch, copy, clone: one small elementwise launch, device copy or clone from Python.
"""
import os
import sys
import time

import torch

CALLS = 4000
x = torch.ones(1024, device="cuda")
y = torch.empty_like(x)
bodies = {"launch": lambda: x.mul_(1.0), "copy": lambda: y.copy_(x), "clone": lambda: x.clone()}
body = bodies[sys.argv[1]]
# Long enough for copyspy to have stopped timing copies, which it does for the first second of a call site.
start = time.perf_counter()
while time.perf_counter() < start + 1.5:
    body()
torch.cuda.synchronize()
# The two processes that are compared run on the same core, so that it is not cores which are compared; threads that exist by
# now (the driver's, copyspy's) stay where they were.
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
for line in sys.stdin:
    torch.cuda.synchronize()
    start = time.perf_counter_ns()
    for _ in range(CALLS):
        body()
    elapsed = time.perf_counter_ns() - start
    torch.cuda.synchronize()
    print(elapsed / CALLS / 1000, flush=True)
