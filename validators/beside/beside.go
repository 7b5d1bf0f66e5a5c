// Package beside reads what stands in a repository beside the manifests that Flux applies: scripts,
// Terraform, Taskfiles, bootstraps. What they speak of may be made by them.
package beside

import (
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// The most that is read of what stands beside the manifests, in bytes.
const (
	mostBesideFile = 1 << 20
	mostBeside     = 64 << 20
)

// Read gives visit the files of a repository that Flux doesn't read: scripts, Terraform, Taskfiles,
// bootstraps; readers says whether texts for people count. It reads none where no names are asked for.
func Read(repo *repository.Repository, names map[string]bool, readers bool, visit func(file, text string)) {
	if len(names) == 0 {
		return
	}
	total := 0
	for _, name := range repo.Paths() {
		if !speaks(repo, name) || !readers && path.Ext(name) == ".md" {
			continue
		}
		data, err := repo.ReadFile(name)
		if err != nil || len(data) > mostBesideFile || total+len(data) > mostBeside {
			continue
		}
		total += len(data)
		visit(name, string(data))
	}
}

// Speaking finds which of some names the files speak of that Flux doesn't read. What they speak of
// may be made by them. It returns the first file for each; readers says whether texts for people
// count.
func Speaking(repo *repository.Repository, names map[string]bool, readers bool) map[string]string {
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

// Words adds those of some names to found that are words of a text. A group also stands at the end
// of a definition's name.
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

// speaks says whether a file is of a kind that makes or configures things, and holds no
// manifests that Flux could read.
func speaks(repo *repository.Repository, name string) bool {
	switch path.Ext(name) {
	case "", ".sh", ".bash", ".fish", ".ps1", ".py", ".go", ".js", ".ts", ".nix", ".toml", ".tf", ".tfvars", ".tofu", ".hcl", ".tftpl", ".tpl", ".tmpl", ".gotmpl",
		".j2", ".yaml", ".yml", ".json", ".mk", ".just", ".env", ".md":
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
