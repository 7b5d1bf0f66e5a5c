// Package otherfiles reads the files of a repository that are next to the manifests that Flux applies: scripts, Terraform,
// Taskfiles, bootstraps. Such a file may create the objects that it mentions.
package otherfiles

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// The maximum sizes that are read, in bytes: of one file, and of all files together.
const (
	mostFile  = 1 << 20
	mostTotal = 64 << 20
)

// Read calls visit for each file of a repository that Flux doesn't read: scripts, Terraform, Taskfiles,
// bootstraps. It includes documentation if readers is true, and reads nothing if names is empty.
func Read(repo *repository.Repository, names map[string]bool, readers bool, visit func(file, text string)) {
	if len(names) == 0 {
		return
	}
	total := 0
	for _, name := range repo.Paths() {
		if !mayCreate(repo, name) || !readers && path.Ext(name) == ".md" {
			continue
		}
		data, err := repo.ReadFile(name)
		if err != nil || len(data) > mostFile || total+len(data) > mostTotal {
			continue
		}
		total += len(data)
		if finding.IsOwn(data) {
			continue
		}
		visit(name, string(data))
	}
}

// Mentions returns, for each name, the first file that mentions it among the files that Flux
// does not read: such a file may create the named object. Documentation counts if readers is true.
func Mentions(repo *repository.Repository, names map[string]bool, readers bool) map[string]string {
	found := map[string]string{}
	Read(repo, names, readers, func(file, text string) {
		words := map[string]bool{}
		Words(text, names, words)
		for word := range words {
			if found[word] == "" {
				found[word] = file
			}
		}
	})
	return found
}

// Applied returns which of some files a script applies: a line with a command such as kubectl apply names it.
func Applied(repo *repository.Repository, files map[string]bool) map[string]bool {
	return pathsIn(repo, files, func(text string) string {
		if testClusters.MatchString(text) {
			return ""
		}
		return strings.Join(applying.FindAllString(text, -1), "\n")
	})
}

var (
	// applying matches a line that applies something, outside of a comment.
	applying = regexp.MustCompile(`(?m)^[^#\n]*\b(?:apply|create|replace)\b.*$`)
	// testClusters matches commands that create a cluster for a test.
	testClusters = regexp.MustCompile(`\b(?:kind create cluster|k3d cluster create|minikube start)\b`)
)

// Paths returns which of some files and folders are named by a file that Flux does not read: by the path, or by an end of it that
// has a folder. Documentation does not count.
func Paths(repo *repository.Repository, paths map[string]bool) map[string]bool {
	return pathsIn(repo, paths, func(text string) string { return text })
}

// pathsIn returns which of some files and folders are named in a part of each file that Flux does not read.
func pathsIn(repo *repository.Repository, paths map[string]bool, part func(text string) string) map[string]bool {
	named := Named{}
	Read(repo, paths, false, func(file, text string) { named.add(file, part(text)) })
	found := map[string]bool{}
	for path := range paths {
		if named.By(path) != "" {
			found[path] = true
		}
	}
	return found
}

// Named maps paths, as files that Flux does not read name them, to the first of these files.
type Named map[string]string

func (n Named) add(file, text string) {
	for _, word := range pathWords.FindAllString(text, -1) {
		for strings.HasPrefix(word, "../") || strings.HasPrefix(word, "./") {
			_, word, _ = strings.Cut(word, "/")
		}
		if word = strings.TrimSuffix(word, "/"); n[word] == "" {
			n[word] = file
		}
	}
}

// By returns the file that names a path, or an end of it that has a folder; "" if none does.
func (n Named) By(path string) string {
	for end, more := path, true; more && strings.Contains(end, "/"); _, end, more = strings.Cut(end, "/") {
		if n[end] != "" {
			return n[end]
		}
	}
	return ""
}

// Written returns the paths of files that scripts write.
func Written(repo *repository.Repository) Named {
	named := Named{}
	Read(repo, map[string]bool{"": true}, false, func(file, text string) {
		for _, target := range writing.FindAllStringSubmatch(text, -1) {
			named.add(file, target[1])
		}
	})
	return named
}

// writing matches what writes a file, by the shell's > or a command. The first group is the file, without a variable before it.
var writing = regexp.MustCompile(`(?:>|\btee\b(?:[ \t]+-a)?|\b(?:cp|mv)\b[^\n;&|]*[ \t])[ \t]*["']?(?:\$\{?\w+\}?/)?([^\s"';&|()]+)`)

// pathWords matches words that may be paths.
var pathWords = regexp.MustCompile(`[A-Za-z0-9_./-]*/[A-Za-z0-9_./-]*`)

// Words adds to found each of the names that is a word of a text. It also finds a name that follows a dot in a word: the
// API group at the end of the name of a CustomResourceDefinition.
func Words(text string, names, found map[string]bool) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isNameRune(r) }) {
		for word = strings.Trim(word, ".-"); word != ""; {
			if names[word] {
				found[word] = true
			}
			_, rest, more := strings.Cut(word, ".")
			if !more || len(word) > 253 {
				break
			}
			word = rest
		}
	}
}

func isNameRune(r rune) bool {
	return r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z'
}

// mayCreate reports whether a file has an extension of files that create or configure things, and contains no
// manifests that Flux could read.
func mayCreate(repo *repository.Repository, name string) bool {
	switch path.Ext(name) {
	case "", ".sh", ".bash", ".fish", ".ps1", ".py", ".go", ".js", ".ts", ".nix", ".toml", ".tf", ".tfvars", ".tofu", ".hcl", ".tftpl", ".tpl", ".tmpl", ".gotmpl",
		".j2", ".bicep", ".yaml", ".yml", ".json", ".mk", ".just", ".env", ".md":
	default:
		return false
	}
	f, ok := repo.File(name)
	if !ok || f.Excluded {
		return true
	}
	return !repository.IsKustomization(name) &&
		!slices.ContainsFunc(f.Documents, func(d *repository.Document) bool { return len(d.Objects) > 0 })
}
