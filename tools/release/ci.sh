#!/usr/bin/env bash
# Builds the release of this machine's platform twice, and uses it as people do: from the archive in an
# empty root without Go, and as an image. Wants kpt and kustomize on PATH.
# usage: ci.sh [PLATFORM,…]; by default linux/amd64
set -euo pipefail
cd "$(dirname "$0")"
platforms=${1:-linux/amd64}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export COSIGN_PASSWORD=test
go vet . && go test .
go build -o "$work/release" .
git clone -q ../.. "$work/clone"
mkdir "$work/key"
"$work/release" keygen -out "$work/key"

# pre-commit installs a hook of language golang so: one program is built. The modules are those of this machine.
GOMODCACHE=$(go env GOMODCACHE) GOPATH=$work/pre-commit GOBIN='' go -C "$work/clone" install ./...
test "$(ls "$work/pre-commit/bin")" = fleetwright
rm -r "$work/pre-commit"

for out in first second; do
  "$work/release" build -source "$work/clone" -version v0.0.1 -platforms "$platforms" -out "$work/$out" -key "$work/key/cosign.key"
  "$work/release" verify -from "$work/$out" -key "$work/key/cosign.pub"
done
cmp "$work/first/checksums.txt" "$work/second/checksums.txt" # but for the signature, the same bytes
rm -r "$work/second"

"$work/release" weigh -from "$work/first"

# What the workflow publishes, with a registry here, and programs that write down how cosign and gh are called.
mkdir "$work/fake" "$work/published"
printf '#!/bin/sh\nprintf "cosign %%s\\n" "$*" >> "%s/calls"\nif test "$1" = sign-blob; then echo {} > "$4"; fi\n' "$work" > "$work/fake/cosign"
printf '#!/bin/sh\nprintf "gh %%s\\n" "$*" >> "%s/calls"\nfor last; do if test -f "$last"; then cp "$last" "%s/published"; fi; done\n' "$work" "$work" > "$work/fake/gh"
chmod +x "$work"/fake/*
"$work/release" registry -listen 127.0.0.1:0 > "$work/address" &
registry=$!
trap 'kill "$registry" 2>/dev/null; rm -rf "$work"' EXIT
until test -s "$work/address"; do sleep 0.1; done
PATH=$work/fake:$PATH ./publish.sh "$work/first" "$work/release" "$(cat "$work/address")/fleetwright/fleetwright"
grep -q '^cosign sign-blob --yes --bundle [^ ]*/checksums.txt.sigstore.json [^ ]*/checksums.txt$' "$work/calls"
grep -q "^cosign sign --yes $(cat "$work/address")/fleetwright/fleetwright@sha256:[0-9a-f]*\$" "$work/calls"
grep -q '^gh release create v0.0.1 --verify-tag ' "$work/calls"
for asset in fleetwright_0.0.1_linux_amd64.tar.gz{,.spdx.json} checksums.txt{,.sigstore.json} action.sums fleetwright.rb mise.toml aqua-registry.yaml fleetwright.yaml catalog.yaml; do
  test -s "$work/published/$asset"
done
(cd "$work/published" && sha256sum --quiet --ignore-missing --check checksums.txt)
kill "$registry"
trap 'rm -rf "$work"' EXIT # a failing kill would be the exit status

began=$(date +%s%N)
mkdir -p "$work/root/tmp" "$work/root/bin"
tar -xzf "$work"/first/fleetwright_*_linux_amd64.tar.gz -C "$work/root/bin"
inside() { env -i HOME=/tmp PATH=/bin GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com "$(command -v chroot)" "$work/root" /bin/fleetwright "$@"; }
inside init /tmp/platform
inside render /tmp/platform
inside validate /tmp/platform
printf 'from the archive to the first report: %s ms\n' $((($(date +%s%N) - began) / 1000000))
inside commit /tmp/platform
inside version | grep '^fleetwright v0.0.1$'
grep -q 'fleetwright/fleetwright@v0.0.1' "$work/root/tmp/platform/.github/workflows/validate.yaml"
grep -q 'rev: v0.0.1' "$work/root/tmp/platform/.pre-commit-config.yaml"
grep -q 'release: v0.0.1' "$work/root/tmp/platform/.fleetwright/inventory.yaml"
sed -i 's/release: v0.0.1/release: v9.0.0/' "$work/root/tmp/platform/.fleetwright/inventory.yaml"
inside render --check /tmp/platform 2>&1 | grep 'fleetwright v9.0.0 rendered it, which is newer than this v0.0.1'

PATH=$work/root/bin:$PATH ./containers.sh "$work/first" "$work/release"
