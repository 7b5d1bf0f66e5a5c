package builds

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"sync"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/openapi"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/patches"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Build builds a folder as kustomize-controller does, up to the substitution of variables.
// Kustomizations with the same folder and the same build fields share one result.
func (f *Files) Build(ctx context.Context, dir string, spec *kustomizev1.KustomizationSpec) *Built {
	loaded, _ := f.builds.LoadOrStore(keyOf(dir, spec), &shared{})
	s := loaded.(*shared)
	s.once.Do(func() {
		s.built = f.buildFolder(ctx, dir, spec)
		s.built = f.recover(ctx, dir, spec, s.built)
		s.built.forget()
	})
	return s.built
}

// buildFolder builds a folder.
func (f *Files) buildFolder(ctx context.Context, dir string, spec *kustomizev1.KustomizationSpec) *Built {
	return f.buildWithout(ctx, dir, spec, nil)
}

// buildWithout builds a folder without the exclusions in out.
func (f *Files) buildWithout(ctx context.Context, dir string, spec *kustomizev1.KustomizationSpec, out *leftOut) *Built {
	v := &view{Files: f, ctx: ctx, seen: map[string]bool{}, patches: spec.Patches, out: out}
	for _, p := range spec.Patches {
		if err := patches.CountTarget(Selector(p.Target)); err != nil {
			return v.finish(&Built{}, dir, "", &LimitError{Err: err})
		}
	}
	if !v.IsDir(absolute(dir)) {
		return v.excuse(&Built{Failure: pathMissing(v, dir)}, nil)
	}
	file, k, err := v.generate(dir, spec)
	if err != nil {
		return v.finish(&Built{}, dir, file, err)
	}
	if err := countNesting(f.Repo, dir, k); err != nil {
		return v.finish(&Built{}, dir, file, err)
	}
	v.overlay, v.own = file, k
	return v.build(dir, file, k, spec.PostBuild != nil)
}

// buildKey identifies the builds of the same files that have the same result.
type buildKey struct {
	dir string
	// added is a hash of the fields that the Flux Kustomization adds, zero for none.
	added     [sha256.Size]byte
	variables bool
}

// keyOf returns the key of a build: the folder and every field of a Flux Kustomization that generate and build read.
func keyOf(dir string, spec *kustomizev1.KustomizationSpec) buildKey {
	key := buildKey{dir: dir, variables: spec.PostBuild != nil}
	if spec.TargetNamespace == "" && spec.NamePrefix == "" && spec.NameSuffix == "" && len(spec.Patches) == 0 &&
		len(spec.Components) == 0 && len(spec.Images) == 0 && len(spec.BuildMetadata) == 0 {
		return key
	}
	data, _ := json.Marshal(kustomizev1.KustomizationSpec{
		TargetNamespace: spec.TargetNamespace, NamePrefix: spec.NamePrefix, NameSuffix: spec.NameSuffix, Patches: spec.Patches,
		Components: spec.Components, IgnoreMissingComponents: spec.IgnoreMissingComponents, Images: spec.Images, BuildMetadata: spec.BuildMetadata,
	}) // the spec contains nothing that JSON cannot encode
	key.added = sha256.Sum256(data)
	return key
}

// shared is a build that several may wait for.
type shared struct {
	once  sync.Once
	built *Built
}

// build builds the kustomization k from the file of a folder.
func (v *view) build(dir, file string, k *types.Kustomization, variables bool) *Built {
	b := &Built{}
	b.Gaps, b.Remotes = v.sanitize(dir, file, k)
	b.Gaps = append(b.Gaps, omit(v.Repo, dir, file, k)...)
	if v.recovers {
		v.missing = append(v.missing, leaveOut(v, dir, file, k)...)
	}
	b.Failure = missing(v, dir, file, k)
	var err error
	if b.Failure == nil {
		b.Results, err = bounds.Do(bounds.Unit{Kind: "build", File: v.unitFile(file), Name: dir}, func() ([]Result, error) { return run(v, dir, k, variables) })
		if exceeded := (*bounds.Error)(nil); errors.As(err, &exceeded) { // the view is still in use
			b.Gaps = append(b.Gaps, Gap{Kind: Exceeded, Place: finding.Place{File: file}, Message: exceeded.Error()})
			return b
		}
	}
	return v.finish(b, dir, file, err)
}

