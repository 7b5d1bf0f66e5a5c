package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/roots"
)

// artifact returns the files of an ExternalArtifact that an ArtifactGenerator among the objects creates. It returns
// neither files nor a gap as long as there is no such generator, or a source of it is not found.
func (w *walker) artifact(key roots.Source) (*builds.Files, *builds.Gap) {
	if made, ok := w.artifacts[key]; ok {
		return made, nil
	}
	for _, g := range w.generators {
		if g.object.Namespace != key.Namespace {
			continue
		}
		for _, a := range g.Artifacts {
			if a.Name == key.Name {
				return w.copyAll(key, g.object, g.artifactGenerator, a.Copy)
			}
		}
	}
	return nil, nil
}

// checkCopies records the failing copies of all generators, whether or not their artifacts are used.
func (w *walker) checkCopies() {
	for _, g := range w.generators {
		var aliases []string
		for _, s := range g.Sources {
			aliases = append(aliases, s.Alias)
		}
		for i, a := range g.Artifacts {
			for j, op := range a.Copy {
				f := CopyFailure{Generator: g.object, Path: []any{"spec", "artifacts", i, "copy", j, "from"}, Aliases: aliases}
				if w.checkCopy(&f, g, op) {
					w.cluster.CopyFailures = append(w.cluster.CopyFailures, f)
				}
			}
		}
	}
}

// checkCopy reports whether a copy fails, and sets its message.
func (w *walker) checkCopy(f *CopyFailure, g generator, op artifactCopy) bool {
	alias, pattern, found := strings.Cut(strings.TrimPrefix(op.From, "@"), "/")
	if !found || strings.Contains(op.From, "${") || g.PathPattern != "" {
		return false // a schema rule reports it, or a variable's value is unknown
	}
	if !slices.Contains(f.Aliases, alias) {
		f.Alias, f.Message = alias, fmt.Sprintf("%s copies from %q, but none of its sources has alias %q", g.object, op.From, alias)
		return true
	}
	from, _ := w.aliased(g.artifactGenerator, alias, g.object.Namespace)
	if from == nil || op.Strategy == "Extract" {
		return false
	}
	if !strings.ContainsAny(pattern, "*?[]") {
		at := path.Join(from.Base, repository.Clean(pattern))
		_, isFolder := from.Repo.ReadDir(at)
		f.Message = fmt.Sprintf("%s copies %q, which does not exist in its source", g.object, pattern)
		return !isFolder && !from.Repo.Visible(at)
	}
	if w.own.Budget.Copy(len(from.Repo.Paths())/20, 0) != nil {
		return false
	}
	matches, err := fs.Glob(from.FS(), pattern)
	f.Message = fmt.Sprintf("%s copies %q, which matches nothing in its source", g.object, pattern)
	return err == nil && len(matches) == 0
}

// creates reports whether the generator creates the artifact with a namespace and name.
func (g generator) creates(namespace, name string) bool {
	if g.object.Namespace != namespace {
		return false
	}
	for _, a := range g.Artifacts {
		if a.Name == name {
			return true
		}
	}
	return false
}

// takeGenerator adds an object that is an ArtifactGenerator to the generators.
func (w *walker) takeGenerator(o *Object) {
	if o.Group != fluxapi.ArtifactGroup || o.Kind != "ArtifactGenerator" {
		return
	}
	g := generator{object: o}
	spec, _ := o.Value["spec"].(map[string]any)
	if runtime.DefaultUnstructuredConverter.FromUnstructured(spec, &g.artifactGenerator) == nil {
		w.generators = append(w.generators, g)
	}
}

