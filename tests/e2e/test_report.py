"""Where the report goes, in which form, and what is said when it cannot go there."""
import re
import unittest

import e2e


class Report(e2e.Case):
    command = (e2e.ATTENTION, "--step", "naive", *e2e.SMALL)

    def test_report_command_renders_json_as_the_programs_end_did(self):
        text, data = self.folder / "report.txt", self.folder / "report.json"
        e2e.run(*self.command, COPYSPY_REPORT=text)
        e2e.run(*self.command, COPYSPY_REPORT=data)
        rendered = e2e.run(e2e.COMMAND, "report", data, preload=False)
        self.assertEqual(rendered.status, 0, rendered.err)
        self.assertEqual(self.stable(rendered.out), self.stable(text.read_text()))

    @staticmethod
    def stable(text):
        """Without the one thing that differs between the two runs."""
        return re.sub(r"process \d+", "process N", text)

    def test_report_file_leaves_standard_error_alone(self):
        ended = self.spied(*self.command)
        self.assertEqual(ended.err, "")
        self.assertEqual(len(self.findings(ended)), 1)

    def test_unwritable_path_gives_the_report_on_standard_error_and_one_warning(self):
        path = self.folder / "missing" / "report.json"
        ended = e2e.run(*self.command, COPYSPY_REPORT=path)
        self.assertEqual(ended.status, 0)
        warnings = [line for line in ended.err.splitlines() if str(path) in line]
        self.assertEqual(len(warnings), 1, ended.err)
        self.assertIn("COPYSPY_REPORT", warnings[0])
        self.assertIn("step_01_naive.cu", ended.err)

    def test_bad_value_gives_one_warning_and_the_default(self):
        ended = self.spied(*self.command, COPYSPY_RING_KB="many")
        self.assertEqual(ended.status, 0)
        self.assertEqual(len(ended.err.splitlines()), 1, ended.err)
        for expected in "COPYSPY_RING_KB", "many", "64..65536":
            self.assertIn(expected, ended.err)
        self.assertEqual(len(self.findings(ended)), 1)

    def test_process_id_in_the_path_is_filled_in(self):
        e2e.run(*self.command, COPYSPY_REPORT=self.folder / "report-%p.json")
        self.assertEqual(len(list(self.folder.glob("report-[0-9]*.json"))), 1)


if __name__ == "__main__":
    unittest.main()
