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

// mount is where kustomize sees a repository: paths that lead out of it end beside it, where
// there is nothing.
const mount = "/repository"

// Files are those of a source, as kustomize sees them. They are read once and shared by all
// builds.
type Files struct {
	Repo *repository.Repository
	// Base is the folder that the source holds, "." for all of the repository.
	Base string
	// Wanted says of a file or folder whether what it holds is asked for; nil asks for all.
	Wanted func(at string) bool
	// Real are the paths in the validated repository of files that were copied from there.
	Real map[string]string
	// Budget is that of all builds.
	Budget *Budget

	read sync.Map // path → *content
	// lists of manifests in folders: path → *manifests; builds that were made: buildKey → *shared.
	lists  sync.Map
	builds sync.Map
	// what lists hold: files by plainKey → *plainFile, kustomizations by path → *types.Kustomization, and
	// patches by patchKey → *sharedPatch.
	plain       sync.Map
	listings    sync.Map
	patchesRead sync.Map
	// all are the files with nothing taken out, made when they are first needed.
	unpruned sync.Once
	all      *Files
}

// Origin is the path to name a file by in messages: that of the one that it was copied from.
func (f *Files) Origin(file string) string { return f.Repo.Named(cmp.Or(f.Real[file], file)) }

// Naming is Origin without the content of the files.
func (f *Files) Naming() func(file string) string {
	names := &Files{Repo: f.Repo, Real: f.Real}
	return names.Origin
}

// inside says whether a path is within what the source holds.
func (f *Files) inside(rel string) bool { return rel == f.Base || repository.Within(f.Base, rel) }

// content is a file as it is given to kustomize.
type content struct {
	once sync.Once
	data []byte
	err  error
	gaps []Gap
}

// view is what one build sees: the files, with a kustomization of its own.
type view struct {
	*Files
	ctx context.Context
	// overlay is the path of the kustomization that Flux writes, and own what it writes.
	overlay string
	own     *types.Kustomization
	// manifest is what the kustomization is generated of, nil where there is one.
	manifest *manifests
	// patches are those that the Flux Kustomization adds.
	patches []fluxkustomize.Patch

	mu    sync.Mutex
	seen  map[string]bool
	count int
	bytes int
	gaps  []Gap
	// missed says that something was looked for that isn't there.
	missed bool
	// limit is what the build goes beyond, and limited the file where it does, "" for the
	// build as a whole.
	limit   error
	limited string
}

// relative turns a path of kustomize's into one of the repository.
func relative(name string) (string, bool) {
	name = path.Clean(filepath.ToSlash(name))
	if name == mount {
		return ".", true
	}
	return strings.CutPrefix(name, mount+"/")
}

// absolute is the reverse of relative.
func absolute(name string) string { return path.Join(mount, name) }

// filesRead are the paths of the files that were read, sorted.
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
	return rel == v.overlay || v.inside(rel) && v.Repo.Visible(rel)
}

// IsDir says whether there is a folder at a path.
func (v *view) IsDir(name string) bool {
	rel, ok := relative(name)
	if !ok || !v.inside(rel) {
		return false
	}
	_, ok = v.Repo.ReadDir(rel)
	return ok
}

// Exists says whether there is a file or folder at a path.
func (v *view) Exists(name string) bool {
	rel, ok := relative(name)
	return ok && (v.isFile(rel) || v.IsDir(name))
}

// manifests are what Flux takes as the resources of a folder without a kustomization.
type manifests struct {
	once      sync.Once
	resources []string
	files     []string
	err       error
	// decoded says once why one of the files is no Kubernetes YAML.
	decoded sync.Once
	wrong   error
}
