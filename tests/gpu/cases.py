"""Runs the cases of tests/cases and the variants on a GPU under the preload and compares with what is known.

cases.py LIBRARY FOLDER: the JSON reports go to FOLDER. Prints three tables (the hidden copy, counts against PyTorch's profiler,
needed copies that were accused) and exits with 1 when one of them has a failure.
"""
import csv
import functools
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(os.path.dirname(HERE), "cases")
LIBRARY, FOLDER = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
CUDA_CASES = os.path.join(FOLDER, "cuda_cases")
FAILURES = []


def command(case, args):
    if case == "cuda_cases.cu":
        return [CUDA_CASES, *args.split()]
    return [sys.executable, case if os.path.isabs(case) else os.path.join(CASES, case), *args.split()]


@functools.lru_cache(maxsize=None)
def spy(case, args=""):
    name = "_".join([os.path.basename(case), *args.split()])
    path = os.path.join(FOLDER, name + ".json")
    if os.path.exists(path):
        os.unlink(path)
    run = subprocess.run(command(case, args), capture_output=True, text=True, timeout=120, cwd=FOLDER,
                         env={**os.environ, "LD_PRELOAD": LIBRARY, "COPYSPY_REPORT": path})
    report = None
    if os.path.exists(path):
        with open(path) as file:
            report = json.load(file)
    if run.returncode != 0 or report is None:
        FAILURES.append(f"{name}: exit status {run.returncode}, {'no report' if report is None else 'report written'}")
        print(f"   {name}: exit status {run.returncode}\n{run.stdout[-800:]}{run.stderr[-1500:]}")
    elif run.stderr.strip():
        print(f"   {name} said: {run.stderr.strip()[:600]}")
    return report


def expect(name, holds):
    if not holds:
        FAILURES.append(name)
    return "right" if holds else "WRONG"


def describe(finding):
    return (f"{os.path.basename(finding['file'])}:{finding['line']} {finding['copies']} copies {finding['bytes']:,} bytes "
            f"{finding['reason']} {finding['confidence']}")


def hidden_copy():
    print("\n== the hidden copy")
    report = spy("A1.py", "out")
    found = report["findings"] if report else []
    right = len(found) == 1 and (found[0]["line"], found[0]["copies"], found[0]["bytes"], found[0]["reason"],
                                 found[0]["confidence"]) == (11, 10, 2684354560, "source-dead", "proven")
    print("A1.py out:", *map(describe, found), "--", expect("A1.py out", right))
    report = spy("A1.py", "in")
    print("A1.py in:", *map(describe, report["findings"] if report else []), "--",
          expect("A1.py in", bool(report) and not report["findings"]))
    for dtype in "fp32", "bf16":
        for mode in "out", "in":
            for train in "", "train":
                args = f"{dtype} {mode} {train}".strip()
                report = spy(os.path.join(HERE, "programs", "variants.py"), args)
                found = report["findings"] if report else []
                size = 4 * 4 * 512 * 512 * (4 if dtype == "fp32" else 2)
                right = bool(report) and not found
                if mode == "out":
                    right = len(found) == 1 and (os.path.basename(found[0]["file"]), found[0]["line"],
                                                 found[0]["copies"], found[0]["bytes"], found[0]["reason"],
                                                 found[0]["confidence"]) == ("masking.py", 24, 5, 5 * size,
                                                                             "source-dead", "proven")
                print(f"variants.py {args}:", *map(describe, found), "--", expect(f"variants.py {args}", right))


def counts():
    print("\n== device-to-device copies: copyspy, and PyTorch's profiler in a separate run")
    for case in "A1.py P02.py P03.py P06.py P35.py P53.py N08.py N10.py N22.py N29.py".split():
        args = "out" if case == "A1.py" else ""
        report = spy(case, args)
        run = subprocess.run([sys.executable, os.path.join(HERE, "count_copies.py"), os.path.join(CASES, case),
                              *args.split()], capture_output=True, text=True, timeout=120, cwd=FOLDER)
        try:
            truth = json.loads(run.stdout.strip().splitlines()[-1])
        except (ValueError, IndexError):
            truth = {"copies": -1, "bytes": -1}
            print(run.stderr[-1500:])
        ours = report["totals"] if report else {"copies": -2, "bytes": -2}
        same = (ours["copies"], ours["bytes"]) == (truth["copies"], truth["bytes"])
        print(f"{case:8s} copyspy {ours['copies']:4d} {ours['bytes']:14,d}  profiler {truth['copies']:4d} "
              f"{truth['bytes']:14,d}  {expect('count ' + case, same)}")


def accusations():
    print("\n== every case: lines found (source-dead), and needed lines that were accused")
    with open(os.path.join(CASES, "expected.tsv")) as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    reports = {}
    for row in rows:
        key = row["case"], row["args"] or ""
        if key not in reports:
            reports[key] = spy(*key)
        report = reports[key]
        lines = {f["line"]: f for f in report["findings"]} if report else {}
        line = int(row["line"])
        found = lines.get(line)
        verdict = "not run" if report is None else "found" if found else "-"
        if report and row["verdict"] != "redundant":
            accused = lines if line == 0 else {line: found} if found else {}
            verdict = "ACCUSED" if accused else "spared"
            expect(f"{key} line {line} accused", not accused)
        elif found:
            counted = row["copies"] in ("-", str(found["copies"]))
            verdict += "" if counted else f" with {found['copies']} copies instead of {row['copies']}"
        print(f"{row['case']:14s} {row['args'] or '':8s} line {line:3d}  {row['verdict']:9s} "
              f"{row['reasons'] or '':28s} {verdict}")


if __name__ == "__main__":
    hidden_copy()
    counts()
    accusations()
    print("\n==", f"{len(FAILURES)} failures: " + "; ".join(FAILURES) if FAILURES else "no failures")
    sys.exit(bool(FAILURES))
