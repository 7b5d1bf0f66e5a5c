package builds

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/openapi"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/patches"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Build builds a folder as kustomize-controller does, up to the substitution of variables. What
// several Kustomizations make of it in the same way is built once.
func (f *Files) Build(ctx context.Context, dir string, spec *kustomizev1.KustomizationSpec) *Built {
	loaded, _ := f.builds.LoadOrStore(keyOf(dir, spec), &shared{})
	s := loaded.(*shared)
	s.once.Do(func() {
		s.built = f.buildFolder(ctx, dir, spec)
		if f.Wanted != nil && s.built.Failure != nil {
			// A patch may be about what was left out, and what fails shall fail for its own reason.
			s.built = f.whole().buildFolder(ctx, dir, spec)
		}
	})
	return s.built
}

// buildFolder builds a folder.
func (f *Files) buildFolder(ctx context.Context, dir string, spec *kustomizev1.KustomizationSpec) *Built {
	v := &view{Files: f, ctx: ctx, seen: map[string]bool{}, patches: spec.Patches}
	for _, p := range spec.Patches {
		if err := patches.CountTarget(Selector(p.Target)); err != nil {
			return v.finish(&Built{}, dir, "", &LimitError{err})
		}
	}
	if !v.IsDir(absolute(dir)) {
		return v.given(&Built{Failure: pathMissing(v, dir)}, nil)
	}
	file, k, err := v.generate(dir, spec)
	if err != nil {
		return v.finish(&Built{}, dir, file, err)
	}
	v.overlay, v.own = file, k
	return v.build(dir, file, k, spec.PostBuild != nil)
}

// buildKey tells builds of the same files apart.
type buildKey struct {
	dir string
	// added is a hash of what the Flux Kustomization adds, zero for nothing.
	added     [sha256.Size]byte
	variables bool
}

// keyOf is the key of a build: all of a Flux Kustomization that generate and build read.
func keyOf(dir string, spec *kustomizev1.KustomizationSpec) buildKey {
	key := buildKey{dir: dir, variables: spec.PostBuild != nil}
	if spec.TargetNamespace == "" && spec.NamePrefix == "" && spec.NameSuffix == "" && len(spec.Patches) == 0 &&
		len(spec.Components) == 0 && len(spec.Images) == 0 && len(spec.BuildMetadata) == 0 {
		return key
	}
	data, _ := json.Marshal(kustomizev1.KustomizationSpec{
		TargetNamespace: spec.TargetNamespace, NamePrefix: spec.NamePrefix, NameSuffix: spec.NameSuffix, Patches: spec.Patches,
		Components: spec.Components, IgnoreMissingComponents: spec.IgnoreMissingComponents, Images: spec.Images, BuildMetadata: spec.BuildMetadata,
	}) // which holds nothing that JSON can't
	key.added = sha256.Sum256(data)
	return key
}

// shared is a build that several may wait for.
type shared struct {
	once  sync.Once
	built *Built
}

// build builds the kustomization k, which stands in the file of a folder.
func (v *view) build(dir, file string, k *types.Kustomization, variables bool) *Built {
	b := &Built{Gaps: slices.Concat(sanitize(v.Repo, dir, file, k), omit(v.Repo, dir, file, k))}
	b.Failure = missing(v.Repo, v, dir, file, k)
	var err error
	if b.Failure == nil {
		err = bounds.Do(bounds.Unit{Kind: "build", File: v.unitFile(file), Name: dir}, func() (err error) {
			b.Results, err = run(v, dir, k, variables)
			return err
		})
	}
	return v.finish(b, dir, file, err)
}

// finish adds to a build what became of it.
func (v *view) finish(b *Built, dir, file string, err error) *Built {
	if limit := (*LimitError)(nil); errors.As(err, &limit) && v.limit == nil {
		v.limit = limit
	}
	if copied := (*jsonpatch.AccumulatedCopySizeError)(nil); errors.As(err, &copied) && v.limit == nil {
		v.limit = &LimitError{fmt.Errorf("the copy operations of a patch add more than %d MB", mostCopied>>20)}
	}
	b.Files = v.filesRead()
	b.Gaps = append(b.Gaps, v.gaps...)
	exceeded := (*bounds.Error)(nil)
	switch {
	case errors.As(err, &exceeded):
		b.Gaps = append(b.Gaps, Gap{Kind: Exceeded, File: file, Message: exceeded.Error()})
		b.Failure = nil
	case v.limit != nil:
		b.Gaps = append(b.Gaps, Gap{Kind: Limit, File: cmp.Or(v.limited, file), Message: v.limit.Error()})
		b.Failure = nil
	case len(b.Gaps) > 0:
		b.Failure = nil // what was left out may be what is missed
	case err != nil && b.Failure == nil:
		if b.Failure = v.diagnose(dir, err); b.Failure == nil {
			b.Failure = failureOf(file, err)
		}
	}
	return v.given(b, err)
}

