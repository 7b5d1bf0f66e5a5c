package builds

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	fluxkustomize "github.com/fluxcd/pkg/apis/kustomize"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// mount is the path at which kustomize sees a repository. A path that leads out of the repository ends outside of mount,
// where nothing exists.
const mount = "/repository"

// Files are the files of a source, as kustomize sees them. Each file is read once; all
// builds share its content.
type Files struct {
	Repo *repository.Repository
	// Base is the folder in the repository that is the root of the source, "." for the whole repository.
	Base string
	// Real maps the paths of copied files to their paths in the validated repository.
	Real map[string]string
	// Budget is the budget of all builds.
	Budget *Budget
	// Remotes are the fetched files for remote entries of kustomizations; nil if none were fetched.
	Remotes *Remotes
	// Brought maps folders of the artifact that come from elsewhere, such as submodules, to where they come from.
	Brought map[string]string
	// Contained is set if a kustomization must not refer to paths outside of the files, as kustomize requires of a clone.
	Contained bool

	read sync.Map // path → *content
	// lists maps folders to their manifests (path → *manifests); builds holds finished builds (buildKey → *shared).
	lists  sync.Map
	builds sync.Map
	// caches of the listers: files by plainKey → *plainFile, kustomizations by path → *types.Kustomization, and
	// patches by patchKey → *sharedPatch.
	plain       sync.Map
	listings    sync.Map
	patchesRead sync.Map
	// left is what lenient returns; recovers is set in it.
	recovered sync.Once
	left      *Files
	recovers  bool
}

// Origin returns the path of a file for messages: if the file was copied, the path that it was copied from.
func (f *Files) Origin(file string) string {
	if other, at := f.at(file); other != f {
		return other.Origin(at)
	}
	return f.Repo.Named(cmp.Or(f.Real[file], file))
}

// Naming returns Origin as a function that does not keep the content of the files in memory.
func (f *Files) Naming() func(file string) string {
	names := &Files{Repo: f.Repo, Real: f.Real, Remotes: f.Remotes}
	return names.Origin
}

// BroughtFrom returns where a file or folder of the artifact comes from if it is not in the repository; "" if it is, or
// if nothing brings it.
func (f *Files) BroughtFrom(at string) string {
	if _, isDir := f.Repo.ReadDir(at); isDir || f.Repo.Visible(at) {
		return ""
	}
	for dir := at; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if from := f.Brought[dir]; from != "" {
			return from
		}
	}
	return ""
}

// inside reports whether a path is within the source.
func (f *Files) inside(rel string) bool { return rel == f.Base || repository.Within(f.Base, rel) }

// content is the content of a file as kustomize sees it.
type content struct {
	once sync.Once
	data []byte
	err  error
	gaps []Gap
	// remotes are the entries of a kustomization that kustomize would fetch.
	remotes []Remote
	// missing are the failures of the entries that were removed from a kustomization because they do not exist.
	missing []Failure
	// vars are the names of a kustomization's vars.
	vars []string
}

// view is the file system of one build: the files, and the kustomization that Flux writes.
type view struct {
	*Files
	ctx context.Context
	// overlay is the path of the kustomization that Flux writes, and own its content.
	overlay string
	own     *types.Kustomization
	// manifest lists the resources of a generated kustomization, nil if the folder has its own.
	manifest *manifests
	// patches are the patches of the Flux Kustomization.
	patches []fluxkustomize.Patch
	// out are the excluded parts, nil if there are none.
	out *leftOut

	mu                    sync.Mutex
	seen                  map[string]bool
	count, kustomizations int
	bytes                 int
	vars                  inserted
	gaps                  []Gap
	// remotes are the entries that kustomize would fetch.
	remotes []Remote
	// missing are the failures of the entries that were removed from the kustomizations because they do not exist.
	missing []Failure
	// missed is set if kustomize looked for something that does not exist.
	missed bool
	// refused is why a kustomization is refused: kustomize itself only reports that it finds none.
	refused error
	// limit is the limit that the build exceeds, and limited the file that exceeds it, "" for the
	// build as a whole.
	limit   *LimitError
	limited string
}

// relative converts a path of kustomize's to a path in the repository.
func relative(name string) (string, bool) {
	name = path.Clean(filepath.ToSlash(name))
	if name == mount {
		return ".", true
	}
	return strings.CutPrefix(name, mount+"/")
}

// absolute is the reverse of relative.
func absolute(name string) string { return path.Join(mount, name) }

// filesRead returns the paths of the files that were read, sorted.
func (v *view) filesRead() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	read := make([]string, 0, len(v.seen))
	for file := range v.seen {
		read = append(read, file)
	}
	slices.Sort(read)
	return read
}

func (v *view) isFile(rel string) bool {
	f, at := v.at(rel)
	return rel == v.overlay || f.inside(at) && f.Repo.Visible(at)
}

// names lists the files and folders in a folder.
func (v *view) names(rel string) (names []string, ok bool) {
	f, at := v.at(rel)
	if !f.inside(at) {
		return nil, false
	}
	return f.Repo.ReadDir(at)
}

// IsDir reports whether there is a folder at a path.
func (v *view) IsDir(name string) bool {
	rel, ok := relative(name)
	if ok {
		_, ok = v.names(rel)
	}
	return ok
}

// Exists reports whether there is a file or folder at a path.
func (v *view) Exists(name string) bool {
	rel, ok := relative(name)
	return ok && (v.isFile(rel) || v.IsDir(name))
}

// manifests are the resources that Flux lists for a folder without a kustomization.
type manifests struct {
	once      sync.Once
	resources []string
	files     []string
	err       error
	// decoded guards the check that all files are Kubernetes YAML.
	decoded sync.Once
	wrong   error
}
