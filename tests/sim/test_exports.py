"""The stand-in's libraries carry the sonames, symbols and symbol versions of the real ones.

Arguments: the stand-in's folder, and the toolkit's libcudart, which is compared with the stand-in's of the same soname."""
import pathlib
import re
import subprocess
import sys
import unittest

FOLDER, REAL = pathlib.Path(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1)).resolve()


def soname(path):
    text = subprocess.run(["readelf", "-dW", path], check=True, capture_output=True, text=True).stdout
    return re.search(r"SONAME.*\[(.*)\]", text).group(1)


def exports(path):
    text = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", path], check=True, capture_output=True,
                          text=True).stdout
    return {line.split()[2] for line in text.splitlines() if line.split()[1] in "TtWwiDBR"}


class Exports(unittest.TestCase):
    def test_sonames(self):
        for name in "libcudart.so.12", "libcudart.so.13", "libcuda.so.1", "libcupti.so.12", "libcupti.so.13":
            self.assertEqual(soname(FOLDER / name), name)

    def test_runtime_exports_exactly_what_the_toolkits_does(self):
        self.assertEqual(exports(FOLDER / soname(REAL)), exports(REAL))

    def test_every_symbol_has_its_librarys_version(self):
        for name in "libcudart.so.12", "libcudart.so.13", "libcupti.so.12", "libcupti.so.13":
            self.assertEqual({symbol.partition("@@")[2] for symbol in exports(FOLDER / name)}, {name})


if __name__ == "__main__":
    unittest.main()
