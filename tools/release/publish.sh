#!/usr/bin/env bash
# Publishes a release folder: signs its checksums, pushes and signs the image, and creates the release of its
# tag. Wants cosign and gh on PATH, and to be logged in to the registry.
# usage: publish.sh RELEASE-FOLDER RELEASE-TOOL IMAGE
set -euo pipefail
release=$(realpath "$1") tool=$(realpath "$2") image=$3
version=$(awk '$1 == "version" {print $2}' "$release/action.sums")
assets=$(mktemp -d)
trap 'rm -rf "$assets"' EXIT

"$tool" verify -from "$release"
find "$release" -maxdepth 1 -type f -exec cp -t "$assets" {} +
cp "$release"/packages/{homebrew/fleetwright.rb,mise/mise.toml,flux/fleetwright.yaml,flux/catalog.yaml} "$assets"
cp "$release/packages/aqua/registry.yaml" "$assets/aqua-registry.yaml"
cosign sign-blob --yes --bundle "$assets/checksums.txt.sigstore.json" "$assets/checksums.txt"

pushed=$("$tool" push -from "$release" -to "$image:$version")
cosign sign --yes "$pushed"
stage=()
case $version in
  *-*) stage=(--prerelease) ;;
  *) "$tool" push -from "$release" -to "$image:latest" ;;
esac
gh release create "$version" --verify-tag --title "$version" --generate-notes "${stage[@]}" "$assets"/*
