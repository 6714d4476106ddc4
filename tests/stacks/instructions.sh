#!/bin/sh
# instructions.sh <recorder library> <source folder> <limit>: fails when a capture that repeats takes more instructions
# than the limit, counted by callgrind as the difference of two runs. Exit status 77: no valgrind or no Python 3.9 to
# 3.13 here.
set -eu
library=$1 source=$2 limit=$3
python=
for candidate in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.12.*/bin/python3 python3.12 python3.13 python3.11 python3; do
    if "$candidate" -c 'import ctypes, sys; sys.exit(not (3, 9) <= sys.version_info < (3, 14))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ] || ! command -v valgrind >/dev/null; then
    echo "needs valgrind and a Python of 3.9 to 3.13: not measured"
    exit 77
fi
count() {
    PYTHONHASHSEED=0 valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        "$python" "$source/tests/stacks/bench.py" "$library" "$1" 2>&1 |
        sed -n 's/.*Collected : //p'
}
few=$(count 1000)
many=$(count 11000)
each=$(((many - few) / 10000))
echo "$each instructions a capture (limit $limit) with $("$python" --version)"
[ "$each" -gt 50 ] && [ "$each" -le "$limit" ]
