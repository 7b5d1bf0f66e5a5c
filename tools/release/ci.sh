#!/usr/bin/env bash
# Builds the release of this machine's platform twice, and uses it as people do: from the archive in an
# empty root without Go, and as an image. Wants kpt and kustomize on PATH.
# It prints the processor time that it takes: compiling what Go's cache lacks, which comes first, apart from the rest.
# What runs in containers is not part of that: those processes are not children of this shell.
# usage: ci.sh [PLATFORM,… [FOLDER]]; by default linux/amd64. FOLDER, which must not exist, gets the release and
# the key pair that signed it.
set -euo pipefail
[ "$(id -u)" = 0 ] || { echo "run it as root: it changes the root folder, and installs podman" >&2; exit 1; }
cd "$(dirname "$0")"
platforms=${1:-linux/amd64} keep=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export COSIGN_PASSWORD=test
# measure sets cpu to the seconds of processor time of all programs that this shell has run.
measure() {
  times > "$work/times" # in no subshell, which has run none
  cpu=$(awk -F '[ms ]+' 'NR == 2 {printf "%.0f", 60 * $1 + $2 + 60 * $3 + $4}' "$work/times")
}

git clone -q ../.. "$work/clone"
go vet .
go build -o "$work/release" .
go test -run '^$' .
for module in release specschema; do CGO_ENABLED=0 go -C "$work/clone/tools/$module" test -trimpath -run '^$' ./...; done
"$work/release" compile -source "$work/clone" -platforms "$platforms"
measure
compiled=$cpu started=$SECONDS

go test -count=1 .
mkdir "$work/key"
"$work/release" keygen -out "$work/key"

built() {
  "$work/release" build -source "$work/clone" -version v0.0.1 -platforms "$platforms" -out "$work/$1" -key "$work/key/cosign.key"
  "$work/release" verify -from "$work/$1" -key "$work/key/cosign.pub"
}
built first
# The commit of the tag pins the release: its tests pass, and it gives the same bytes but for the signature, as in the workflow.
"$work/release" pin -from "$work/first" -source "$work/clone"
git -C "$work/clone" -c user.name=a -c user.email=a@example.com -c commit.gpgSign=false commit -qam 'Pin v0.0.1'
CGO_ENABLED=0 go -C "$work/clone/tools/release" test -trimpath .
CGO_ENABLED=0 go -C "$work/clone/tools/specschema" test -trimpath ./...
built second
cmp "$work/first/checksums.txt" "$work/second/checksums.txt"
cmp "$work/second/action.sums" "$work/clone/action.sums"
rm -r "$work/second"

# The cask installs each man page.
tar -tzf "$work/first/fleetwright_0.0.1_linux_amd64.tar.gz" | grep ^man/ | sort > "$work/pages"
sed -n 's/^  manpage "\(.*\)"$/\1/p' "$work/first/fleetwright.rb" | sort | diff "$work/pages" -

# The licences and the SBOM name the modules from which the schemas were generated.
tar -xzf "$work/first/fleetwright_0.0.1_linux_amd64.tar.gz" -C "$work" THIRD_PARTY_LICENSES
jq -r '.[].module | select(contains("@"))' "$work/clone/schemas/PROVENANCE.json" | sort -u > "$work/modules"
test -s "$work/modules"
while IFS=@ read -r module version; do
  grep -qxF "$module $version: LICENSE" "$work/THIRD_PARTY_LICENSES"
  jq -e --arg name "$module" --arg version "$version" 'any(.packages[]; .name == $name and .versionInfo == $version)' \
    "$work/first/fleetwright_0.0.1_linux_amd64.tar.gz.spdx.json" > "$work/named"
done < "$work/modules"

"$work/release" weigh -from "$work/first"

