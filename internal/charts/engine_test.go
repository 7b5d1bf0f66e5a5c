package charts

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Masterminds/sprig/v3"
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/rogpeppe/go-internal/txtar"
	"helm.sh/helm/v4/pkg/chart/common"
	commonutil "helm.sh/helm/v4/pkg/chart/common/util"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"
)

// load loads the chart of an archive, below the folder chart, without what its .helmignore
// names.
func load(t *testing.T, archive *txtar.Archive) *Chart {
	t.Helper()
	dir := t.TempDir()
	for _, f := range archive.Files {
		if rel, ok := strings.CutPrefix(f.Name, "chart/"); ok {
			write(t, filepath.Join(dir, "chart", rel), f.Data)
		}
	}
	l, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	l.once.Do(l.index)
	for name := range l.books {
		c, err := l.Find(name, "")
		if err != nil || c == nil {
			t.Fatalf("%s: %v, %v", name, c, err)
		}
		return c
	}
	t.Fatal("there is no chart")
	return nil
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// request renders a chart as the release ns/rel.
func request(c *Chart, values map[string]any) Request {
	r := &helmv2.HelmRelease{}
	r.Name, r.Namespace = "rel", "ns"
	if values == nil {
		values = map[string]any{}
	}
	return Request{
		Release: r, Chart: c, Values: &Values{All: values}, Capabilities: Capabilities{DefaultKubernetes, []string{"v1", "apps/v1"}},
		Decode: func(n *kyaml.RNode) (map[string]any, error) { return n.Map() },
	}
}

func valuesIn(t *testing.T, archive *txtar.Archive) map[string]any {
	t.Helper()
	values := map[string]any{}
	for _, f := range archive.Files {
		if f.Name == "values.yaml" {
			if err := yaml.Unmarshal(f.Data, &values); err != nil {
				t.Fatal(err)
			}
		}
	}
	return values
}

// TestEqualToHelm: the templates give what Helm's own engine gives, byte for byte.
func TestEqualToHelm(t *testing.T) {
	files, err := filepath.Glob("testdata/equal/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			r := request(load(t, archive), valuesIn(t, archive))
			own, composed, err := dependencies(r)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := r.execute(context.Background(), own, composed, r.Capabilities)
			if err != nil {
				t.Fatal(err)
			}
			want := helmRenders(t, r)
			for name := range want {
				if got[name] != want[name] {
					t.Errorf("%s gives\n%s\nHelm gives\n%s", name, got[name], want[name])
				}
			}
			if len(got) != len(want) || len(got) == 0 {
				t.Errorf("%d templates, Helm has %d", len(got), len(want))
			}
		})
	}
}

// helmRenders is what Helm's library makes of a chart, from its dependencies on.
func helmRenders(t *testing.T, r Request) map[string]string {
	t.Helper()
	c := copied(r.Chart.chart)
	if err := chartutil.ProcessDependencies(c, r.Values.All); err != nil {
		t.Fatal(err)
	}
	caps, err := r.Capabilities.forHelm()
	if err != nil {
		t.Fatal(err)
	}
	o := common.ReleaseOptions{Name: "rel", Namespace: "ns", Revision: 1, IsInstall: true}
	values, err := commonutil.ToRenderValues(c, r.Values.All, o, caps)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := engine.Engine{}.Render(c, values)
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// TestFunctions: the functions are those of sprig and of Helm, without those that look at the
// environment, and the lists that say how they cost name no other.
func TestFunctions(t *testing.T) {
	x := &execution{budget: newBudget(context.Background()), rand: newRandom(""), regexes: map[string]int64{}}
	own, known := x.functions(), sprig.TxtFuncMap()
	for name := range known {
		if environment := name == "env" || name == "expandenv"; environment != (own[name] == nil) {
			t.Errorf("%s is there: %t", name, environment)
		}
	}
	helms := helmFunctions()
	for _, name := range append(ownFunctions, "print", "printf", "println", "html", "js", "urlquery", "required", "lookup") {
		helms[name] = nil
	}
	check := func(name string) {
		_, isHelms := helms[name]
		if known[name] == nil && !isHelms {
			t.Errorf("%s is no function of a template", name)
		}
	}
	for name := range own {
		check(name)
	}
	for _, name := range shallowFunctions {
		check(name)
	}
	for name := range x.growing() {
		check(name)
	}
	for name := range passing {
		check(name)
	}
	for name := range decoding {
		check(name)
	}
}
