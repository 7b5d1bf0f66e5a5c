package emit

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/internal/version"
)

const (
	repository = "fleetwright/fleetwright"
	module     = "github.com/" + repository + "/cmd/fleetwright"
	// smaller is the build flag of releases, which leaves out code that the command never calls. pre-commit passes no flag.
	smaller = "-tags disable_grpc_modules "
)

// CI writes the starter files for pre-commit and CI, which belong to the users afterwards. hooks are IDs in
// .pre-commit-hooks.yaml. steps are arguments of fleetwright. If the branch is empty, the workflow runs on pushes to any
// branch. The host of the repository's URL determines the provider, and the provider the file for CI; for unknown hosts,
// no file is written.
func (f *Files) CI(url, branch string, hooks, steps []string) {
	build := version.Current()
	f.Text(".pre-commit-config.yaml", tree.Once, preCommit(build, hooks))
	switch ProviderOf(url) {
	case GitHub:
		f.Text(".github/workflows/validate.yaml", tree.Once, workflow(build, branch, steps))
	case Forgejo:
		f.Text(".forgejo/workflows/validate.yaml", tree.Once, forgeWorkflow(build, branch, steps))
	case Gitea:
		f.Text(".gitea/workflows/validate.yaml", tree.Once, forgeWorkflow(build, branch, steps))
	case GitLab:
		f.Text(".gitlab-ci.yml", tree.Once, gitlab(build, steps))
	case Azure:
		trigger := cmp.Or(branch, "'*'")
		f.Text("azure-pipelines.yml", tree.Once, []byte("trigger:\n- "+trigger+"\npool:\n  vmImage: ubuntu-latest\nsteps:\n- checkout: self\n  fetchDepth: 0\n"+commands(build, "- script: ", steps)))
	}
}

// Provider is a hosting service for Git repositories.
type Provider string

// The providers that are recognized by the host of a repository's URL.
const (
	GitHub  Provider = "GitHub"
	GitLab  Provider = "GitLab"
	Forgejo Provider = "Forgejo"
	Gitea   Provider = "Gitea"
	Azure   Provider = "Azure DevOps"
)

// ProviderOf returns the provider of a repository; "" if the host is unknown.
func ProviderOf(url string) Provider {
	host := hostOf(strings.ToLower(url))
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(host, name) })
	}
	switch {
	case has("github"):
		return GitHub
	case has("codeberg.org", "forgejo"):
		return Forgejo
	case has("gitea"):
		return Gitea
	case has("gitlab"):
		return GitLab
	case has("dev.azure.com", "visualstudio.com"):
		return Azure
	}
	return ""
}

// hostOf returns the host of a URL, with its port.
func hostOf(url string) string {
	_, host, _ := strings.Cut(url, "://")
	host, _, _ = strings.Cut(host, "/")
	return host[strings.LastIndexByte(host, '@')+1:]
}

// DeployKeys returns where the user adds deploy keys to a repository: the URL of the page, or the path in the
// provider's menus; "" if the provider is unknown.
func DeployKeys(url string) string {
	host, _, _ := strings.Cut(hostOf(url), ":")
	_, path, _ := strings.Cut(url, "://")
	_, path, _ = strings.Cut(path, "/")
	page := "https://" + strings.TrimPrefix(host, "ssh.") + "/" + strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	switch ProviderOf(url) {
	case GitHub, Forgejo, Gitea:
		return page + "/settings/keys"
	case GitLab:
		return page + "/-/settings/repository#js-deploy-keys-settings"
	case Azure:
		return "User settings → SSH public keys, of a user that can only read"
	}
	return ""
}

// gitlab returns a pipeline for GitLab: the template of the release that rendered it, and a job for each step
// that the template does not run.
func gitlab(build version.Build, steps []string) []byte {
	var b strings.Builder
	if build.Release() == "" {
		return []byte("fleetwright:\n  image: golang:latest\n  variables:\n    GIT_DEPTH: \"0\"\n  script:\n" + commands(build, "  - ", steps))
	}
	b.WriteString("include:\n- remote: https://raw.githubusercontent.com/" + repository + "/" + build.Release() + "/templates/gitlab-ci.yml\n")
	for _, step := range steps {
		if step != "validate" {
			name, _, _ := strings.Cut(step, " ")
			b.WriteString("\nfleetwright-" + name + ":\n  extends: fleetwright\n  script:\n  - fleetwright " + step + "\n  artifacts: null\n")
		}
	}
	return []byte(b.String())
}

