"""Runs programs on the stand-in runtime with and without libcopyspy.so; what every end-to-end test starts from.

CTest sets COPYSPY_BUILD (the build folder), COPYSPY_SIM (the folder of the stand-in's libraries) and COPYSPY_KERNELS
(the libraries with its kernels).
"""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["COPYSPY_BUILD"])
LIBRARY = BUILD / "lib" / "libcopyspy.so"
COMMAND = BUILD / "bin" / "copyspy"
ATTENTION = BUILD / "bin" / "attention"
SMALL = ("--shape", "1x2x64x32")
SCORE_BYTES = 1 * 2 * 64 * 64 * 4  # of one score matrix of that shape


class Ended:
    """How a program ended: status (negative: the signal), out, err, and report, the JSON one, None when there is none."""

    def __init__(self, process, report):
        self.status, self.out, self.err = process.returncode, process.stdout, process.stderr
        self.report = report


def environment(preload, **more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("COPYSPY_", "SIM_", "LD_"))}
    kept["LD_LIBRARY_PATH"] = os.environ["COPYSPY_SIM"]
    kept["SIM_KERNELS"] = os.environ["COPYSPY_KERNELS"]
    if preload:
        kept["LD_PRELOAD"] = str(LIBRARY)
    kept.update({name: str(value) for name, value in more.items()})
    return kept


def run(*command, preload=True, **more):
    """Runs to the end. Its report, if it writes none elsewhere, goes to standard error as text."""
    process = subprocess.run([str(word) for word in command], env=environment(preload, **more), timeout=60,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True)
    path = more.get("COPYSPY_REPORT")
    report = None
    if path and str(path).endswith(".json") and os.path.exists(path):
        with open(path, encoding="utf-8") as stream:
            report = json.load(stream)
    return Ended(process, report)


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def spied(self, *command, **more):
        """Runs under the preload with the report as JSON."""
        more.setdefault("COPYSPY_REPORT", self.folder / "report.json")
        return run(*command, **more)

    def findings(self, ended):
        self.assertIsNotNone(ended.report, f"no report; standard error:\n{ended.err}")
        return ended.report["findings"]


def line_of(path, text):
    """The number of the only line that contains the text."""
    with open(path, encoding="utf-8") as stream:
        numbers = [number for number, line in enumerate(stream, 1) if text in line]
    assert len(numbers) == 1, f"{path}: {text!r} is on lines {numbers}"
    return numbers[0]
