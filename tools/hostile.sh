#!/usr/bin/env bash
# Runs REPOSITORIES hostile repositories of the grammar from FIRST on, in steps of STEP, and appends a line for each step
# to TRANSCRIPT. A step that the transcript has is left out: a run that was ended goes on where it was.
set -euo pipefail
first=$1 repositories=$2 transcript=$3 step=${4:-100}
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go test -c -tags disable_grpc_modules,hostile -o "$dir/hostile.test" ./cmd/fleetwright
revision=$(git rev-parse --short HEAD)
for ((seed = first; seed < first + repositories; seed += step)); do
  if test -e "$transcript" && grep -q "^ *$seed " "$transcript"; then
    continue
  fi
  status=0
  (cd cmd/fleetwright && TMPDIR="$dir" "$dir/hostile.test" -test.run 'TestHostileMutations$' \
    -mutations "$step" -mutation-seed "$seed" -test.timeout 0 -test.v) >"$dir/out" 2>&1 || status=$?
  failed=$(grep -o '^    --- FAIL: TestHostileMutations/[0-9]*' "$dir/out" | grep -o '[0-9]*$' | tr '\n' ' ' || true)
  ran=$(grep -c '^    --- PASS: TestHostileMutations/\|^    --- FAIL: TestHostileMutations/' "$dir/out" || true)
  if test "$ran" != "$step" || { test "$status" != 0 && test -z "$failed"; }; then
    tail -n 50 "$dir/out" >&2
    exit 1 # the step did not end, and has no line
  fi
  printf '%12s %13s %7s   %s %s\n' "$seed" "$ran" "$(wc -w <<<"$failed")" "$revision" "$failed" | sed 's/ *$//' >>"$transcript"
  test -z "$failed" || cat "$dir/out" >>"${transcript%.txt}-failed.log"
done
