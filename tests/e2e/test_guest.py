"""Programs that use no GPU, or find none, are left alone: nothing printed, nothing changed."""
import unittest

import e2e


class Guest(e2e.Case):
    def assert_unchanged(self, *command, **more):
        alone, spied = e2e.run(*command, preload=False, **more), e2e.run(*command, **more)
        self.assertEqual((spied.status, spied.out, spied.err), (alone.status, alone.out, alone.err))
        return spied

    def test_ls_prints_and_returns_what_it_does_alone(self):
        self.assertEqual(self.assert_unchanged("ls", "/").status, 0)
        self.assertNotEqual(self.assert_unchanged("ls", "/no/such/folder").status, 0)

    def test_shell_with_children_is_left_alone(self):
        self.assert_unchanged("sh", "-c", "echo one; ls / | wc -l; (exit 3)")

    def test_no_report_file_from_a_program_without_cuda(self):
        path = self.folder / "report.json"
        self.assert_unchanged("ls", "/", COPYSPY_REPORT=path)
        self.assertFalse(path.exists())

    def test_bad_value_is_no_matter_to_a_program_without_cuda(self):
        self.assert_unchanged("ls", "/", COPYSPY_RING_KB="many")

    def test_machine_without_a_device_stays_silent(self):
        ended = self.assert_unchanged(e2e.ATTENTION, *e2e.SMALL, SIM_NO_DEVICE=1)
        self.assertEqual(ended.status, 1)
        self.assertEqual(len(ended.err.splitlines()), 1, ended.err)

    def test_switched_off_it_says_nothing(self):
        self.assert_unchanged(e2e.ATTENTION, *e2e.SMALL, COPYSPY_ENABLE="off")


if __name__ == "__main__":
    unittest.main()