// commands returns the steps as shell commands, each with lead at the beginning of its line. For a release, the
// first command downloads the archive and verifies its checksum. For other builds, fleetwright is compiled.
func commands(build version.Build, lead string, steps []string) string {
	var b strings.Builder
	run, release := "go run "+smaller+module+"@"+build.Installable(), build.Release()
	if release != "" {
		run = `"$HOME/fleetwright/fleetwright"`
		indent := "\n" + strings.Repeat(" ", len(lead)-len(strings.TrimLeft(lead, " "))+4)
		b.WriteString(lead + "|" + indent + strings.Join([]string{
			`set -eu`,
			`url=https://github.com/` + repository + `/releases/download/` + release,
			`archive=fleetwright_${url##*/v}_linux_$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/').tar.gz`,
			`mkdir -p "$HOME/fleetwright" && cd "$HOME/fleetwright"`,
			`curl --fail --silent --show-error --location --remote-name-all "$url/$archive" "$url/checksums.txt"`,
			`grep "  $archive\$" checksums.txt | sha256sum --check`,
			`tar -xzf "$archive" fleetwright`,
		}, indent) + "\n")
	}
	for _, step := range steps {
		command := run + " " + step
		if release != "" {
			command = "'" + command + "'" // otherwise YAML would read the quoted first word as the scalar
		}
		b.WriteString(lead + command + "\n")
	}
	return b.String()
}

// forgeWorkflow returns a workflow for Forgejo or Gitea. These services mirror GitHub's own actions, but not
// Fleetwright's.
func forgeWorkflow(build version.Build, branch string, steps []string) []byte {
	push := "  push:\n"
	if branch != "" {
		push += "    branches: [" + branch + "]\n"
	}
	setup := ""
	if build.Release() == "" {
		setup = "    - uses: actions/setup-go@v5\n      with:\n        go-version: stable\n"
	}
	return []byte("name: validate\non:\n  pull_request:\n" + push + `jobs:
  fleetwright:
    runs-on: docker
    steps:
    - uses: actions/checkout@v4
      with:
        fetch-depth: 0 # the branches of tenants, too
` + setup + commands(build, "    - run: ", steps))
}

// workflow returns a GitHub workflow that uses the release that rendered it. A development build cannot be
// downloaded, so its workflow builds the same commit, or the newest version if the commit is unknown.
func workflow(build version.Build, branch string, steps []string) []byte {
	push := "  push:\n"
	if branch != "" {
		push += "    branches: [" + branch + "]\n"
	}
	install := `    - uses: ` + repository + `@` + build.Release() + `
      with:
        install-only: "true"
`
	if build.Release() == "" {
		install = `    - uses: actions/setup-go@v5
      with:
        go-version: stable
    - run: go install ` + smaller + module + "@" + build.Installable() + "\n"
	}
	var b bytes.Buffer
	b.WriteString("name: validate\non:\n  pull_request:\n" + push + `permissions:
  contents: read
jobs:
  fleetwright:
    runs-on: ubuntu-latest
    steps:
    - uses: actions/checkout@v4
      with:
        fetch-depth: 0 # the branches of tenants, too
` + install)
	for _, step := range steps {
		b.WriteString("    - run: fleetwright " + step + "\n")
	}
	return b.Bytes()
}

// entries are the commands of the hooks in .pre-commit-hooks.yaml, by hook.
var entries = map[string]string{
	"fleetwright-render-check": "render --check",
	"fleetwright-validate":     "validate",
	"fleetwright-secrets":      "secrets check --staged",
}

// preCommit returns a .pre-commit-config.yaml with Fleetwright's hooks, pinned to the release. For a
// development build, pre-commit builds the same commit, or the newest version if the commit is unknown.
func preCommit(build version.Build, hooks []string) []byte {
	var b bytes.Buffer
	b.WriteString("# https://pre-commit.com: run \"pre-commit install\" once.\nrepos:\n")
	if release := build.Release(); release != "" {
		b.WriteString("- repo: https://github.com/" + repository + "\n  rev: " + release + "\n  hooks:\n  - id: " + strings.Join(hooks, "\n  - id: ") + "\n")
		return b.Bytes()
	}
	b.WriteString("- repo: local\n  hooks:\n")
	for _, id := range hooks {
		b.WriteString("  - id: " + id + "\n    name: fleetwright " + entries[id] + "\n    entry: fleetwright " + entries[id] +
			"\n    language: golang\n    additional_dependencies: [" + module + "@" + build.Installable() + "]\n    always_run: true\n    pass_filenames: false\n")
	}
	return b.Bytes()
}