# What the workflow publishes, with a registry here, and programs that write down how cosign and gh are called.
mkdir "$work/fake" "$work/published"
printf '#!/bin/sh\nprintf "cosign %%s\\n" "$*" >> "%s/calls"\nif test "$1" = sign-blob; then echo {} > "$5"; fi\n' "$work" > "$work/fake/cosign"
printf '#!/bin/sh\nprintf "gh %%s\\n" "$*" >> "%s/calls"\ncase $2 in view) test ! -e "%s/draft" || echo true; exit;; edit | delete) exit;; esac\nfor last; do if test -f "$last"; then cp "$last" "%s/published"; fi; done\n' "$work" "$work" "$work" > "$work/fake/gh"
chmod +x "$work"/fake/*
"$work/release" registry -listen 127.0.0.1:0 > "$work/address" &
registry=$!
trap 'kill "$registry" 2>/dev/null; rm -rf "$work"' EXIT
for _ in {1..300}; do test -s "$work/address" && break || sleep 0.1; done
image=$(cat "$work/address")/fleetwright/fleetwright
# The tags of this checkout say nothing about what v0.0.1 is: they are deleted in the clone, which pins it.
git -C "$work/clone" tag | xargs -r git -C "$work/clone" tag -d >/dev/null
publish() { PATH=$work/fake:$PATH "$work/clone/tools/release/publish.sh" "$work/first" "$work/release" "$image"; }
publish
grep -q '^cosign sign-blob --yes --new-bundle-format --bundle [^ ]*/checksums.txt.sigstore.json [^ ]*/checksums.txt$' "$work/calls"
grep -q "^cosign sign --yes $(cat "$work/address")/fleetwright/fleetwright@sha256:[0-9a-f]*\$" "$work/calls"
grep -q '^gh release create v0.0.1 --draft --verify-tag ' "$work/calls"
grep -q '^gh release edit v0.0.1 --draft=false$' "$work/calls"
test "$(curl -fsS "http://$(cat "$work/address")/v2/fleetwright/fleetwright/tags/list" | jq -c .tags)" = '["latest","v0.0.1"]'
grep -q '^gh release delete' "$work/calls" && { echo 'a release that is no draft was deleted'; exit 1; }
# A second run, after one that failed, when a newer line has been released.
: > "$work/draft"
: > "$work/calls"
git -C "$work/clone" -c tag.gpgSign=false tag v9.0.0
publish
grep -q '^gh release delete --yes v0.0.1$' "$work/calls"
grep -q '^gh release edit v0.0.1 --draft=false --latest=false$' "$work/calls"
# What another revision pins is not published.
sed -i 's/^contents .*/contents 0/' "$work/clone/action.sums"
if publish 2>"$work/refused"; then echo 'a release that is not pinned was published'; exit 1; fi
grep 'the files are not those that' "$work/refused"
git -C "$work/clone" checkout -q action.sums
for asset in fleetwright_0.0.1_linux_amd64.tar.gz{,.spdx.json} checksums.txt{,.sigstore.json} action.sums fleetwright.rb mise.toml aqua-registry.yaml fleetwright.yaml catalog.yaml; do
  test -s "$work/published/$asset"
done
(cd "$work/published" && sha256sum --quiet --ignore-missing --check checksums.txt)
for asset in fleetwright.rb mise.toml aqua-registry.yaml fleetwright.yaml catalog.yaml; do grep -q "  $asset\$" "$work/published/checksums.txt"; done
kill "$registry"
trap 'rm -rf "$work"' EXIT # a failing kill would be the exit status

began=$(date +%s%N)
mkdir -p "$work/root/tmp" "$work/root/bin"
tar -xzf "$work"/first/fleetwright_*_linux_amd64.tar.gz -C "$work/root/bin"
inside() { env -i HOME=/tmp PATH=/bin GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com "$(command -v chroot)" "$work/root" /bin/fleetwright "$@"; }
inside init /tmp/platform
# The file for CI is that of the provider that the repository's URL names.
sed -i 's|https://git.example.com/platform/fleet.git|https://github.com/acme/platform.git|' "$work/root/tmp/platform/fleet/fleet.yaml"
inside render /tmp/platform
inside validate /tmp/platform
printf 'from the archive to the first report: %s ms\n' $((($(date +%s%N) - began) / 1000000))
# Without git, a bare repository can be committed to, and a work tree cannot.
git init -q --bare "$work/root/tmp/fleet.git"
inside commit /tmp/platform --target 'platform=/tmp/fleet.git#main'
if inside commit /tmp/platform 2>"$work/refused"; then echo 'a commit to a work tree without git'; exit 1; fi
grep 'git is not on PATH' "$work/refused"
inside version | grep '^fleetwright v0.0.1$'
grep -q 'fleetwright/fleetwright@v0.0.1' "$work/root/tmp/platform/.github/workflows/validate.yaml"
grep -q 'rev: v0.0.1' "$work/root/tmp/platform/.pre-commit-config.yaml"
grep -q 'release: v0.0.1' "$work/root/tmp/platform/.fleetwright/inventory.yaml"
sed -i 's/release: v0.0.1/release: v9.0.0/' "$work/root/tmp/platform/.fleetwright/inventory.yaml"
inside render --check /tmp/platform 2>&1 | grep 'rendered by fleetwright v9.0.0, which is newer than this v0.0.1'

PATH=$work/root/bin:$PATH ./containers.sh "$work/first" "$work/release"
if test -n "$keep"; then
  mkdir -p "$keep"
  mv "$work/first" "$keep/release"
  mv "$work/key" "$keep/key"
fi

measure
printf 'the release took %s s, and %s s of processor time; what was compiled before, %s s and %s s\n' \
  $((SECONDS - started)) $((cpu - compiled)) "$started" "$compiled"
