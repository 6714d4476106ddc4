/*
 * offsets.c - compares python_layouts.def with offsetof() in the headers that this file is compiled against; for
 * versions that publish their offsets, with what their _PyRuntime holds (linked to that libpython). Prints each
 * difference; exits 1 if there is one. Compiled by the test once for each interpreter that is found.
 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <frameobject.h>
#include <stddef.h>
#include <stdio.h>
#if PY_VERSION_HEX >= 0x030b0000
#include <internal/pycore_code.h>
#include <internal/pycore_frame.h>
#endif
#if PY_VERSION_HEX >= 0x030d0000
#include <internal/pycore_runtime.h>
#endif

#undef NONE
#include "interpose/python_layout.h"

#define SAME(field, wanted)                                                                                            \
    do {                                                                                                               \
        if (layout.field != (wanted)) {                                                                                \
            printf("3.%u: %s is %u, the headers say %zu\n", PY_MINOR_VERSION, #field, layout.field, (size_t)(wanted)); \
            different++;                                                                                               \
        }                                                                                                              \
        compared++;                                                                                                    \
    } while (0)

int main(void)
{
    struct cs_python_layout layout;
    const void *runtime = NULL;
    int different = 0, compared = 0;
#if PY_VERSION_HEX >= 0x030d0000
    runtime = &_PyRuntime;
#endif
    if (!cs_python_layout_find(&layout, PY_MINOR_VERSION, runtime)) {
        printf("3.%u: no layout\n", PY_MINOR_VERSION);
        return 1;
    }
#if PY_VERSION_HEX >= 0x030d0000
    SAME(thread_frame, offsetof(PyThreadState, current_frame));
    SAME(code, offsetof(struct _PyInterpreterFrame, f_executable));
    SAME(instruction, offsetof(struct _PyInterpreterFrame, instr_ptr));
#elif PY_VERSION_HEX >= 0x030b0000
    SAME(thread_frame, offsetof(PyThreadState, cframe));
    SAME(cframe_frame, offsetof(_PyCFrame, current_frame));
    SAME(code, offsetof(struct _PyInterpreterFrame, f_code));
    SAME(instruction, offsetof(struct _PyInterpreterFrame, prev_instr));
    SAME(traceable, offsetof(PyCodeObject, _co_firsttraceable));
#else
    SAME(thread_frame, offsetof(PyThreadState, frame));
    SAME(previous, offsetof(PyFrameObject, f_back));
    SAME(code, offsetof(PyFrameObject, f_code));
    SAME(instruction, offsetof(PyFrameObject, f_lasti));
    SAME(name, offsetof(PyCodeObject, co_name));
#endif
#if PY_VERSION_HEX >= 0x030b0000
    SAME(previous, offsetof(struct _PyInterpreterFrame, previous));
    SAME(owner, offsetof(struct _PyInterpreterFrame, owner));
    SAME(name, offsetof(PyCodeObject, co_qualname));
    SAME(start, offsetof(PyCodeObject, co_code_adaptive));
#endif
#if PY_VERSION_HEX >= 0x030a0000
    SAME(table, offsetof(PyCodeObject, co_linetable));
#else
    SAME(table, offsetof(PyCodeObject, co_lnotab));
#endif
#if PY_VERSION_HEX >= 0x030c0000 && PY_VERSION_HEX < 0x030e0000
    SAME(version, offsetof(PyCodeObject, co_version));
#else
    SAME(version, CS_PYTHON_NONE);
#endif
    SAME(file, offsetof(PyCodeObject, co_filename));
    SAME(first_line, offsetof(PyCodeObject, co_firstlineno));
    SAME(type, offsetof(PyObject, ob_type));
    SAME(size, offsetof(PyVarObject, ob_size));
    SAME(data, offsetof(PyBytesObject, ob_sval));
    SAME(state, offsetof(PyASCIIObject, state));
    SAME(length, offsetof(PyASCIIObject, length));
    SAME(ascii, sizeof(PyASCIIObject));
    SAME(compact, sizeof(PyCompactUnicodeObject));
    PyASCIIObject text = {0};
    unsigned state;
    text.state.kind = 7;
    memcpy(&state, &text.state, sizeof state);
    SAME(kind_shift, __builtin_ctz(state));
    printf("3.%u: %d offsets compared, %d differ\n", PY_MINOR_VERSION, compared, different);
    return different != 0;
}
