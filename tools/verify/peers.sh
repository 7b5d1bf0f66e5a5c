#!/bin/sh
# Runs the tests that compare with real tools, which are on PATH.
#
#   tools/verify/peers.sh record  rewrites the records
#   tools/verify/peers.sh live    fails where a record is not what a tool prints, and runs the tests with the tag peers, too
#
# PACKAGES limits it to some folders.
set -eu
mode=$1
tags=tools,disable_grpc_modules
marks='internal/testpeer"'
if [ "$mode" = live ]; then
  tags=$tags,peers
  marks="$marks"'\|^//go:build peers'
fi
if [ "$mode" = live ] && [ -z "${KCM:-}" ]; then
  echo 'without KCM, a folder with checkouts of kcm, nothing is compared with its definitions and samples'
fi
failed=
for dir in ${PACKAGES:-$(grep -rl --include='*_test.go' "$marks" . | xargs -n 1 dirname | sort -u)}; do
  tests=$({
    grep -l "$marks" "$dir"/*_test.go | xargs sed -n 's/^func \(Test[A-Za-z0-9_]*\)(.*/\1/p'
    find "$dir/testdata/peers" -name '*.json' 2>/dev/null | sed 's|.*/||;s|\.json$||'
  } | sort -u | paste -s -d '|' -)
  if [ -z "$tests" ]; then
    echo "$dir has no tests that compare with real tools" >&2
    exit 1
  fi
  FLEETWRIGHT_PEERS=$mode "${GO:-go}" test -tags "$tags" -count=1 -timeout "${PATIENCE:-40m}" -run "^($tests)\$" "$dir" || failed="$failed $dir"
done
if [ -n "$failed" ]; then
  echo "failed:$failed" >&2
  exit 1
fi
