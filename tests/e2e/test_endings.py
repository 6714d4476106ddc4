"""Whatever way a program ends, its report is complete and its exit status is its own."""
import signal
import unittest

import e2e

ENDINGS = {"return": 0, "exit": 0, "_exit": 0, "abort": -signal.SIGABRT, "sigterm": -signal.SIGTERM}


class Endings(e2e.Case):
    def test_every_ending_leaves_the_whole_report(self):
        for ending, status in ENDINGS.items():
            with self.subTest(ending):
                path = self.folder / f"{ending}.json"
                ended = self.spied(e2e.ATTENTION, "--exit", ending, *e2e.SMALL, COPYSPY_REPORT=path)
                self.assertEqual(ended.status, status, ended.err)
                self.assertEqual([f["copies"] for f in self.findings(ended)], [10])

    def test_every_ending_leaves_the_report_on_standard_error(self):
        for ending in ENDINGS:
            with self.subTest(ending):
                ended = e2e.run(e2e.ATTENTION, "--exit", ending, *e2e.SMALL)
                self.assertEqual(ended.err.count("step_01_naive.cu"), 1, ended.err)


if __name__ == "__main__":
    unittest.main()
