#!/usr/bin/env bash
# Everything that one Linux machine can try of a release: all platforms, and every way to install whose tool can
# be had from the package registries. Takes more than an hour where nothing is compiled yet; ci.sh is the short form.
# Installs what is missing from Debian's packages. Wants kpt, kustomize and helm on PATH, and FLUX_MANIFESTS.
# usage: check.sh, or make release-check
set -euo pipefail
cd "$(dirname "$0")"
root=$(realpath ../..)
work=$(mktemp -d)
server= printer=
trap 'test -z "$server" || kill "$server" 2>/dev/null; chmod -R u+w "$work"; rm -rf --one-file-system "$work"; test -z "$printer" || { exec >&- 2>&-; wait "$printer"; }' EXIT
export COSIGN_PASSWORD=test
modules=$(go env GOMODCACHE)
say() { printf '\n=== %s (%s s)\n' "$*" "$SECONDS"; }
# want TEXT COMMAND…: the command succeeds and prints the text.
want() {
  local text=$1 out
  shift
  if ! out=$("$@" 2>&1) || ! grep -qF -- "$text" <<< "$out"; then
    printf '%s\nfailed: %s\nwant: %s\n' "$out" "$*" "$text"
    exit 1
  fi
  printf '%s: %s\n' "${*##*/}" "$(grep -F -- "$text" <<< "$out" | head -1)"
}
# refused TEXT COMMAND…: the command fails and prints the text.
refused() {
  local text=$1
  shift
  if "$@" > "$work/refused" 2>&1 || ! grep -qiF -- "$text" "$work/refused"; then
    cat "$work/refused"
    printf 'not refused with "%s": %s\n' "$text" "$*"
    exit 1
  fi
  printf 'refused: %s\n' "$(grep -iF -- "$text" "$work/refused" | tail -1)"
}
# anonymous prints what it reads, with names in place of the folder and the ports of this run.
anonymous() { sed -u -E -e "s|$work|/TMP|g" -e 's|127\.0\.0\.1:[0-9]+|127.0.0.1:PORT|g' -e 's|([/\])tmp[/\]tmp\.[A-Za-z0-9]{10}|\1TMP|g' -e 's|/[^[:space:]]*/\.fluxcd|~/.fluxcd|g'; }
for program in kpt kustomize helm jq yq npm; do command -v "$program" > /dev/null || { printf 'there is no %s\n' "$program"; exit 1; }; done
test -s "$FLUX_MANIFESTS/source-controller.yaml"
test -z "$(git -C "$root" status --porcelain)" || { echo 'the checkout is not clean'; exit 1; }
exec > >(anonymous) 2>&1
printer=$!
printf 'commit %s; %s, %s CPUs with a load of %s, %s\n' "$(git -C "$root" rev-parse --short HEAD)" "$(go env GOOS)/$(go env GOARCH)" \
  "$(nproc)" "$(cut -d ' ' -f 1-3 /proc/loadavg)" "$(go env GOVERSION)"
echo 'In what follows, /TMP is a temporary folder, and PORT a port of 127.0.0.1.'
say 'all platforms: twice the same bytes, the image, an empty root, kpt and kustomize'
./ci.sh linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64 "$work/all"
release=$work/all/release
(cd "$release" && ls -l --time-style=+ -- *.tar.gz *.zip | awk '{print $NF, $5}')

say 'another machine: no cache, another folder, time zone and umask'
git clone -q "$root" "$work/elsewhere"
(
  umask 027
  export GOCACHE=$work/cache TZ=Asia/Kathmandu LC_ALL=C
  go -C "$work/elsewhere/tools/release" build -o "$work/elsewhere.tool" .
  "$work/elsewhere.tool" build -source "$work/elsewhere" -version v0.0.1 -platforms linux/amd64 -out "$work/elsewhere.out"
)
cmp "$work/elsewhere.out/fleetwright_0.0.1_linux_amd64.tar.gz" "$release/fleetwright_0.0.1_linux_amd64.tar.gz"
rm -rf "$work/cache"
echo 'the same archive'

say 'cosign verifies the signature'
CGO_ENABLED=0 GOBIN=$work/bin go install github.com/sigstore/cosign/v2/cmd/cosign@v2.6.5
cosign=$work/bin/cosign
verified=("$cosign" verify-blob --key "$work/all/key/cosign.pub" --insecure-ignore-tlog=true --signature "$release/checksums.txt.sig")
want 'Verified OK' "${verified[@]}" "$release/checksums.txt"
sed 's/^0/1/; t; s/^./0/' "$release/checksums.txt" > "$work/other.txt"
refused 'invalid signature' "${verified[@]}" "$work/other.txt"

