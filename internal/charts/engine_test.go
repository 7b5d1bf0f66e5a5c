package charts

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"text/template"

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
			own, err := dependencies(r)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := r.execute(own.chart, own.values, r.Capabilities)
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

// TestFunctions: those that stand in for Helm's take what sprig's take, and Helm has them all.
func TestFunctions(t *testing.T) {
	x := &execution{rand: newRandom("")}
	known := sprig.TxtFuncMap()
	for name, own := range x.functions() {
		if slices.Contains([]string{"required", "lookup", "print", "printf", "println", resultFunction, textFunction, printedFunction, stepFunction}, name) {
			continue
		}
		theirs, is := known[name]
		if !is {
			t.Errorf("%s is no function of a template", name)
			continue
		}
		if own, theirs := reflect.TypeOf(own), reflect.TypeOf(theirs); own.NumIn() != theirs.NumIn() || own.IsVariadic() != theirs.IsVariadic() {
			t.Errorf("%s is %v, and sprig's %v", name, own, theirs)
		}
	}
}

// TestAtOnce: what stands in for sprig's functions gives the same, and refuses what Go's allocator
// could not give.
func TestAtOnce(t *testing.T) {
	run := func(functions template.FuncMap, text string) (string, error) {
		var b strings.Builder
		parsed, err := template.New("").Funcs(sprig.TxtFuncMap()).Funcs(functions).Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		err = parsed.Execute(&b, nil)
		return b.String(), err
	}
	for _, text := range []string{
		`{{ indent 2 "a\nb\n" }}`, `{{ nindent 0 "a\nb" }}`, `{{ repeat 3 "ab" }}`, `{{ repeat 0 "ab" }}`, `{{ replace "a" "bb" "aca" }}`, `{{ replace "" "-" "ab" }}`,
		`{{ join "-" (list 1 "a" nil 2.5) }}`, `{{ join "-" "a" }}`, `{{ join "-" (until 3) }}`, `{{ splitList "," "a,b" }}`, `{{ splitList "" "ab" }}`,
		`{{ split "." "a.b" }}`, `{{ splitn "." 2 "a.b.c" }}`, `{{ splitn "." -1 "a.b.c" }}`, `{{ splitn "." 0 "a" }}`, `{{ repeat -1 "a" }}`, `{{ until 3 }}{{ until -3 }}{{ until 0 }}`, `{{ wrapWith 2 "-" "ab cd efg" }}`, `{{ cat 1 nil "a" }}`, `{{ printf "%d%s" 1 "a" }}`, `{{ print 1 2 "a" }}`, `{{ println "a" }}`, `{{ indent -1 "a" }}`,
	} {
		got, err := run((&execution{}).allocating(), text)
		want, theirs := run(nil, text)
		if got != want || (err == nil) != (theirs == nil) {
			t.Errorf("%s gives %q, %v, and sprig's %q, %v", text, got, err, want, theirs)
		}
	}
	for _, text := range []string{
		`{{ repeat 9000000000000000000 "ab" }}`, `{{ until 9000000000000000000 }}`, `{{ wrapWith 1 (repeat 1000000 "x") (repeat 100 "a ") }}`, `{{ indent 9000000000000000000 "a" }}`, `{{ nindent 100000000000 "a\nb" }}`,
		`{{ $x := repeat 10000000 "x" }}{{ replace "x" $x $x }}`, `{{ $x := repeat 10000000 "x" }}{{ $l := list $x $x }}{{ range until 10 }}{{ $l = concat $l $l }}{{ end }}{{ join "" $l }}`,
		`{{ $x := repeat 40000000 "x" }}{{ printf "%s%s" $x $x }}`, `{{ $x := repeat 40000000 "x" }}{{ print $x $x }}`,
		`{{ $x := repeat 10000000 "x" }}{{ splitList "" $x }}`, `{{ $x := repeat 10000000 "x" }}{{ split "" $x }}`, `{{ $x := repeat 10000000 "x" }}{{ splitn "" 9000000000000000000 $x }}`,
	} {
		var limit *LimitError
		if _, err := run((&execution{}).allocating(), text); !errors.As(err, &limit) {
			t.Errorf("%s gives %v", text, err)
		}
	}
}
