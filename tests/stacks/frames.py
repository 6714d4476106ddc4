"""Captures stacks in this interpreter and compares what was recorded with what the interpreter says of its own frames.

Run as: frames.py <recorder library>. Works with CPython 3.9 to 3.14; exits 1 on the first difference.
"""

import collections
import ctypes
import dis
import os
import struct
import sys
import tempfile
import threading

LIBRARY = ctypes.CDLL(sys.argv[1])
LIBRARY.recorder_event.restype = ctypes.c_void_p
LIBRARY.recorder_count.restype = ctypes.c_size_t
LIBRARY.recorder_locate.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                                    ctypes.POINTER(ctypes.c_int * 4)]
capture = LIBRARY.recorder_capture  # releases the GIL, as PyTorch does around its operators
HAS_COLUMNS = sys.version_info >= (3, 11)
HEADER, PYTHON_FRAME, STACK = 40, 7, 8  # analysis/event.h
Frame = collections.namedtuple("Frame", "file function line end_line column end_column")
checks = 0


def expect(found, wanted, what):
    global checks
    checks += 1
    if found != wanted:
        sys.exit("FAILED %s\n  found  %r\n  wanted %r" % (what, found, wanted))


def events():
    for index in range(LIBRARY.recorder_count()):
        address = LIBRARY.recorder_event(index)
        size, kind = struct.unpack("=IH", ctypes.string_at(address, 6))
        yield kind, ctypes.string_at(address, size)


def recorded(stack):
    """The Python frames of a stack, innermost first, and whether frames were left out."""
    frames = {}
    for kind, data in events():
        if kind == PYTHON_FRAME:
            number, line, end_line, column, end_column, file_bytes, function_bytes, _ = struct.unpack_from(
                "=IiiiiIII", data, HEADER)
            text = data[HEADER + 32:]
            assert text[file_bytes - 1] == 0 and text[file_bytes + function_bytes - 1] == 0
            frames[number] = Frame(text[:file_bytes - 1].decode(),
                                   text[file_bytes:file_bytes + function_bytes - 1].decode(), line, end_line, column,
                                   end_column)
        elif kind == STACK and struct.unpack_from("=I", data, HEADER)[0] == stack:
            _, natives, pythons, truncated = struct.unpack_from("=IIII", data, HEADER)
            numbers = struct.unpack_from("=%dQ" % pythons, data, HEADER + 16 + 8 * natives)
            return [frames[number] for number in numbers], truncated
    sys.exit("FAILED stack %d was not defined" % stack)


def name_of(code):
    return code.co_qualname if HAS_COLUMNS else code.co_name