say 'syft finds no module that the SBOM lacks'
CGO_ENABLED=0 GOBIN=$work/bin go install github.com/anchore/syft/cmd/syft@v1.57.0
mkdir "$work/unpacked"
tar -xzf "$release/fleetwright_0.0.1_linux_amd64.tar.gz" -C "$work/unpacked"
"$work/bin/syft" scan -q "file:$work/unpacked/fleetwright" -o json |
  jq -r '.artifacts[] | select(.type == "go-module") | "\(.name) \(.version)"' | sort > "$work/syft.txt"
jq -r '.packages[] | select(.primaryPackagePurpose != "SOURCE") | "\(.name) \(.versionInfo)"' "$release/fleetwright_0.0.1_linux_amd64.tar.gz.spdx.json" |
  sed 's/^std /stdlib /' | sort > "$work/spdx.txt"
test "$(wc -l < "$work/syft.txt")" -gt 100
comm -3 "$work/syft.txt" "$work/spdx.txt" > "$work/differs.txt"
if test -s "$work/differs.txt"; then cat "$work/differs.txt"; exit 1; fi
printf '%s modules, the same\n' "$(wc -l < "$work/syft.txt")"

say 'the man pages, and the completions in bash, zsh and fish'
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends bash-completion fish groff man-db zsh > "$work/apt.log" 2>&1 || { tail "$work/apt.log"; exit 1; }
for page in "$work"/unpacked/man/man1/*.1; do
  MANWIDTH=80 man --warnings -E UTF-8 -l "$page" > "$work/page.txt" 2> "$work/warnings.txt"
  if test -s "$work/warnings.txt"; then cat "$page" "$work/warnings.txt"; exit 1; fi
  grep -q "^ *$(basename "$page" .1)  *- " "$work/page.txt" || { cat "$work/page.txt"; exit 1; }
done
printf '%s man pages\n' "$(find "$work/unpacked/man/man1" -name '*.1' | wc -l)"
cat > "$work/complete.bash" <<'BASH'
source /usr/share/bash-completion/bash_completion
source completions/fleetwright.bash
compopt() { :; } # which wants a terminal
COMP_WORDS=(fleetwright vali) COMP_CWORD=1 COMP_LINE='fleetwright vali' COMP_POINT=16 COMP_TYPE=9
__start_fleetwright fleetwright vali fleetwright
printf '%s\n' "${COMPREPLY[@]}"
BASH
(
  cd "$work/unpacked"
  export PATH=$PWD:$PATH HOME=$work
  want validate bash --norc "$work/complete.bash"
  want 'Check a Flux repository' fish --no-config -c 'source completions/fleetwright.fish; complete -C "fleetwright vali"'
  want _fleetwright zsh -f -c 'fpath=($PWD/completions $fpath); autoload -U compinit; compinit -u -D; autoload +X _fleetwright; echo $_comps[fleetwright]'
)

say 'arm64 and Windows, emulated; macOS, by its build information'
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends qemu-user-static ruby pre-commit wine64 gcc-mingw-w64-x86-64-win32 mmdebstrap > "$work/apt.log" 2>&1 || { tail "$work/apt.log"; exit 1; }
for p in linux_arm64 darwin_amd64 darwin_arm64; do
  mkdir "$work/$p"
  tar -xzf "$release/fleetwright_0.0.1_$p.tar.gz" -C "$work/$p"
  want "GOARCH=${p#*_}" go version -m "$work/$p/fleetwright"
done
for p in windows_amd64 windows_arm64; do
  mkdir "$work/$p"
  python3 -m zipfile -e "$release/fleetwright_0.0.1_$p.zip" "$work/$p"
  want "GOARCH=${p#*_}" go version -m "$work/$p/fleetwright.exe"
done
arm=(qemu-aarch64-static "$work/linux_arm64/fleetwright")
want 'fleetwright v0.0.1' "${arm[@]}" version
for step in init render validate; do "${arm[@]}" $step "$work/arm"; done
export PRE_COMMIT_HOME=$work/pre-commit WINEPREFIX=$work/wine WINEDEBUG=-all
windows=("$(command -v wine64 || echo /usr/lib/wine/wine64)" "$work/windows_amd64/fleetwright.exe")
# Debian's wine lacks a function that Go's runtime starts with.
printf '#include <windows.h>\n#include <ntsecapi.h>\n__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE p, SIZE_T n) { return RtlGenRandom(p, (ULONG)n); }\n' > "$work/prng.c"
"${windows[0]}" wineboot -i > "$work/wine.log" 2>&1
x86_64-w64-mingw32-gcc -shared -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" "$work/prng.c" -ladvapi32
want 'fleetwright v0.0.1' "${windows[@]}" version
# Nor has it what Go removes files with below a folder that it holds open, so that nothing is rendered here.
cp -r "$root/functions/validatefleet" "$work/windows"
want 'no findings' "${windows[@]}" validate "Z:$(tr / '\\' <<< "$work")\\windows"

say 'the same commit, released from a loopback server, pinned and tagged'
port=$((20000 + RANDOM % 20000))
url=http://127.0.0.1:$port
git clone -q "$root" "$work/clone"
go build -o "$work/tool" .
"$work/tool" build -source "$work/clone" -version v0.0.1 -platforms linux/amd64 -base "$url" -out "$work/served/v0.0.1"
"$work/tool" pin -from "$work/served/v0.0.1" -source "$work/clone"
git -C "$work/clone" -c user.name=a -c user.email=a@example.com -c commit.gpgSign=false commit -qam 'Pin v0.0.1'
git -C "$work/clone" -c tag.gpgSign=false tag v0.0.1
"$work/tool" serve -from "$work/served" -listen "127.0.0.1:$port" > /dev/null &
server=$!

say 'flux, which plugins are for, and mise'
flux=$(go mod download -json github.com/fluxcd/flux2/v2@v2.9.5 | jq -r .Dir)
cp -r "$flux" "$work/flux2"
chmod -R u+w "$work/flux2"
mkdir "$work/flux2/cmd/flux/manifests"
cp "$FLUX_MANIFESTS"/*.yaml "$work/flux2/cmd/flux/manifests" # which it embeds; the plugins need none
CGO_ENABLED=0 go -C "$work/flux2" build -ldflags='-X main.VERSION=2.9.5' -o "$work/bin/flux" ./cmd/flux
npm install --silent --no-fund --no-audit --prefix "$work/npm" @jdxcode/mise-linux-x64@2026.9.15
mise=$(find "$work/npm" -type f -name mise -path '*/bin/*')

say 'a root without Go: each way to install, and the main job'
mmdebstrap --quiet --variant=apt --include=busybox,ca-certificates,curl,git,pre-commit bookworm "$work/root" > "$work/mmdebstrap.log" 2>&1 || { tail "$work/mmdebstrap.log"; exit 1; }
for program in kpt kustomize "$work/bin/flux"; do cp -L "$(command -v "$program")" "$work/root/usr/local/bin/"; done
mkdir "$work/root/check"
cp -r "$root/functions" nogo.sh "$work/root/check"
cp "$mise" "$work/root/check/mise"
git clone -q "$work/clone" "$work/root/check/clone"
env -i HOME=/root PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$(command -v chroot)" "$work/root" /check/nogo.sh "$url" v0.0.1

say 'another archive than the one that was released is refused'
printf 'x' >> "$work/served/v0.0.1/fleetwright_0.0.1_linux_amd64.tar.gz"
export FLUXCD_PLUGIN_CATALOG=$url/v0.0.1/ FLUXCD_PLUGINS=$work/plugins
mkdir "$FLUXCD_PLUGINS"
refused checksum "$work/bin/flux" plugin install fleetwright
export MISE_DATA_DIR=$work/mise-data MISE_CONFIG_DIR=$work/mise-config MISE_CACHE_DIR=$work/mise-cache MISE_STATE_DIR=$work/mise-state
mkdir "$work/mise"
cp "$work/served/v0.0.1/mise.toml" "$work/mise"
"$mise" trust -q "$work/mise/mise.toml"
refused checksum "$mise" -C "$work/mise" install

say 'Homebrew: ruby reads the cask'
ruby - "$release/fleetwright.rb" > "$work/cask.txt" <<'RUBY'
class Cask
  def method_missing(name, *args, **_options, &block)
    puts args.first if %i[sha256 url].include?(name)
    instance_eval(&block) if block && name != :postflight
    self
  end

  def respond_to_missing?(*) = true
end
def cask(_name, &block) = Cask.new.instance_eval(&block)
load ARGV.fetch(0)
RUBY
paste -d ' ' - - < "$work/cask.txt" | sed 's| .*/|  |' | sort > "$work/cask.sums"
grep -E '_(darwin|linux)_' "$release/action.sums" | sort | diff - "$work/cask.sums"
cat "$work/cask.sums"

