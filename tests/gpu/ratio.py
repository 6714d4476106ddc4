"""The cost of the hooks on a launch-bound loop: two processes, with and without the preload, take turns.

ratio.py LIBRARY [PROCESSES [KIND...]]: prints one line for each kind of loop with both medians in microseconds a call and the median of the
pairwise ratios, over PROCESSES (3) pairs of processes with seven pairs of turns each.
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


def rounds(kind, library, count):
    """One pair of processes: `count` pairs of times. Each is the best of three, so that one interruption does not decide."""
    workers = start(kind, None), start(kind, library)
    for worker in workers:
        turn(worker)
    rows = []
    for pair in range(count):
        order = (0, 1) if pair % 2 == 0 else (1, 0)
        best = [float("inf")] * 2
        for _ in range(3):
            for which in order:
                best[which] = min(best[which], turn(workers[which]))
        rows.append(best)
    for worker in workers:
        worker.stdin.close()
        worker.wait()
    return rows


def measure(kind, library, processes):
    rows = [row for _ in range(processes) for row in rounds(kind, library, 7)]
    plain, spied = zip(*rows)
    ratios = sorted(s / p for p, s in rows)
    print(f"{kind:7s} without {statistics.median(plain):6.3f} us  with {statistics.median(spied):6.3f} us  "
          f"ratio {statistics.median(ratios):.3f}  (lowest {ratios[0]:.3f}, highest {ratios[-1]:.3f}, "
          f"{len(rows)} pairs of {processes} pairs of processes)", flush=True)


if __name__ == "__main__":
    for kind in sys.argv[3:] or ("launch", "copy", "clone"):
        measure(kind, os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3)
