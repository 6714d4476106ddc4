"""The attention demo: the naive step's copy is found at its line, the in-place step is clean, and nothing else changes."""
import unittest

import e2e


class Demo(e2e.Case):
    def test_naive_step_has_one_finding_at_its_copy(self):
        ended = self.spied(e2e.ATTENTION, "--step", "naive", "--iterations", 10, *e2e.SMALL)
        self.assertEqual(ended.status, 0, ended.err)
        source = e2e.SOURCE / "kernels" / "step_01_naive.cu"
        findings = self.findings(ended)
        self.assertEqual(len(findings), 1, findings)
        finding = findings[0]
        self.assertEqual(finding["file"], str(source))
        self.assertEqual(finding["line"], e2e.line_of(source, "= cudaMemcpyAsync("))
        self.assertEqual(finding["copies"], 10)
        self.assertEqual(finding["bytes"], 10 * e2e.SCORE_BYTES)
        self.assertEqual(finding["reason"], "source-dead")
        self.assertEqual(finding["confidence"], "proven")

    def test_inplace_step_has_no_finding(self):
        ended = self.spied(e2e.ATTENTION, "--step", "inplace", *e2e.SMALL)
        self.assertEqual(ended.status, 0, ended.err)
        self.assertEqual(self.findings(ended), [])

    def test_inplace_step_says_no_redundant_copies(self):
        ended = e2e.run(e2e.ATTENTION, "--step", "inplace", *e2e.SMALL)
        self.assertIn("no redundant copies", ended.err)

    def test_output_and_status_are_those_of_a_run_without_it(self):
        for step in "naive", "inplace":
            with self.subTest(step):
                command = (e2e.ATTENTION, "--step", step, *e2e.SMALL)
                alone, spied = e2e.run(*command, preload=False), self.spied(*command)
                self.assertEqual(alone.status, 0, alone.err)
                self.assertIn("correct: ", alone.out)
                self.assertEqual((spied.status, spied.out, spied.err), (alone.status, alone.out, alone.err))


if __name__ == "__main__":
    unittest.main()
