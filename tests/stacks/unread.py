"""unread.py <recorder library>: in a Python whose frames cannot be read there are native stacks and one warning."""

import ctypes
import struct
import sys

library = ctypes.CDLL(sys.argv[1])
library.recorder_event.restype = ctypes.c_void_p
library.recorder_start(b"/nonexistent")
stack = 0
for _ in range(100):
    stack = library.recorder_capture()
assert stack != 0
defined = 0
for index in range(library.recorder_count()):
    address = library.recorder_event(index)
    size, kind = struct.unpack("=IH", ctypes.string_at(address, 6))
    assert kind != 7, "a Python frame"
    if kind == 8:
        number, natives, pythons, _ = struct.unpack_from("=IIII", ctypes.string_at(address, size), 40)
        assert natives > 3 and pythons == 0, (natives, pythons)
        defined += 1
assert defined > 0
assert library.recorder_warnings() == 1, library.recorder_warnings()
print("Python %s: %d native stacks, one warning" % (sys.version.split()[0], defined))
