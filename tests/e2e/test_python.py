"""Python programs in the shape of PyTorch's, run by the interpreter that runs this file: the right lines are named, at
which the copy is made for nothing, and no other."""
import os
import sys
import unittest

import e2e

PROGRAMS = e2e.SOURCE / "tests" / "e2e" / "programs"
SIM = os.environ["COPYSPY_SIM"]


class Python(e2e.Case):
    def program(self, name, *arguments, **more):
        """Runs it with either kind of runtime, with and without the preload; gives the findings of each run."""
        for major in "12", "13":
            with self.subTest(runtime=major):
                more.update(FAKECUDA_MAJOR=major, PYTHONPATH=f"{SIM}/site-packages", PYTHONDONTWRITEBYTECODE=1)
                command = (sys.executable, PROGRAMS / name, *arguments)
                alone, spied = e2e.run(*command, preload=False, **more), self.spied(*command, **more)
                self.assertEqual(alone.status, 0, alone.err)
                self.assertEqual((spied.status, spied.out, spied.err), (alone.status, alone.out, alone.err))
                yield self.findings(spied)

    def assert_finding(self, finding, name, text, copies, size):
        path = PROGRAMS / name
        self.assertEqual((finding["file"], finding["line"]), (str(path), e2e.line_of(path, text)))
        self.assertEqual((finding["copies"], finding["bytes"]), (copies, copies * size))
        self.assertEqual((finding["reason"], finding["confidence"]), ("source-dead", "proven"))

    def test_mask_out_of_place_is_one_finding(self):
        for findings in self.program("masking.py", "out"):
            self.assertEqual(len(findings), 1, findings)
            self.assert_finding(findings[0], "masking.py", "scores = scores.masked_fill(", 10, 4 * 32 * 32 * 4)
            self.assertEqual(findings[0]["function"], "attend")
            self.assertIn("masked_fill_", findings[0]["advice"] + findings[0]["rewrite"])

    def test_mask_in_place_is_clean(self):
        for findings in self.program("masking.py", "in"):
            self.assertEqual(findings, [])

    def test_two_masks_are_two_findings(self):
        for findings in self.program("chained.py"):
            self.assertEqual(len(findings), 2, findings)
            first, second = sorted(findings, key=lambda finding: finding["line"])
            self.assert_finding(first, "chained.py", "s = s.masked_fill(mask", 5, 64 * 64 * 4)
            self.assert_finding(second, "chained.py", "s = s.masked_fill(other", 5, 64 * 64 * 4)

    def test_module_in_another_file_is_named_with_its_caller(self):
        for findings in self.program("module_user.py"):
            self.assertEqual(len(findings), 1, findings)
            self.assert_finding(findings[0], "module.py", "scores = scores.masked_fill(", 6, 32 * 32 * 4)
            callers = [(frame["file"], frame["line"]) for frame in findings[0]["stack"] if frame["python"]]
            user = PROGRAMS / "module_user.py"
            self.assertIn((str(user), e2e.line_of(user, "x = attention(x, x, x)")), callers)

    def test_copies_that_are_needed_are_not_accused(self):
        for name in "hazard.py", "saved.py", "diverge.py", "graphed.py":
            for findings in self.program(name):
                self.assertEqual(findings, [], name)


if __name__ == "__main__":
    unittest.main()
