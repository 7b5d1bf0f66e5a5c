package flux

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/beside"
)

// How what Flux doesn't read makes namespaces.
var (
	// createsByCommand is kubectl's, and applies what makes whatever its files hold.
	createsByCommand = regexp.MustCompile(`\bcreate\s+(ns|namespaces?)\b`)
	appliesFiles     = regexp.MustCompile(`\b(?:apply|create)\s.*?(?:-f|-k|--filename|--kustomize)[ =]+(\S+)`)
	installsFlux     = regexp.MustCompile(`\bflux\s+(install|bootstrap)\b`)
	// createsByOption is Helm's, of a command or of what stands around it.
	createsByOption = regexp.MustCompile(`create[-_]?[nN]amespace\b["']?(\s*[:=]\s*["']?(true|yes|on)\b|\s*$|\s+[^:=\s])`)
	isNamespace     = regexp.MustCompile(`\bkind["']?\s*[:=]\s*["']?Namespace\b`)
	// createsByCode is that of programs and of Terraform.
	createsByCode = regexp.MustCompile(`(?i)kubernetes_namespace|create_?namespace|new_?namespace|\bv1\.namespace\b|v1namespace|kind["']?\s*[:=]\s*["']?namespace\b|create\s+(ns|namespace)\b`)
	isHelmfile    = regexp.MustCompile(`(?m)^releases:`)
	declines      = regexp.MustCompile(`(?m)^\s*createNamespace:\s*false\b`)
	namespaceOf   = regexp.MustCompile(`(?m)^\s*(?:- )?namespace:\s*["']?([a-z0-9-]+)`)
)

// variables are those of shells and templates.
const variables = "${%"

// nearNamespace is how many lines a name stands from what says that it is a namespace's.
const nearNamespace = 10

// makers are what files beside the manifests say of namespaces.
type makers struct {
	// made are the names of namespaces that are made.
	made map[string]bool
	// terraform are the words of Terraform's files, and modules says that one makes namespaces.
	terraform map[string]bool
	modules   bool
	// driven says that a script makes the namespaces that a variable or a list names, and spoken
	// are the words of what may be its list.
	driven bool
	spoken map[string]bool
}

// madeBeside are those of some namespaces that files may make which Flux doesn't read: scripts,
// bootstraps, Terraform, templates. What only speaks of one, such as "kubectl -n NAME", doesn't.
func madeBeside(repo *repository.Repository, names map[string]bool) map[string]bool {
	m := makers{made: map[string]bool{}, terraform: map[string]bool{}, spoken: map[string]bool{}}
	beside.Read(repo, names, false, func(file, text string) { m.read(file, text, names) })
	if m.modules {
		m.take(m.terraform)
	}
	if m.driven {
		m.take(m.spoken)
		for _, file := range repo.Paths() {
			for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
				if names[path.Base(dir)] {
					m.made[path.Base(dir)] = true
				}
			}
		}
	}
	return m.made
}

func (m *makers) take(words map[string]bool) {
	for word := range words {
		m.made[word] = true
	}
}

func (m *makers) read(file, text string, names map[string]bool) {
	words := map[string]bool{}
	beside.Words(text, names, words)
	switch path.Ext(file) {
	case ".tf", ".tfvars", ".tofu", ".hcl", ".tftpl":
		for word := range words {
			m.terraform[word] = true
		}
		m.modules = m.modules || createsByCode.MatchString(text)
		return
	case ".py", ".go", ".js", ".ts", ".nix", ".ps1", ".tpl", ".tmpl", ".gotmpl", ".j2":
		if !strings.HasSuffix(file, "_test.go") && createsByCode.MatchString(text) {
			m.take(words)
		}
	}
	if isHelmfile.MatchString(text) && !declines.MatchString(text) {
		for _, match := range namespaceOf.FindAllStringSubmatch(text, -1) {
			if names[match[1]] {
				m.made[match[1]] = true // helmfile makes a release's namespace by default
			}
		}
	}
	if !isPipeline(file) {
		for word := range words {
			m.spoken[word] = true
		}
	}
	m.commands(text, names, words)
}

// isPipeline says whether a file is of a service that runs jobs for the repository.
func isPipeline(file string) bool {
	first, _, _ := strings.Cut(file, "/")
	return slices.Contains([]string{".github", ".gitlab-ci.yml", ".gitea", ".forgejo", ".circleci", ".woodpecker"}, first)
}

// commands reads a file line by line, those that end in a backslash as one with the next.
func (m *makers) commands(text string, names, words map[string]bool) {
	lines := strings.Split(strings.ReplaceAll(text, "\\\n", " "), "\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		near := line
		switch {
		case createsByCommand.MatchString(line):
		case createsByOption.MatchString(line), isNamespace.MatchString(line):
			near = strings.Join(lines[max(0, i-nearNamespace):min(len(lines), i+nearNamespace+1)], "\n")
		case installsFlux.MatchString(line):
			beside.Words(line, names, m.made)
			continue
		default:
			if match := appliesFiles.FindStringSubmatch(line); match != nil {
				beside.Words(match[1], names, m.made)
			}
			continue
		}
		beside.Words(near, names, m.made)
		if strings.ContainsAny(near, variables) {
			m.driven = true
			m.take(words)
		}
	}
}
