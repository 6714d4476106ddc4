#!/usr/bin/env python3
"""Prints, one a line, the tests that ctest's JUnit file says were skipped, each with the last line that it printed."""
import sys
import xml.etree.ElementTree as tree

for case in tree.parse(sys.argv[1]).iter("testcase"):
    skip = case.find("skipped")
    if skip is not None:
        said = (case.findtext("system-out") or "").strip().splitlines()
        print(f"{case.get('name')}: {said[-1].strip() if said else skip.get('message', 'not said why')}")
