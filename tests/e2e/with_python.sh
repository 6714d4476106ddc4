#!/bin/sh
# with_python.sh <3.x> <test.py>: runs an end-to-end test with that version of Python. Exit status 77: it is not on this
# machine (CTest shows "Skipped").
version=$1 test=$2
for candidate in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version".*/bin/python"$version" "python$version"; do
    if real=$("$candidate" -c 'import ctypes, sys; print(sys.executable)' 2>/dev/null); then
        exec "$real" "$test" -v
    fi
done
echo "no Python $version here: not tested"
exit 77
