package flux

import (
	"bytes"
	"path"
	"slices"
	"sync"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// The most that is read of what stands beside the manifests, in bytes.
const (
	mostBesideFile = 1 << 20
	mostBeside     = 64 << 20
)

// beside are the files of a repository that Flux doesn't read: scripts, Terraform, Taskfiles,
// templates. What they speak of may be made by them.
type beside struct {
	repo  *repository.Repository
	once  sync.Once
	names []string
	files [][]byte
}

// read reads the files when the first question comes.
func (b *beside) read() {
	read := map[string]bool{}
	for _, f := range b.repo.Files() {
		holds := repository.IsKustomization(f.Path) || slices.ContainsFunc(f.Documents, func(d *repository.Document) bool { return len(d.Objects) > 0 })
		if holds && !f.Excluded {
			read[f.Path] = true
		}
	}
	total := 0
	for _, name := range b.repo.Paths() {
		if read[name] || !speaks(name) {
			continue
		}
		data, err := b.repo.ReadFile(name)
		if err != nil || len(data) > mostBesideFile || total+len(data) > mostBeside {
			continue
		}
		total += len(data)
		b.names, b.files = append(b.names, name), append(b.files, data)
	}
}

// speaks says whether a file is of a kind that makes or configures things.
func speaks(name string) bool {
	switch path.Ext(name) {
	case "", ".sh", ".bash", ".fish", ".ps1", ".py", ".go", ".js", ".ts", ".nix", ".toml", ".tf", ".tfvars", ".tofu", ".hcl", ".tftpl", ".tpl", ".tmpl", ".gotmpl",
		".j2", ".yaml", ".yml", ".json", ".mk", ".just", ".env", ".md":
		return true
	}
	return false
}

// naming is the first file that speaks of a name, "" for none.
func (b *beside) naming(name string) string {
	b.once.Do(b.read)
	return b.first(func(i int) bool { return bytes.Contains(b.files[i], []byte(name)) })
}

// installing is the first file that speaks of a name and is not for people alone.
func (b *beside) installing(name string) string {
	b.once.Do(b.read)
	return b.first(func(i int) bool { return path.Ext(b.names[i]) != ".md" && bytes.Contains(b.files[i], []byte(name)) })
}

func (b *beside) first(is func(int) bool) string {
	for i := range b.files {
		if is(i) {
			return b.names[i]
		}
	}
	return ""
}
