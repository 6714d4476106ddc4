#!/bin/sh
# harness_fails.sh HARNESS KERNEL: with this kernel doing nothing, the harness must end with status 1 and name a failure.
out=$(BROKEN_KERNEL=$2 "$1" --verify-only 2>&1)
status=$?
printf '%s\n' "$out" | tail -n 3
[ $status -eq 1 ] && printf '%s\n' "$out" | grep -q '^FAIL naive '
