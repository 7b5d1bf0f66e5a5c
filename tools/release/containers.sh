#!/usr/bin/env bash
# Runs the image of a release folder with podman: as a command, in kpt and in kustomize.
# usage: containers.sh RELEASE-FOLDER RELEASE-TOOL; wants kpt and kustomize on PATH
set -euo pipefail
release=$(realpath "$1") tool=$(realpath "$2")
root=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
registry=
trap 'test -z "$registry" || kill "$registry"; rm -rf "$work"' EXIT
say() { printf '%s\n' "--- $*"; }
# encrypted FILE: the password of the example is encrypted in it.
encrypted() {
  grep '^  password: ENC\[' "$1" || { cat "$1"; exit 1; }
  if grep -q changeme "$1"; then echo 'the password is in plaintext'; exit 1; fi
}

# Where this process may not raise limits, or cgroups are of version 1, podman's defaults fail.
cat > "$work/containers.conf" <<'END'
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
END
runtime=podman # which brings one
if ! test -f /sys/fs/cgroup/cgroup.controllers; then
  runtime=runc
  printf '[engine]\nruntime = "runc"\n' >> "$work/containers.conf"
fi
export CONTAINERS_CONF=$work/containers.conf
if ! command -v podman >/dev/null || ! command -v "$runtime" >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends podman runc crun >/dev/null
fi

"$tool" registry -listen 127.0.0.1:0 > "$work/address" &
registry=$!
for _ in {1..300}; do test -s "$work/address" && break || sleep 0.1; done
address=$(cat "$work/address")
printf '[[registry]]\nlocation = "%s"\ninsecure = true\n' "$address" > "$work/registries.conf"
export CONTAINERS_REGISTRIES_CONF=$work/registries.conf
image=$address/fleetwright/fleetwright:test
"$tool" push -from "$release" -to "$image"
podman pull -q "$image"
# The index has an image for each archive of Linux.
podman manifest inspect "$image" | jq -r '.manifests[].platform.architecture' | sort > "$work/pushed"
ls "$release" | sed -n 's/^fleetwright_.*_linux_\([a-z0-9]*\)\.tar\.gz$/\1/p' | sort | diff - "$work/pushed"

# kpt takes podman by name; kustomize calls docker, which is podman here. Both pull by
# themselves.
mkdir "$work/bin"
printf '#!/bin/sh\nexec podman "$@"\n' > "$work/bin/docker"
chmod +x "$work/bin/docker"
export PATH=$work/bin:$PATH KPT_FN_RUNTIME=podman

say 'the command, without network, on a read-only root'
sandbox=(podman run --rm -i --network none --read-only --cap-drop all --security-opt no-new-privileges)
"${sandbox[@]}" "$image" version
test "$(podman inspect --format '{{.Config.User}}' "$image")" = 65532:65532
if "${sandbox[@]}" --entrypoint /bin/sh "$image" -c true 2>/dev/null; then echo 'the image has a shell'; exit 1; fi
cp -r "$root/functions/validatefleet" "$work/repository"
"${sandbox[@]}" -v "$work/repository:/repository:ro" "$image" validate /repository

say 'no arguments, and a ResourceList on stdin: the function'
printf 'apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}\nfunctionConfig:\n  apiVersion: fleetwright.dev/v1alpha1\n  kind: ValidateFleet\n  metadata: {name: v}\n' |
  "${sandbox[@]}" "$image" | grep '^kind: ResourceList'

say 'a container sees no folder'
mkdir -p "$work/folder/manifests"
cp -r "$root"/functions/renderfleet/fleet "$work/folder"
: > "$work/folder/.sops.yaml"
while IFS='|' read -r kind spec error; do
  if printf 'apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nfunctionConfig:\n  apiVersion: fleetwright.dev/v1alpha1\n  kind: %s\n  metadata: {name: v}\n  spec: %s\n' "$kind" "$spec" |
    (cd "$work/folder" && "${sandbox[@]}" "$image" > "$work/out" 2>&1); then
    echo "$kind $spec reads a folder"; exit 1
  fi
  grep -F "$error" "$work/out"
