package kommander_test

import (
	"fmt"
	"maps"
	"path"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/examples/platformtest"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// example is the specification of examples/kommander, changed by pairs of old and new text,
// each of which it must have.
func example(t testing.TB, changes ...string) *v1alpha1.Spec {
	t.Helper()
	return platformtest.Spec(t, "kommander", changes...)
}

// Changes of the example.
var (
	airGapped = []string{"  #airGapped:\n  #  helmMirrorURL", "  airGapped:\n    helmMirrorURL"}
	apps      = []string{"layout: fleet", "layout: apps"}
)

// version renders the example as another release.
func version(v string) []string {
	return []string{"version: 2.4.0\n  cluster", "version: " + v + "\n  cluster"}
}

type object = platformtest.Object

// rendered is a rendered platform repository, and what Flux applies of it.
type rendered struct {
	*platformtest.Rendered
	spec *v1alpha1.Spec
	// steps are the objects that each Kustomization applies, by its namespace and name.
	steps map[string][]object
}

// render renders a specification, with all of its Secrets there, and builds what Flux would
// apply.
func render(t testing.TB, spec *v1alpha1.Spec) *rendered {
	t.Helper()
	var secrets []string
	for _, f := range generators.SecretFiles(spec) {
		secrets = append(secrets, f.Path)
	}
	r := &rendered{platformtest.Render(t, "kommander", spec, secrets...), spec, map[string][]object{}}
	repo, err := repository.FromFiles(maps.All(r.content()), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fleet, err := reconcile.Reconcile(t.Context(), repo, reconcile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(fleet.Clusters) != 1 {
		t.Fatalf("%d clusters", len(fleet.Clusters))
	}
	for _, k := range fleet.Clusters[0].Kustomizations {
		elsewhere := k.Name == v1alpha1.AppsKommander && v1alpha1.ProductOf[*v1alpha1.Kommander](spec).Spec.Management.URL != spec.Fleet.Spec.Repository.URL
		if k.Failure != nil || len(k.Gaps) > 0 && !elsewhere {
			t.Errorf("%s is not built: %v %v", k, k.Failure, k.Gaps)
		}
		for _, o := range k.Objects {
			r.steps[k.String()] = append(r.steps[k.String()], object(o.Value))
		}
	}
	return r
}

// content are the files of the repository.
func (r *rendered) content() map[string][]byte {
	files := map[string][]byte{}
	for f := range r.Tree.All() {
		files[f.Path] = f.Content
		if strings.HasSuffix(f.Path, ".sops.yaml") || f.Path == v1alpha1.KommanderGitFile {
			name, _, _ := strings.Cut(path.Base(f.Path), ".")
			files[f.Path] = fmt.Appendf(nil, "apiVersion: v1\nkind: Secret\nmetadata:\n  name: %s\n  namespace: %s\n", name, path.Base(path.Dir(f.Path)))
		}
	}
	return files
}

// applied is what a step applies of a kind and name; nil for nothing.
func (r *rendered) applied(step, kind, name string) object {
	for _, o := range r.steps["flux-system/kommander-"+step] {
		if o.Text("kind") == kind && o.Name() == name {
			return o
		}
	}
	return nil
}

// must is what a step has to apply.
func (r *rendered) must(t testing.TB, step, kind, name string) object {
	t.Helper()
	o := r.applied(step, kind, name)
	if o == nil {
		t.Fatalf("step %s applies no %s %s", step, kind, name)
	}
	return o
}

// text is a file of the repository, "" where there is none.
func (r *rendered) text(path string) string {
	f, _ := r.Tree.Get(path)
	return string(f.Content)
}

func changed(before, after *rendered) []string {
	return platformtest.Changed(before.Rendered, after.Rendered)
}
