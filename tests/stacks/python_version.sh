#!/bin/sh
# python_version.sh frames|finalize|unread|offsets <3.x> <recorder library or C compiler> <source folder>
# Runs one test with one version of Python. Exit status 77: that version is not on this machine (CTest shows "Skipped").
set -eu
what=$1 version=$2 tool=$3 source=$4
python=
for candidate in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version".*/bin/python"$version" \
    $(command -v "python$version" || true); do
    if "$candidate" -c 'import ctypes' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "no Python $version here: not tested"
    exit 77
fi
echo "with $python"
if [ "$what" != offsets ]; then
    exec "$python" "$source/tests/stacks/$what.py" "$tool"
fi

config() {
    "$python" -c "import sysconfig; print(sysconfig.get_$1)"
}
include=$(config "path('include')")
if [ ! -e "$include/Python.h" ] || [ ! -d "$include/internal" ]; then
    echo "no headers of Python $version here: not tested"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
libraries=
case $version in
3.9 | 3.1[0-2]) ;;
*) # _PyRuntime is in libpython, or in the program itself where there is no shared one
    libraries="-L$(config "config_var('LIBDIR')") -Wl,-rpath,$(config "config_var('LIBDIR')") -lpython$version"
    if [ "$(config "config_var('Py_ENABLE_SHARED')")" != 1 ]; then
        echo "Python $version has no shared library: not tested"
        exit 77
    fi ;;
esac
# shellcheck disable=SC2086
"$tool" -std=gnu11 -D_GNU_SOURCE -I"$source" -I"$include" -I"$include/internal" -o "$folder/offsets" \
    "$source/tests/stacks/offsets.c" "$source/interpose/python_layout.c" $libraries
"$folder/offsets"
