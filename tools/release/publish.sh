#!/usr/bin/env bash
# Publishes a release folder: signs its checksums, pushes and signs the image, and creates the release of its
# tag. Wants cosign and gh on PATH, and to be logged in to the registry. A run that failed can be started again.
# usage: publish.sh RELEASE-FOLDER RELEASE-TOOL IMAGE
set -euo pipefail
release=$(realpath "$1") tool=$(realpath "$2") image=$3
version=$(awk '$1 == "version" {print $2}' "$release/action.sums")
assets=$(mktemp -d)
trap 'rm -rf "$assets"' EXIT

"$tool" verify -from "$release" -pinned "$(dirname "$0")/../../action.sums"
find "$release" -maxdepth 1 -type f -exec cp -t "$assets" {} +
cosign sign-blob --yes --new-bundle-format --bundle "$assets/checksums.txt.sigstore.json" "$assets/checksums.txt"

# The release is a draft until the image is there, so that nobody sees half of it. It is the latest one, and its image
# "latest", unless it is a pre-release or an older line's.
newest=$({ git -C "$(dirname "$0")" tag --list 'v[0-9]*'; echo "$version"; } | sed '/-/d' | sort -V | tail -1)
stage=()
case $version in
  *-*) stage=(--prerelease) ;;
  "$newest") ;;
  *) stage=(--latest=false) ;;
esac
if test "$(gh release view "$version" --json isDraft --jq .isDraft 2>/dev/null)" = true; then gh release delete --yes "$version"; fi
gh release create "$version" --draft --verify-tag --title "$version" --generate-notes "${stage[@]}" "$assets"/*
pushed=$("$tool" push -from "$release" -to "$image:$version")
cosign sign --yes "$pushed"
if test "$version" = "$newest"; then "$tool" push -from "$release" -to "$image:latest"; fi
gh release edit "$version" --draft=false "${stage[@]}"