say 'Renovate finds the charts of the examples, and what a generated repository pins'
npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$work/npm" renovate@40.60.1
# renovated FOLDER: what Renovate extracts with the preset, each line "manager file name version". It ends with 1, since its
# RE2 is built by a script, which was not run: it takes JavaScript's expressions.
renovated() {
  jq '. + {"pre-commit": {enabled: true}}' "$root/default.json" > "$1/renovate.json"
  git -C "$1" init -q
  git -C "$1" add .
  (
    cd "$1"
    export RENOVATE_ONBOARDING=false LOG_LEVEL=debug LOG_FORMAT=json RENOVATE_BASE_DIR=$work/renovate-base
    "$work/npm/node_modules/.bin/renovate" --platform=local --dry-run=extract > "$work/renovate.log" 2>&1 || true
  )
  jq -R -r 'fromjson? | select(.packageFiles).packageFiles | to_entries[] | .key as $manager | .value[] | .packageFile as $file |
    .deps[] | "\($manager) \($file) \(.depName) \(.currentValue)"' "$work/renovate.log" | sort
}
cp -r "$root/examples" "$work/renovate"
renovated "$work/renovate" | awk '$1 == "regex" && $2 ~ /\/fleet\// {n = split($3, name, "/"); print name[n], $4}' | sort > "$work/found.txt"
yq -o=json . "$root"/examples/*/fleet/*.yaml | jq -r 'select(.kind == "Addon") | .metadata.name as $addon | .spec.chart |
  select(.url != null and (.url | contains("://"))) |
  "\(.name // (if .url | startswith("oci:") then .url | split("/") | last else $addon end)) \(.version)"' | sort > "$work/charts.txt"
test -s "$work/charts.txt"
diff "$work/charts.txt" "$work/found.txt"
printf '%s charts with their versions\n' "$(wc -l < "$work/found.txt")"
# One repository with the CI files of each provider. What render manages has no version that Renovate could change alone.
generated=$work/renovated
"$work/unpacked/fleetwright" init "$generated" > "$work/init.log"
for host in github.com gitlab.com codeberg.org gitea.example.com dev.azure.com; do
  sed -i "s|^\( *url:\) https://[^/]*/.*\.git$|\1 https://$host/acme/platform.git|" "$generated/fleet/fleet.yaml"
  "$work/unpacked/fleetwright" render "$generated" >> "$work/init.log"