done <<'END'
RenderFleet|{output: objects, cluster: staging, path: .}|no specification found in "."
RenderFleet|{output: files, fluxManifests: manifests, objects: [{apiVersion: fleetwright.dev/v1alpha1, kind: Fleet, metadata: {name: a}, spec: {repository: {url: https://github.com/a/b}, flux: {install: bootstrap}}}, {apiVersion: fleetwright.dev/v1alpha1, kind: Cluster, metadata: {name: staging}, spec: {environment: staging}}]}|spec.fluxManifests "manifests" does not exist
EncryptSecrets|{root: .}|spec.root "." contains no readable .sops.yaml
END

for function in renderfleet validatefleet verifybootstrap encryptsecrets; do
  say "kpt fn render: $function"
  cp -r "$root/functions/$function" "$work/kpt-$function"
  sed -i "s|exec: fleetwright fn|image: $image|" "$work/kpt-$function/Kptfile"
  grep -q "image: $image" "$work/kpt-$function/Kptfile"
  kpt fn render "$work/kpt-$function"
done
# The package is the one that the command itself renders. A Secret is encrypted, each time into other bytes.
cp -r "$root/functions/renderfleet" "$work/exec-renderfleet"
kpt fn render --allow-exec "$work/exec-renderfleet" 2> "$work/exec.txt" || { cat "$work/exec.txt"; exit 1; }
test -s "$work/kpt-renderfleet/clusters/staging/flux-system/kustomization.yaml"
diff -r --exclude Kptfile "$work/exec-renderfleet" "$work/kpt-renderfleet"
encrypted "$work/kpt-encryptsecrets/app/db.sops.yaml"

say 'kpt fn eval'
kpt fn eval "$work/kpt-validatefleet" --image "$image" -- function=ValidateFleet failOn=warning

for function in renderfleet validatefleet verifybootstrap; do
  say "kustomize: $function"
  cp -r "$root/functions/$function" "$work/kustomize-$function"
  (
    cd "$work/kustomize-$function"
    PATH=$work/bin:$PATH kustomize build --enable-alpha-plugins --enable-exec . > "$work/exec.yaml"
    grep -rl 'exec:' --include='*.yaml' . | xargs sed -i -z "s|exec:\n *path: fleetwright\n *args: \[fn\]|container: {image: '$image'}|g; s|exec: {path: fleetwright, args: \[fn\]}|container: {image: '$image'}|g"
    grep -rq "$image" .
    kustomize build --enable-alpha-plugins . > "$work/container.yaml"
    cmp "$work/exec.yaml" "$work/container.yaml"
  )
done

# A validator changes nothing, so that only a failing one shows that it runs.
say 'what is wrong fails in kpt and in kustomize'
sed -i 's|helm.toolkit.fluxcd.io/v2$|helm.toolkit.fluxcd.io/v2beta2|' "$work"/{kpt,kustomize}-validatefleet/app/podinfo.yaml
sed -i 's|version: v1.19.2|version: v1.18.0|' "$work"/{kpt,kustomize}-verifybootstrap/verifybootstrap.yaml
fails() {
  local rule=$1
  shift
  if "$@" > "$work/failed" 2>&1; then echo "no failure: $*"; exit 1; fi
  grep -o -m 1 "\[$rule\]" "$work/failed" || { cat "$work/failed"; exit 1; }
}
fails flux-api-deprecated kpt fn eval "$work/kpt-validatefleet" --image "$image" -- function=ValidateFleet failOn=warning
fails flux-api-deprecated kpt fn render "$work/kpt-validatefleet"
fails bootstrap-version-drift kpt fn render "$work/kpt-verifybootstrap"
fails flux-api-deprecated kustomize build --enable-alpha-plugins "$work/kustomize-validatefleet"
fails bootstrap-version-drift kustomize build --enable-alpha-plugins "$work/kustomize-verifybootstrap"
echo 'the image runs in podman, kpt and kustomize'
