#!/usr/bin/env bash
# Runs the gate on a fresh clone of HEAD, as CI does, and writes the commit's id to out/gate-passed if it passes. A folder
# ../shared is copied beside the clone.
set -euo pipefail
cd "$(dirname "$0")/.."
head=$(git rev-parse HEAD)
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
git clone --quiet --no-checkout . "$dir/main"
git -C "$dir/main" checkout --quiet --detach "$head"
if [ -d ../shared ]; then cp -R ../shared "$dir/shared"; fi
# Nothing of the make that runs this, or of a hook, reaches the clone.
(cd "$dir/main" && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES -u GIT_DIR -u GIT_WORK_TREE -u GIT_INDEX_FILE \
  CI=true bash .ci/run </dev/null)
mkdir -p out
printf '%s\n' "$head" >out/gate-passed
printf 'the gate passed on %s\n' "$head"