// finish completes a build with the files that it read, its gaps and its failure.
func (v *view) finish(b *Built, dir, file string, err error) *Built {
	if limit := (*LimitError)(nil); errors.As(err, &limit) && v.limit == nil {
		v.limit = limit
	}
	if copied := (*jsonpatch.AccumulatedCopySizeError)(nil); errors.As(err, &copied) && v.limit == nil {
		v.limit = &LimitError{Err: fmt.Errorf("the copy operations of a patch add more than %d MB", limits.PatchCopies>>20)}
	}
	b.Files = v.filesRead()
	b.Gaps, b.Remotes, b.missing = append(b.Gaps, v.gaps...), append(b.Remotes, v.remotes...), v.missing
	b.refused, b.diagnosed = err != nil || b.Failure != nil, b.Failure
	switch {
	case v.limit != nil:
		b.refused = false
		b.Gaps = append(b.Gaps, Gap{Kind: cmp.Or(v.limit.kind, Limit), Place: finding.Place{File: cmp.Or(v.limited, file)}, Message: v.limit.Error()})
		b.Failure = nil
	case err != nil && b.Failure == nil && v.refused != nil:
		b.Failure = failureOf(file, v.refused)
		b.diagnosed = b.Failure
	case err != nil && b.Failure == nil:
		if b.Failure = v.diagnose(dir, err); b.Failure == nil {
			b.Failure = failureOf(file, err)
		}
		if b.Failure.out == nil {
			b.Failure.out = v.leadsTo(dir, err.Error())
		}
		b.diagnosed = b.Failure
	}
	if b.Failure != nil {
		b.Failure.Message = v.shown(b.Failure.Message)
	}
	if len(b.Gaps) > 0 {
		b.Failure = nil // what kustomize misses may be in a gap
	}
	return v.excuse(b, err)
}

// unitFile returns the file that names a build in messages: its kustomization in the repository, or "" if
// Flux generates it.
func (v *view) unitFile(file string) string {
	if at := v.Origin(file); v.Repo.Exists(file) {
		return at
	}
	return ""
}

func pathMissing(v *view, dir string) *Failure {
	message := fmt.Sprintf("folder %q does not exist", dir)
	if f, known := v.Repo.File(dir); known && f.Err != nil && f.Err.Reason == repository.Unreadable {
		message = fmt.Sprintf("folder %q %s", dir, f.Err.Message)
	} else if v.Exists(absolute(dir)) {
		message = fmt.Sprintf("%q is a file, but a path must be a folder", dir)
	} else if why := v.Repo.Absence(dir); why != "" {
		message = fmt.Sprintf("Flux does not find folder %q: %s", dir, why)
	}
	return &Failure{Reason: PathMissing, Message: message}
}

// missing returns the failure of the first resource or component of a kustomization that does not exist. kustomize's own
// error names no line.
func missing(v *view, dir, file string, k *types.Kustomization) *Failure {
	for i, ref := range k.Resources {
		if f := v.absent(dir, file, "resources", ref, i, true); f != nil {
			return f
		}
	}
	for i, ref := range k.Components {
		if f := v.absent(dir, file, "components", ref, i, false); f != nil {
			return f
		}
	}
	return nil
}

// failureOf returns the failure for an error of kustomize, with the file that the error is about.
func failureOf(file string, err error) *Failure {
	f := &Failure{Reason: BuildFailed, Place: finding.Place{File: file}, open: true}
	var known *fileError
	if errors.As(err, &known) {
		f.File, f.open, f.out = known.file, false, &exclusion{file: known.file, line: 1}
	}
	f.Message = brief(err.Error())
	return f
}

var (
	// warm guards the parsing of kustomize's own schema of Kubernetes, which all builds read.
	warm sync.Once
	// schemaLock is held for writing while a build uses a schema of its own, which kustomize
	// stores in a global variable.
	schemaLock sync.RWMutex
)

// run returns the objects of a folder whose kustomization is k. If variables is set, Flux
// substitutes variables in the objects later.
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

// kustomize calls kustomize on a folder and returns the resources.
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

// HoldSchema blocks builds that replace kustomize's schema, a global variable, until the returned
// function is called.
func HoldSchema() (release func()) {
	Warm()
	schemaLock.RLock()
	return schemaLock.RUnlock
}

// Warm parses kustomize's schema once for all builds, and limits the copies of JSON patches. Parsing takes longer than a
// small build, so commands call Warm while they load the repository.
func Warm() {
	warm.Do(func() {
		jsonpatch.AccumulatedCopySizeLimit = limits.PatchCopies
		openapi.Schema()
	})
}
