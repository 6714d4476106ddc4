"""What the README says of commands and variables is what the program says."""
import os
import re
import unittest

import e2e

README = (e2e.SOURCE / "README.md").read_text(encoding="utf-8")


class Readme(e2e.Case):
    def test_table_of_variables_is_that_of_the_program(self):
        said = e2e.run(e2e.COMMAND, "help", "variables", preload=False).out
        rows = re.findall(r"^(COPYSPY_\w+)=(.*)\n    (.*)\n    default: (.*)$", said, re.MULTILINE)
        self.assertEqual(len(rows), said.count("\n    default: "))
        self.assertGreater(len(rows), 0)
        self.assertEqual([f"| `{name}` | {default} | {accepted.replace('|', ', ')} | {what} |"
                          for name, accepted, what, default in rows],
                         re.findall(r"^\| `COPYSPY_.*$", README, re.MULTILINE))

    def test_both_commands_are_there(self):
        for command in "demo/run", "tests/run":
            self.assertIn(f"\n{command} ", README)
            self.assertTrue(os.access(e2e.SOURCE / command, os.X_OK))


if __name__ == "__main__":
    unittest.main()
