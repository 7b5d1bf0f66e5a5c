package coverage

import (
	"path"
	"regexp"
	"strings"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// inComment matches an entry of a list in a comment, which usually is an application that somebody disabled:
// "# - ./ollama/ks.yaml".
var inComment = regexp.MustCompile(`(?m)^[ \t]*#[# \t]*-[ \t]+["']?([^\s"'#]+)`)

// switches are the files and folders that kustomizations list only in comments.
type switches map[string]bool

func switchesOf(repo *repository.Repository) switches {
	all := switches{}
	for _, k := range repo.Kustomizes() {
		data, _ := repo.ReadFile(k.File.Path) // the build reports files that cannot be read
		for _, entry := range inComment.FindAllSubmatch(data, -1) {
			if at, inside := repository.Join(k.Dir, string(entry[1])); inside && at != "." {
				all[at] = true
			}
		}
	}
	return all
}

// hold reports whether a file or folder, or a folder that contains it, is one of them.
func (s switches) hold(at string) bool {
	for ; at != "."; at = path.Dir(at) {
		if s[at] {
			return true
		}
	}
	return false
}

// add adds the folder that a disabled Kustomization would apply.
func (s switches) add(o *repository.Object) {
	value, err := o.Value()
	fields, isMap := value.(map[string]any)
	if err != nil || !isMap {
		return
	}
	if spec, wrong := builds.SpecOf(fields); wrong == "" && !strings.Contains(spec.Path, "${") && repository.Clean(spec.Path) != "." {
		s[repository.Clean(spec.Path)] = true
	}
}