// unitFile is the file that a build is told of by: its kustomization in the repository, "" where
// Flux generates it.
func (v *view) unitFile(file string) string {
	if at := v.Origin(file); v.Repo.Exists(file) {
		return at
	}
	return ""
}

func pathMissing(v *view, dir string) *Failure {
	message := fmt.Sprintf("folder %q does not exist", dir)
	if v.Exists(absolute(dir)) {
		message = fmt.Sprintf("%q is a file, but a path must be a folder", dir)
	}
	return &Failure{Reason: PathMissing, Message: message}
}

// missing finds the first resource or component of a kustomization, or of those that it is
// made of, that isn't there: kustomize's own error names no line.
func missing(repo *repository.Repository, v *view, dir, file string, k *types.Kustomization) *Failure {
	check := func(field string, refs []string, filesToo bool) *Failure {
		for i, ref := range refs {
			at, inside := repository.Join(dir, ref)
			if inside && (v.IsDir(absolute(at)) || filesToo && v.Exists(absolute(at))) || strings.Contains(ref, "\n") {
				continue
			}
			f := &Failure{Reason: BuildFailed, File: file, Message: fmt.Sprintf("%s: %q doesn't exist", field, ref)}
			if !inside {
				f.Message = fmt.Sprintf("%s: %q is outside the repository", field, ref)
			} else if !filesToo && v.Exists(absolute(at)) {
				f.Message = fmt.Sprintf("%s: %q is a file, but a component must be a folder", field, ref)
			}
			own, ok := repo.KustomizeAt(dir)
			known := ok && own.File.Path == file && own.Document != nil && own.Spec != nil
			switch {
			case field == "components" && (!known || i >= len(own.Spec.Components)):
				f.Component = ref // the Flux Kustomization's own
			case known:
				f.Line, f.Column = own.Document.Position(field, i)
			}
			return f
		}
		return nil
	}
	if f := check("resources", k.Resources, true); f != nil {
		return f
	}
	return check("components", k.Components, false)
}

// failureOf finds the file that kustomize's error is about.
func failureOf(file string, err error) *Failure {
	f := &Failure{Reason: BuildFailed, File: file}
	var known *fileError
	if errors.As(err, &known) {
		f.File = known.file
	}
	f.Message = brief(err.Error())
	return f
}

var (
	// warm is parsed once: kustomize's own schema of Kubernetes, which all builds read.
	warm sync.Once
	// schemaLock is held for writing while a build has a schema of its own, which kustomize
	// keeps in a global variable.
	schemaLock sync.RWMutex
)

// mostCopied bounds what the copy operations of a JSON patch may add up to, in bytes.
const mostCopied = 1 << 20

// run makes the objects of a folder whose kustomization is the view's, k. Variables says that
// those in the objects will be replaced.
func run(v *view, dir string, k *types.Kustomization, variables bool) (results []Result, err error) {
	Warm()
	if len(k.OpenAPI) > 0 {
		// It brings a schema of its own.
		schemaLock.Lock()
		defer schemaLock.Unlock()
		defer func() {
			openapi.ResetOpenAPI()
			openapi.Schema()
		}()
	} else {
		schemaLock.RLock()
		defer schemaLock.RUnlock()
	}
	// kustomize panics on some data.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("kustomize failed: %v", p)
		}
	}()
	results, simple, err := v.list(dir, k, variables)
	if simple || err != nil {
		return results, err
	}
	resources, err := kustomize(v, dir, k)
	if err != nil {
		return nil, err
	}
	for _, r := range resources {
		one, err := newResult(r, variables)
		if err != nil {
			return nil, err
		}
		results = append(results, one)
	}
	return results, nil
}

// kustomize runs kustomize.
func kustomize(v *view, dir string, k *types.Kustomization) ([]*resource.Resource, error) {
	if v.manifest != nil {
		if err := v.manifest.decode(v); err != nil {
			return nil, err
		}
	}
	if own := k.OpenAPI["path"]; own != "" {
		if err := v.checkSchema(dir, own); err != nil {
			return nil, err
		}
	}
	kustomizer := krusty.MakeKustomizer(&krusty.Options{
		LoadRestrictions: types.LoadRestrictionsNone,
		PluginConfig:     types.DisabledPluginConfig(),
	})
	m, err := kustomizer.Run(v, path.Join(mount, dir))
	if err != nil {
		return nil, err
	}
	return m.Resources(), nil
}

// HoldSchema keeps builds with a schema of their own from replacing kustomize's, which is a global variable,
// until the function that it returns is called.
func HoldSchema() (release func()) {
	Warm()
	schemaLock.RLock()
	return schemaLock.RUnlock
}

// Warm parses kustomize's schema once for all builds, and bounds what its patches may do. That takes longer
// than a small build: a command calls it while it loads the repository.
func Warm() {
	warm.Do(func() {
		jsonpatch.AccumulatedCopySizeLimit = mostCopied
		openapi.Schema()
	})
}
