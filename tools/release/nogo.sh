#!/usr/bin/env bash
# Runs inside of a root without Go: installs a release in each way, and does the main job with it. In /check are clone
# (the repository, pinned and tagged), functions and mise; on PATH are git, curl, python3 with PyYAML, pre-commit,
# kpt, kustomize and flux.
# usage: nogo.sh URL VERSION; the release is at URL/VERSION
set -euo pipefail
url=$1 version=$2
number=${version#v}
cd "$(mktemp -d)"
say() { printf '\n--- %s\n' "$*"; }
# want TEXT COMMAND…: the command succeeds and prints the text.
want() {
  local text=$1 out
  shift
  if ! out=$("$@" 2>&1) || ! grep -qF -- "$text" <<< "$out"; then
    printf '%s\nfailed: %s\nwant: %s\n' "$out" "$*" "$text"
    exit 1
  fi
  grep -F -- "$text" <<< "$out" | head -1
}
if command -v go; then echo 'this root has Go'; exit 1; fi

mkdir -p broken/clusters/prod/flux-system
cat > broken/clusters/prod/flux-system/gotk-sync.yaml <<'END'
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://github.com/example/fleet, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 10m, path: ./clusters/prod, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
END
cat > broken/clusters/prod/apps.yaml <<'END'
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {interval: 10m, path: ./aps, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
END
# timed WAY COMMAND…: the command installs Fleetwright and validates the repository above with it, which has one error,
# in less than ten seconds.
timed() {
  local way=$1 began out status=0 took
  shift
  began=$(date +%s%N)
  out=$("$@" 2>&1) || status=$?
  took=$((($(date +%s%N) - began) / 1000000))
  if test "$status" -ne 1 || ! grep -qF 'flux-path-missing' <<< "$out" || test "$took" -ge 10000; then
    printf '%s\n%s: exit status %s after %s ms\n' "$out" "$way" "$status" "$took"
    exit 1
  fi
  printf '%s: from nothing to the first finding in %s ms: %s\n' "$way" "$took" "$(grep -F flux-path-missing <<< "$out" | head -1)"
}

say 'the script of docs/install.md'
python3 - "$url" "$version" > install.sh <<'PY'
import re, sys
url, version = sys.argv[1:]
script = re.search(r"\n```sh\n(.*?)\n```", open("/check/clone/docs/install.md").read(), re.S).group(1)
script = re.sub(r"(?m)^version=\S+", "version=" + version, script)
print(script.replace("https://github.com/fleetwright/fleetwright/releases/download", url))
PY
archive() { mkdir archive && (cd archive && sh -e ../install.sh) && ./archive/fleetwright validate broken; }
timed archive archive
cp archive/fleetwright /usr/local/bin/
want "fleetwright $version" fleetwright version

say "flux's plugin"
export FLUXCD_PLUGIN_CATALOG=$url/$version/
want fleetwright flux plugin search
plugin() { flux plugin install fleetwright && flux fleetwright validate broken; }
timed plugin plugin
want "$number" flux plugin list
want "fleetwright $version" flux fleetwright version

say "mise's http backend"
export MISE_DATA_DIR=$PWD/mise-data MISE_CONFIG_DIR=$PWD/mise-config MISE_CACHE_DIR=$PWD/mise-cache MISE_STATE_DIR=$PWD/mise-state
mkdir -p mise/.config/mise/conf.d
mise() { mise() { /check/mise -C mise "$@"; }; curl -fsSL -o mise/.config/mise/conf.d/fleetwright.toml "$url/$version/mise.toml" && mise trust -q .config/mise/conf.d/fleetwright.toml && mise install -q && mise exec -- fleetwright validate ../broken; }
timed mise mise

say 'the GitHub Action, its steps one after another'
cat > action.py <<'PY'
import os, subprocess, sys, yaml
action = yaml.safe_load(open("/check/clone/action.yml"))
given = dict(a.split("=", 1) for a in sys.argv[2:])
inputs = {k: given.get(k, v["default"]) for k, v in action["inputs"].items()}
env = dict(os.environ, FLEETWRIGHT_RELEASES=sys.argv[1], RUNNER_OS="Linux", RUNNER_ARCH="X64", RUNNER_TEMP=os.getcwd(),
           GITHUB_PATH="path", GITHUB_ENV="env", GITHUB_STEP_SUMMARY="summary")
for step in action["runs"]["steps"]:
    condition = step.get("if", "")
    if "build ==" in condition or "install-only" in condition and inputs["install-only"] == "true":
        continue
    if os.path.exists("env"):
        env.update(line.split("=", 1) for line in open("env").read().split())
    for name, value in step.get("env", {}).items():
        key = value.strip("${} ")
        env[name] = "/check/clone" if key == "github.action_path" else inputs[key.removeprefix("inputs.")]
    code = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], env=env).returncode
    if code:
        sys.exit(code)
