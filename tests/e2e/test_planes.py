"""What is seen of a program that calls the runtime: through CUPTI and without it, by several threads, across fork and
when the program takes CUPTI for itself. The truth is the stand-in's own count."""
import os
import pathlib
import re
import time
import unittest

import e2e

GUEST = pathlib.Path(os.environ["COPYSPY_GUEST"])
LINE = e2e.line_of(e2e.SOURCE / "tests/e2e/guest.c", "the needless copy")


class Planes(e2e.Case):
    def assert_counts_match(self, ended):
        copies, size = map(int, re.search(r"truth (\d+) copies (\d+) bytes", ended.out).groups())
        totals = ended.report["totals"]
        self.assertEqual((totals["copies"], totals["bytes"]), (copies, size))

    def test_every_kind_of_copy_is_one_event(self):
        self.assert_counts_match(self.spied(GUEST, "copies"))

    def test_every_kind_of_copy_is_one_event_without_cupti(self):
        for how in {"COPYSPY_CUPTI": "off"}, {"SIM_CUPTI": "off"}:
            with self.subTest(how):
                self.assert_counts_match(self.spied(GUEST, "copies", **how))

    def test_needless_copy_is_found_at_its_line(self):
        ended = self.spied(GUEST, "needless")
        found = self.findings(ended)
        self.assertEqual([(f["line"], f["copies"], f["bytes"], f["reason"]) for f in found],
                         [(LINE, 3, 3 * 65536, "source-dead")])

    def test_without_cupti_nothing_is_accused(self):
        """Launches may go unseen, so no source is known to be dead."""
        self.assertEqual(self.findings(self.spied(GUEST, "needless", COPYSPY_CUPTI="off")), [])

    def test_threads_lose_nothing(self):
        ended = self.spied(GUEST, "threads")
        self.assert_counts_match(ended)
        self.assertEqual([f["copies"] for f in self.findings(ended)], [800])

    def test_program_that_takes_cupti_gets_what_it_would_get_alone(self):
        ended, alone = self.spied(GUEST, "lend"), e2e.run(GUEST, "lend", preload=False)
        self.assertEqual(ended.out, alone.out)
        self.assert_counts_match(ended)

    def test_copies_after_cupti_was_taken_are_not_judged(self):
        """Three copies were made before and may be named; the three after it may not."""
        self.assertLessEqual(sum(f["copies"] - f["pending"] for f in self.findings(self.spied(GUEST, "lend"))), 3)

    def test_forked_child_leaves_no_report_and_its_parent_one(self):
        ended = self.spied(GUEST, "fork", COPYSPY_REPORT=self.folder / "%p.json")
        self.assertIn("child ended with 0", ended.out)
        self.assertEqual(len(list(self.folder.iterdir())), 1)

    def test_file_that_took_the_number_of_standard_error_is_left_alone(self):
        path = self.folder / "own"
        ended = e2e.run("/bin/sh", "-c", f"exec 2>&-; exec {GUEST} lowfile", GUEST_FILE=path)
        self.assertIn("file 2\n", ended.out)
        self.assertEqual((ended.status, path.read_bytes()), (0, b""))

    def test_processes_of_one_run_do_not_overwrite_each_others_reports(self):
        ended = e2e.run("/bin/sh", "-c", f"{GUEST} needless; {GUEST} copies; true", COPYSPY_REPORT=self.folder / "r.json")
        self.assertEqual((ended.status, ended.err), (0, ""))
        names = sorted(path.name for path in self.folder.iterdir())
        self.assertEqual(len(names), 2, names)
        self.assertIn("r.json", names)
        self.assertTrue(all(name.endswith(".json") for name in names), names)

    def test_report_of_an_earlier_run_is_replaced(self):
        path = self.folder / "r.json"
        path.write_text("old")
        time.sleep(0.05)
        self.assertEqual(len(self.findings(self.spied(GUEST, "needless", COPYSPY_REPORT=path))), 1)

    def test_process_ends_with_its_last_thread_and_leaves_a_report(self):
        ended = self.spied(GUEST, "headless")
        self.assertEqual(ended.status, 0)
        self.assert_counts_match(ended)

    def test_output_is_that_of_a_run_without_it(self):
        for mode in "copies", "needless", "threads", "lend", "fork", "headless":
            with self.subTest(mode):
                self.assertEqual(self.spied(GUEST, mode).out, e2e.run(GUEST, mode, preload=False).out)


if __name__ == "__main__":
    unittest.main()