// copyAll returns the files of an artifact.
func (w *walker) copyAll(key roots.Source, o *Object, g artifactGenerator, operations []artifactCopy) (*builds.Files, *builds.Gap) {
	gap := func(why string) *builds.Gap {
		return &builds.Gap{Kind: builds.OtherSource, Message: fmt.Sprintf("%s %s/%s is created by %s: %s", key.Kind, key.Namespace, key.Name, o, why)}
	}
	if g.PathPattern != "" {
		return nil, gap("its pathPattern is not evaluated")
	}
	c := copier{content: map[string][]byte{}, real: map[string]string{}, budget: w.own.Budget}
	for _, op := range operations {
		alias, pattern, _ := strings.Cut(strings.TrimPrefix(op.From, "@"), "/")
		if len(op.Exclude) > 0 || op.Strategy != "" && op.Strategy != "Overwrite" {
			return nil, gap("its excludes, merges and extractions are not evaluated")
		}
		from, wait := w.aliased(g, alias, o.Namespace)
		if from == nil {
			if wait {
				return nil, nil
			}
			return nil, gap(fmt.Sprintf("its source %q is not available locally", alias))
		}
		if err := c.copy(from, pattern, strings.TrimPrefix(op.To, "@artifact/")); err != nil {
			if limit := (*builds.LimitError)(nil); errors.As(err, &limit) {
				return nil, &builds.Gap{Kind: builds.Limit, Message: limit.Error()}
			}
			return nil, gap(err.Error())
		}
	}
	repo, err := repository.FromFiles(maps.All(c.content), repository.Options{})
	if err != nil {
		return nil, gap(err.Error())
	}
	made := &builds.Files{Repo: repo, Base: ".", Real: c.real, Budget: w.own.Budget, Remotes: w.own.Remotes}
	w.artifacts[key] = made
	return made, nil
}

// aliased returns the files of the source with an alias of a generator; wait reports that it may be found later.
func (w *walker) aliased(g artifactGenerator, alias, namespace string) (from *builds.Files, wait bool) {
	for _, s := range g.Sources {
		if s.Alias == alias {
			found, gap := w.resolve(roots.Source{Kind: s.Kind, Namespace: cmp.Or(s.Namespace, namespace), Name: s.Name})
			return found, found == nil && gap == nil
		}
	}
	return nil, false
}

// copier copies as source-watcher does, with cp's rules.
type copier struct {
	content map[string][]byte
	real    map[string]string
	budget  *builds.Budget
}

func (c *copier) copy(from *builds.Files, pattern, to string) error {
	dest := path.Clean("/" + to)[1:]
	if !strings.ContainsAny(pattern, "*?[]") {
		source := path.Join(from.Base, repository.Clean(pattern))
		if _, dir := from.Repo.ReadDir(source); dir {
			return c.tree(from, source, path.Join(dest, path.Base(source)))
		}
		if strings.HasSuffix(to, "/") || dest == "" || c.isDir(dest) {
			dest = path.Join(dest, path.Base(source))
		}
		return c.file(from, source, dest)
	}
	if err := c.budget.Copy(len(from.Repo.Paths())/20, 0); err != nil {
		return err // it may look at all files
	}
	matches, err := fs.Glob(from.FS(), pattern)
	if err != nil || len(matches) == 0 {
		return fmt.Errorf("no files match %q", pattern)
	}
	for _, match := range matches {
		rel := match
		if prefix, all := strings.CutSuffix(pattern, "/**"); all {
			rel = strings.TrimPrefix(match, prefix+"/")
		}
		if err := c.tree(from, path.Join(from.Base, match), path.Join(dest, rel)); err != nil {
			return err
		}
	}
	return nil
}

// tree copies a file, or a folder with all that is in it.
func (c *copier) tree(from *builds.Files, source, dest string) error {
	names, dir := from.Repo.ReadDir(source)
	if !dir {
		return c.file(from, source, dest)
	}
	for _, name := range names {
		if err := c.tree(from, path.Join(source, name), path.Join(dest, name)); err != nil {
			return err
		}
	}
	return nil
}

func (c *copier) file(from *builds.Files, source, dest string) error {
	size, visible := from.Repo.Size(source)
	if !visible {
		return fmt.Errorf("%q doesn't exist", source)
	}
	if err := c.budget.Copy(1, int(size)); err != nil {
		return err
	}
	data, err := from.Repo.ReadFile(source)
	if err != nil {
		return err
	}
	c.content[dest], c.real[dest] = data, from.Origin(source)
	return nil
}

func (c *copier) isDir(dest string) bool {
	for file := range c.content {
		if strings.HasPrefix(file, dest+"/") {
			return true
		}
	}
	return false
}