done
renovated "$generated" > "$work/found.txt"
cat "$work/found.txt"
diff - <(awk '$3 != "ubuntu" && $3 != "actions/checkout"' "$work/found.txt") <<'END'
github-actions .github/workflows/validate.yaml fleetwright/fleetwright v0.0.1
pre-commit .pre-commit-config.yaml fleetwright/fleetwright v0.0.1
regex .forgejo/workflows/validate.yaml fleetwright/fleetwright v0.0.1
regex .gitea/workflows/validate.yaml fleetwright/fleetwright v0.0.1
regex .gitlab-ci.yml fleetwright/fleetwright v0.0.1
regex azure-pipelines.yml fleetwright/fleetwright v0.0.1
regex fleet/addons.yaml metrics-server 3.13.0
regex fleet/addons.yaml quay.io/jetstack/charts/cert-manager v1.19.1
END

say 'pre-commit builds the command with Go'
mkdir "$work/hooked"
cp -r "$root"/functions/validatefleet/. "$work/hooked"
git -C "$work/hooked" init -q
printf 'repos:\n- repo: %s\n  rev: v0.0.1\n  hooks:\n  - id: fleetwright-validate\n' "$work/clone" > "$work/hooked/.pre-commit-config.yaml"
git -C "$work/hooked" add .
(cd "$work/hooked" && GOMODCACHE=$modules GOFLAGS=-modcacherw want Passed pre-commit run --all-files)
# It does what this does, and one program is built.
GOMODCACHE=$modules GOPATH=$work/installed GOBIN='' go -C "$work/clone" install ./...
test "$(ls "$work/installed/bin")" = fleetwright

printf '\nthe release can be installed in each way that was tried (%s s)\n' "$SECONDS"
