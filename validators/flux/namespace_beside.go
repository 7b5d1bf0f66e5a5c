package flux

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/otherfiles"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// These patterns match how files that Flux does not read create namespaces.
var (
	// createsByCommand matches a kubectl command that creates a namespace. appliesFiles matches one that
	// applies files.
	createsByCommand = regexp.MustCompile(`\bcreate\s+(ns|namespaces?)\b`)
	appliesFiles     = regexp.MustCompile(`\b(?:apply|create)\s.*?(?:-f|-k|--filename|--kustomize)[ =]+(\S+)`)
	azureInstalls    = regexp.MustCompile(`\baz\s+k8s-configuration\s+(?:flux\s+)?create\b.*?--namespace[ =]+["']?([a-z0-9-]+)`)
	installsFlux     = regexp.MustCompile(`\bflux\s+(install|bootstrap)\b`)
	// createsByOption matches Helm's option to create a namespace, in a command or in a configuration.
	createsByOption = regexp.MustCompile(`create[-_]?[nN]amespace\b["']?(\s*[:=]\s*["']?(true|yes|on)\b|\s*$|\s+[^:=\s])`)
	isNamespace     = regexp.MustCompile(`\bkind["']?\s*[:=]\s*["']?Namespace\b`)
	// createsByCode matches code of programs and of Terraform that creates a namespace.
	createsByCode = regexp.MustCompile(`(?i)kubernetes_namespace|create_?namespace|new_?namespace|\bv1\.namespace\b|v1namespace|kind["']?\s*[:=]\s*["']?namespace\b|create\s+(ns|namespace)\b`)
	isHelmfile    = regexp.MustCompile(`(?m)^releases:`)
	declines      = regexp.MustCompile(`(?m)^\s*createNamespace:\s*false\b`)
	// listsFolders matches how a script lists folders.
	listsFolders = regexp.MustCompile(`\b(ls|find|fd|tree|glob\w*|walk|iterdir|listdir|scandir)\b|/\*`)
	namespaceOf  = regexp.MustCompile(`(?m)^\s*(?:- )?namespace:\s*["']?([a-z0-9-]+)`)
)

// variables are the characters that begin a variable in shells and templates.
const variables = "${%"

// nearNamespace is the maximum number of lines between a name and the text that shows it to be a namespace.
const nearNamespace = 10

// makers collects the namespaces that the files beside the manifests create or may create.
type makers struct {
	// created are the names of the namespaces that some file creates.
	created map[string]bool
	// terraform are the candidate names in Terraform files. modules reports whether one of the files creates
	// namespaces.
	terraform map[string]bool
	modules   bool
	// driven reports whether a script creates the namespaces that a variable or a list names. listing reports whether
	// that list may be a list of folders. spoken are the candidate names in files that may hold that list.
	driven, listing bool
	spoken          map[string]bool
}

// createdBeside returns which of the namespaces may be created by files that Flux does not read: scripts, bootstraps,
// Terraform, templates. A file that only mentions a namespace, such as "kubectl -n NAME", does not count. listed are the
// namespaces with the name of a folder, if a script that lists folders creates namespaces.
func createdBeside(repo *repository.Repository, names map[string]bool) (created, listed map[string]bool) {
	listed = map[string]bool{}
	m := makers{created: map[string]bool{}, terraform: map[string]bool{}, spoken: map[string]bool{}}
	otherfiles.Read(repo, names, true, func(file, text string) {
		for _, match := range azureInstalls.FindAllStringSubmatch(strings.ReplaceAll(text, "\\\n", " "), -1) {
			m.created[match[1]] = m.created[match[1]] || names[match[1]] // also in documentation, because no file in Git contains the created extension
		}
		if path.Ext(file) != ".md" {
			m.read(file, text, names)
		}
	})
	if m.modules {
		m.take(m.terraform)
	}
	if m.driven {
		m.take(m.spoken)
	}
	if m.listing {
		for _, file := range repo.Paths() {
			for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
				if name := path.Base(dir); names[name] && !m.created[name] {
					listed[name] = true
				}
			}
		}
	}
	return m.created, listed
}

func (m *makers) take(words map[string]bool) {
	for word := range words {
		m.created[word] = true
	}
}

func (m *makers) read(file, text string, names map[string]bool) {
	words := map[string]bool{}
	otherfiles.Words(text, names, words)
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
				m.created[match[1]] = true // helmfile creates a release's namespace by default
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

// isPipeline reports whether a file configures a CI service.
func isPipeline(file string) bool {
	first, _, _ := strings.Cut(file, "/")
	return slices.Contains([]string{".github", ".gitlab-ci.yml", ".gitea", ".forgejo", ".circleci", ".woodpecker"}, first)
}

// commands reads the commands of a file line by line. A line that ends in a backslash continues on the next
// one.
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
			otherfiles.Words(line, names, m.created)
			continue
		default:
			if match := appliesFiles.FindStringSubmatch(line); match != nil {
				otherfiles.Words(match[1], names, m.created)
			}
			continue
		}
		otherfiles.Words(near, names, m.created)
		if strings.ContainsAny(near, variables) {
			m.driven, m.listing = true, m.listing || listsFolders.MatchString(text)
			m.take(words)
		}
	}
}
