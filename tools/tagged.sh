#!/usr/bin/env bash
# Runs the tests in files with a build tag, and no others.
# usage: tagged.sh TAG GO-TEST-FLAG…
set -euo pipefail
cd "$(dirname "$0")/.."
pattern="^//go:build (.*[^!])?\\b$1\\b"
shift
status=0
dirs=$(git grep -lE "$pattern" -- '*_test.go' | xargs -n 1 dirname | sort -u)
while IFS= read -r dir; do
  tests=$(grep -lE "$pattern" "$dir"/*_test.go | xargs sed -n 's/^func \(Test[A-Za-z0-9_]*\)(.*/\1/p' | paste -sd '|')
  if [ -n "$tests" ]; then
    "${GO:-go}" test "$@" -run "^($tests)\$" "./$dir" || status=1
  fi
done <<<"$dirs"
exit "$status"
