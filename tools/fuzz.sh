#!/usr/bin/env bash
# Runs one fuzz target, and prints what it said when it has ended: targets run side by side.
# usage: fuzz.sh FLAGS… FOLDER TARGET
set -euo pipefail
target=${*: -1} folder=${*: -2:1}
flags=("${@:1:$#-2}")
status=0
out=$("${GO:-go}" test -vet=off "${flags[@]}" -run '^$' -fuzz "^$target\$" "$folder" 2>&1) || status=$?
printf '%s %s\n%s\n' "$folder" "$target" "$out"
exit "$status"