PY
mkdir action
action() { cp -r broken action/ && (cd action && python3 ../action.py "$url" path=broken sarif-file=out.sarif); }
timed action action
grep -q flux-path-missing action/summary
grep -q '"ruleId": *"flux-path-missing"' action/out.sarif

say 'the job of GitLab'
python3 - > gitlab.sh <<'PY'
import shlex, yaml
job = yaml.safe_load(open("/check/clone/templates/gitlab-ci.yml"))["fleetwright"]
for name, value in job["variables"].items():
    print(f"export {name}={shlex.quote(str(value))}")
print("\n".join(job["before_script"] + job["script"]))
PY
mkdir busybox
for applet in $(busybox --list); do ln -s "$(command -v busybox)" "busybox/$applet"; done # which is what Alpine has
gitlab() { (cd broken && FLEETWRIGHT_RELEASES=$url PATH=$OLDPWD/busybox ../busybox/sh -e ../gitlab.sh); }
timed gitlab gitlab
rm broken/gl-code-quality-report.json

say 'the main job'
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com
git config --global init.defaultBranch main
git config --global user.name a
git config --global user.email a@example.com
fleetwright init platform
fleetwright render platform
fleetwright validate platform
fleetwright commit platform
git -C platform log --format=%s --stat -1 | sed -n '1p;$p'
test -z "$(git -C platform status --porcelain)"

say 'the hooks, with the installed command'
export PRE_COMMIT_HOME=$PWD/pre-commit
printf 'repos:\n- repo: /check/clone\n  rev: %s\n  hooks: [{id: fleetwright-render-check-system}, {id: fleetwright-validate-system}, {id: fleetwright-secrets-system}]\n' "$version" > platform/.pre-commit-config.yaml
git config --global --add safe.directory '*'
git -C platform add .
(cd platform && want 'the Flux repository is valid' pre-commit run --all-files)
printf 'apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: default}\nstringData: {password: kT9vqLw2xZr7}\n' > platform/secret.yaml
git -C platform add .
if (cd platform && pre-commit run fleetwright-secrets-system) > hook.txt 2>&1; then echo 'the hook lets a secret in plaintext pass'; exit 1; fi
grep -m1 sops-plaintext-secret hook.txt
if grep -q kT9vqLw2xZr7 hook.txt; then echo 'the hook prints the secret'; exit 1; fi

say 'kpt and kustomize'
for function in renderfleet validatefleet verifybootstrap encryptsecrets; do
  want 'Successfully executed' kpt fn render --allow-exec "/check/functions/$function"
done
test -s /check/functions/renderfleet/clusters/staging/flux-system/kustomization.yaml
grep '^  password: ENC\[' /check/functions/encryptsecrets/app/db.sops.yaml
if grep -q changeme /check/functions/encryptsecrets/app/db.sops.yaml; then echo 'the password is in plaintext'; exit 1; fi
for function in renderfleet validatefleet verifybootstrap; do
  (cd "/check/functions/$function" && want 'kind: ' kustomize build --enable-alpha-plugins --enable-exec .)
done
