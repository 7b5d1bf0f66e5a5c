package flux

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

// speaking finds which of some names the files speak of that Flux doesn't read: scripts,
// Terraform, Taskfiles, bootstraps. What they speak of may be made by them. It returns the
// first file for each; readers says whether texts for people count.
func speaking(repo *repository.Repository, names map[string]bool, readers bool) map[string]string {
	found := map[string]string{}
	if len(names) == 0 {
		return found
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
		for word := range strings.FieldsFuncSeq(string(data), func(r rune) bool { return !isNameRune(r) }) {
			for word = strings.Trim(word, ".-"); word != ""; {
				if names[word] && found[word] == "" {
					found[word] = name
				}
				// A group also stands at the end of a definition's name.
				_, rest, more := strings.Cut(word, ".")
				if !more || len(word) > 253 {
					break
				}
				word = rest
			}
		}
	}
	return found
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
