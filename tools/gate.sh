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
(cd "$dir/main" && CI=true bash .ci/run </dev/null)
mkdir -p out
printf '%s\n' "$head" >out/gate-passed
printf 'the gate passed on %s\n' "$head"
