"""The cost of the hooks on a launch-bound loop: two processes, with and without the preload, take turns.

ratio.py LIBRARY [PAIRS]: prints one line for each kind of loop with both medians in microseconds a call and the median of the
pairwise ratios.
"""
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def start(kind, preload):
    environment = dict(os.environ)
    if preload:
        environment.update(LD_PRELOAD=preload, COPYSPY_REPORT=os.devnull)
    return subprocess.Popen([sys.executable, os.path.join(HERE, "launch_loop.py"), kind], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True, env=environment)


def turn(worker):
    worker.stdin.write("go\n")
    worker.stdin.flush()
    return float(worker.stdout.readline())


def measure(kind, library, pairs):
    workers = start(kind, None), start(kind, library)
    for worker in workers:
        for _ in range(3):
            turn(worker)
    # Each turn of a pair is the best of three, so that one interruption does not decide; who goes first alternates.
    rows = []
    for pair in range(pairs):
        order = (0, 1) if pair % 2 == 0 else (1, 0)
        best = [float("inf")] * 2
        for _ in range(3):
            for which in order:
                best[which] = min(best[which], turn(workers[which]))
        rows.append(best)
    for worker in workers:
        worker.stdin.close()
        worker.wait()
    plain, spied = zip(*rows)
    ratios = sorted(s / p for p, s in rows)
    print(f"{kind:7s} without {statistics.median(plain):6.3f} us  with {statistics.median(spied):6.3f} us  "
          f"ratio {statistics.median(ratios):.3f}  (lowest {ratios[0]:.3f}, highest {ratios[-1]:.3f}, {pairs} pairs)",
          flush=True)


if __name__ == "__main__":
    for kind in ("launch", "copy", "clone"):
        measure(kind, os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20)
