"""build/ can be carried: nothing in it needs a library that is neither in it nor part of the C and C++ run time."""
import re
import subprocess
import unittest

import e2e

RUN_TIME = re.compile(r"(ld-linux.*|libc|libm|libpthread|libdl|librt|libgcc_s|libstdc\+\+)\.so\.\d+")


def dynamic(path, tag):
    """The values of that tag in the file's dynamic section."""
    text = subprocess.run(["readelf", "-dW", path], check=True, capture_output=True, text=True).stdout
    return re.findall(rf"\({tag}\).*\[(.*)\]", text)


class Bundle(e2e.Case):
    def shipped(self):
        folder = e2e.BUILD / "lib"
        return [e2e.COMMAND, e2e.LIBRARY, folder / "libcopyspy-analysis.so", folder / "libunwind.so.8",
                *sorted(folder.glob("libcs-*.so.*"))]

    def test_libcopyspy_needs_libc_alone(self):
        self.assertEqual([name for name in dynamic(e2e.LIBRARY, "NEEDED") if not RUN_TIME.fullmatch(name)], [])
        self.assertNotIn("libstdc++.so.6", dynamic(e2e.LIBRARY, "NEEDED"))

    def test_every_need_is_shipped_or_part_of_the_run_time(self):
        for path in self.shipped():
            for need in dynamic(path, "NEEDED"):
                with self.subTest(path=path.name, need=need):
                    self.assertTrue(RUN_TIME.fullmatch(need) or (e2e.BUILD / "lib" / need).exists())

    def test_copies_carry_private_names(self):
        for path in self.shipped()[3:]:
            with self.subTest(path.name):
                self.assertRegex(dynamic(path, "SONAME")[0], "^libcs-")

    def test_needs_are_looked_for_in_the_bundle(self):
        for path in self.shipped()[2:]:
            with self.subTest(path.name):
                self.assertEqual(dynamic(path, "RUNPATH"), ["$ORIGIN"] if path.parent == e2e.BUILD / "lib" and
                                 "analysis" not in path.name else ["$ORIGIN/."])


if __name__ == "__main__":
    unittest.main()