def truth(frame):
    """What the interpreter says of a frame and its callers, innermost first."""
    result = []
    while frame:
        code = frame.f_code
        place = (frame.f_lineno, frame.f_lineno, -1, -1)
        if HAS_COLUMNS:
            places = list(code.co_positions())
            line, end_line, column, end_column = places[frame.f_lasti // 2]
            place = (line, end_line, column, end_column)
        result.append(Frame(code.co_filename, name_of(code), *place))
        frame = frame.f_back
    return result


def here():
    """Captures, and compares all frames from the caller outwards with the truth."""
    stack = capture()
    wanted = truth(sys._getframe(1))
    found, truncated = recorded(stack)
    expect(truncated, 0, "nothing left out")
    expect(found[1:], wanted, "frames of %s" % (wanted[0],))
    expect(found[0].function, "here", "innermost")
    return found[1]


# ---- kinds of code ----


def test_plain_function_line_and_columns():
    frame = here()
    expect(frame.function, "test_plain_function_line_and_columns", "function")
    expect(os.path.basename(frame.file), "frames.py", "file")
    if HAS_COLUMNS:
        expect((frame.column, frame.end_column), (12, 18), "columns of the call")


def test_two_lines_of_one_function_differ():
    first = here()
    second = here()
    expect(second.line, first.line + 1, "second line")


def test_statement_over_several_lines():
    frame = (
        here
        (
        ))
    if HAS_COLUMNS:
        expect(frame.end_line - frame.line, 2, "lines of the statement")


def test_nested_function_lambda_and_comprehensions():
    def inner():
        return here()

    wanted = "test_nested_function_lambda_and_comprehensions.<locals>.inner" if HAS_COLUMNS else "inner"
    expect(inner().function, wanted, "nested")
    expect((lambda: here())().function.endswith("<lambda>"), True, "lambda")
    list(here() for _ in range(2))
    [here() for _ in range(2)]
    {here(): here() for _ in range(2)}


def test_generator_and_coroutine():
    def generator():
        received = yield here()
        yield received, here()

    running = generator()
    next(running)
    running.send(1)

    def delegating():
        yield from generator()

    list(delegating())

    async def coroutine():
        return here()

    async def outer():
        return await coroutine()

    try:
        outer().send(None)
    except StopIteration:
        pass


def test_decorator_method_class_body_and_property():
    def decorated(function):
        def wrapper(*arguments, **named):
            return function(*arguments, **named)
        return wrapper

    class Module:
        in_body = here()

        def __call__(self, x):
            return self.forward(x)

        @decorated
        def forward(self, x):
            return here()

        @property
        def value(self):
            return here()

        @staticmethod
        def static():
            return here()

    module = Module()
    module(1)
    module.value
    Module.static()


def test_calls_through_c_code():
    sorted([3, 1, 2], key=lambda x: (here(), x)[1])
    list(map(lambda x: here(), [1, 2]))
    max([1, 2], key=lambda x: (here(), x)[1])


def test_exception_handlers_and_with():
    class Manager:
        def __enter__(self):
            return here()

        def __exit__(self, *_):
            here()

    with Manager():
        here()
    try:
        raise ValueError
    except ValueError:
        here()
    finally:
        here()


def test_code_given_as_text():
    exec("here()\n\n\nhere()", {"here": here})
    exec(compile("def f():\n    return here()\nf()", "<made up>", "exec"), {"here": here})


def test_names_outside_ascii():
    for name in ("gr\u00f6\u00dfe", "\u0437\u043d\u0430\u0447", "\u6570\u636e"):
        file = "/tmp/%s-\U0001f600.py" % name
        space = {"here": here}
        exec(compile("def %s():\n    \u00e9 = 1; return here()\nframe = %s()" % (name, name), file, "exec"), space)
        expect((space["frame"].file, space["frame"].function), (file, name), "names")
        exec(compile("def %s():\n    return here()\nframe = %s()" % (name, name), "/tmp/%s.py" % name, "exec"), space)
        expect(space["frame"].file, "/tmp/%s.py" % name, "names")


def test_surrogates_and_line_feeds_become_text():
    space = {"capture": capture}
    exec(compile("stack = capture()", "/tmp/a\udc80b\nc.py", "exec"), space)
    expect(recorded(space["stack"])[0][0].file, "/tmp/a\ufffdb?c.py", "replaced")


def test_long_names_are_cut_between_characters():
    space = {"capture": capture}
    exec(compile("stack = capture()", "\u00e9" * 3000, "exec"), space)
    expect(recorded(space["stack"])[0][0].file, "\u00e9" * 1023, "cut")


def test_deep_recursion_keeps_the_inner_frames():
    def down(depth):
        return capture() if depth == 0 else down(depth - 1)

    frames, truncated = recorded(down(400))
    expect(truncated, 1, "says that frames are missing")
    expect(len(frames), 64, "number of frames")
    expect({frame.function.split(".")[-1] for frame in frames}, {"down"}, "inner frames")


def test_threads_have_their_own_frames():
    failures = []

    def work(number):
        def down(depth):
            return here() if depth == 0 else down(depth - 1)
        try:
            for _ in range(20):
                down(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(failures, [], "threads")


def test_a_thread_without_python_has_no_python_frames():
    stack = ctypes.c_uint(0)
    pthread = ctypes.CDLL("libpthread.so.0")
    number = ctypes.c_ulong()
    start = ctypes.cast(LIBRARY.recorder_capture_into, ctypes.c_void_p)
    pthread.pthread_create(ctypes.byref(number), None, start, ctypes.byref(stack))
    pthread.pthread_join(number, None)
    expect(recorded(stack.value), ([], 0), "frames")


def test_the_same_stack_has_one_number():
    def call():
        return capture()

    numbers = [call() for _ in range(200)]
    # An interpreter that specialises its instructions may call from two or three places before it settles.
    expect(len(set(numbers[100:])), 1, "numbers after warming up")
    expect(len(set(numbers)) <= 4, True, "numbers at first")
    count = LIBRARY.recorder_count()
    for _ in range(1000):
        numbers.append(call())
    expect(len(set(numbers[-900:])), 1, "one number")
    expect(LIBRARY.recorder_count() - count <= 4, True, "nothing defined again")


def test_recycled_code_objects_are_told_apart():
    for index in range(300):
        space = {"capture": capture}
        source = "def f():\n%s    return capture()\nstack = f()" % ("\n" * (index % 7))
        exec(compile(source, "<recycled>", "exec"), space)
        expect(recorded(space["stack"])[0][0].line, 2 + index % 7, "line of version %d" % index)
        del space


def test_references_are_left_alone():
    code = test_references_are_left_alone.__code__
    names = (code, code.co_filename, code.co_name, getattr(code, "co_linetable", code.co_name))
    before = [sys.getrefcount(name) for name in names]
    for _ in range(100):
        capture()
    expect([sys.getrefcount(name) for name in names], before, "reference counts")


# ---- the location tables of the standard library ----


def lines_of(code):
    """(instruction offset, place) for every instruction, as the interpreter says."""
    if HAS_COLUMNS:
        none = (code.co_firstlineno, code.co_firstlineno, -1, -1)
        for index, (line, end_line, column, end_column) in enumerate(code.co_positions()):
            place = (line, end_line, -1 if column is None else column, -1 if end_column is None else end_column)
            yield 2 * index, none if line is None else place
    elif sys.version_info >= (3, 10):
        for start, end, line in code.co_lines():
            line = code.co_firstlineno if line is None else line
            for offset in range(start, end, 2):
                yield offset, (line, line, -1, -1)
    else:
        starts = dict(dis.findlinestarts(code))
        line = code.co_firstlineno
        for offset in range(0, len(code.co_code), 2):
            line = starts.get(offset, line)
            yield offset, (line, line, -1, -1)


def codes(code):
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            yield from codes(constant)


def test_every_instruction_of_some_modules():
    kind = 0 if sys.version_info < (3, 10) else 2 if HAS_COLUMNS else 1
    place = (ctypes.c_int * 4)()
    for module in (dis, collections, threading, tempfile, os):
        with open(module.__file__, "rb") as file:
            top = compile(file.read(), module.__file__, "exec")
        for code in codes(top):
            table = code.co_lnotab if kind == 0 else code.co_linetable
            for offset, wanted in lines_of(code):
                LIBRARY.recorder_locate(kind, table, len(table), code.co_firstlineno, offset, ctypes.byref(place))
                expect(tuple(place), wanted, "%s at %d" % (code, offset))


def main():
    LIBRARY.recorder_start(b"/nonexistent")
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            before = checks
            test()
            if checks == before:
                sys.exit("FAILED %s checked nothing" % name)
    expect(LIBRARY.recorder_warnings(), 0, "warnings")
    LIBRARY.recorder_python_ended()
    expect(recorded(capture())[0], [], "frames after the interpreter's end")
    print("Python %s: %d checks" % (sys.version.split()[0], checks))


main()
