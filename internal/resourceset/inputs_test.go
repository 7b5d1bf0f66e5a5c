package resourceset

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/testpeer"
)

const (
	setHead = "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: My.Apps, namespace: flux-system}\nspec:\n"
	object  = "  - apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: NAME, namespace: a, labels: {own: x}}\n"
)

// provider is an input provider in a file of its own.
func provider(name, of, more, values string) string {
	return "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSetInputProvider\nmetadata: {name: " + name + ", namespace: flux-system" + more + "}\nspec: {type: " + of + ", defaultValues: " + values + "}\n"
}

// named are objects whose name is a template.
func named(name string) string { return "  resources:\n" + strings.Replace(object, "NAME", name, 1) }

var inputCases = []struct{ name, set, providers, because string }{
	{"static", "  inputsFrom: [{kind: ResourceSetInputProvider, name: p}]\n" + named("'<< inputs.app >>-<< inputs.provider.name >>'"), provider("p", "Static", "", "{app: a}"), ""},
	{"own inputs first", "  inputs: [{app: z}]\n  inputsFrom: [{kind: ResourceSetInputProvider, name: p}]\n" + named("'<< inputs.app >>'"), provider("p", "Static", "", "{app: a}"), ""},
	{"selected", "  inputsFrom: [{kind: ResourceSetInputProvider, selector: {matchLabels: {env: prod}}}]\n" + named("'<< inputs.app >>'"),
		provider("b", "Static", ", labels: {env: prod}", "{app: b}") + "---\n" + provider("a", "Static", ", labels: {env: prod}", "{app: a}") + "---\n" + provider("c", "Static", ", labels: {env: dev}", "{app: c}"), ""},
	{"permuted", "  inputStrategy: {name: Permute}\n  inputs: [{app: x}, {app: w}]\n  inputsFrom: [{kind: ResourceSetInputProvider, selector: {matchExpressions: [{key: env, operator: Exists}]}}]\n" +
		named("'<< inputs.my_apps.app >>-<< inputs.b_1.region >>-<< inputs.id >>'"), provider("b-1", "Static", ", labels: {env: prod}", "{region: eu}") + "---\n" + provider("c", "Static", ", labels: {env: prod}", "{region: us}"), ""},
	{"permuted alone", "  inputStrategy: {name: Permute}\n  inputs: [{app: x}, {app: w}]\n" + named("'<< inputs.my_apps.app >>-<< inputs.id >>'"), "", ""},
	{"common metadata", "  commonMetadata: {labels: {own: w, of: all}, annotations: {a: b}}\n  inputs: [{app: x}]\n" + named("'<< inputs.app >>'"), "", ""},
	{"dependencies", "  dependsOn: [{apiVersion: v1, kind: ConfigMap, name: x, namespace: y, ready: true}]\n  inputs: [{app: x}]\n" + named("'<< inputs.app >>'"), "", ""},
	{"a template", "  inputStrategy: {name: Permute}\n  inputs: [{app: x}]\n  inputsFrom: [{kind: ResourceSetInputProvider, name: p}]\n  resourcesTemplate: |\n    <<- range $n := inputs.p.names >>\n    ---\n    apiVersion: v1\n    kind: ConfigMap\n    metadata:\n      name: << inputs.my_apps.app >>-<< $n >>\n      namespace: a\n    <<- end >>\n",
		provider("p", "Static", "", "{names: [one, two]}"), ""},
	{"of another type", "  inputsFrom: [{kind: ResourceSetInputProvider, name: p}]\n" + named("'<< inputs.app >>'"), provider("p", "GitHubBranch", "", "{app: a}"), "of type GitHubBranch, which only the cluster can query"},
	{"missing", "  inputsFrom: [{kind: ResourceSetInputProvider, name: q}]\n" + named("'<< inputs.app >>'"), provider("p", "Static", "", "{app: a}"), "flux-system/q is not among the cluster's objects"},
	{"its id", "  inputsFrom: [{kind: ResourceSetInputProvider, name: p}]\n" + named("'<< inputs.id >>'"), provider("p", "Static", "", "{app: a}"), "depends on a part that is not evaluated"},
	{"a strategy that does not exist", "  inputStrategy: {name: Zip}\n" + named("a"), "", `the input strategy "Zip" does not exist`},
	{"too many inputs", "  inputStrategy: {name: Permute}\n  inputs: [" + strings.Repeat("{a: b}, ", 1001) + "]\n" + named("a"), "", "it has more than 1000 inputs"},
}

// TestInputs compares the objects of ResourceSets with those of the Flux Operator's command, and holds what is not known.
func TestInputs(t *testing.T) {
	for _, c := range inputCases {
		t.Run(c.name, func(t *testing.T) {
			content := setHead + c.set
			var providers []Provider
			for _, v := range valuesIn(t, c.providers) {
				providers = append(providers, NewProvider(located.TextAt(v, "metadata", "namespace").Value, located.TextAt(v, "metadata", "name").Value, v))
			}
			got := NewEvaluator(t.Context()).Evaluate(ResourceSet{Namespace: "flux-system", Name: "My.Apps", Whole: valuesIn(t, content)[0],
				Unknown: func(string) *located.Unknown { return nil }, Providers: providers})
			if c.because != "" || got.Because != "" {
				if c.because == "" || !strings.Contains(got.Because, c.because) || len(got.Objects) > 0 {
					t.Errorf("because %q, want %q; %d objects", got.Because, c.because, len(got.Objects))
				}
				return
			}
			if len(got.Objects) == 0 {
				t.Fatal("it creates nothing")
			}
			var all []any
			for _, o := range got.Objects {
				all = append(all, viaJSON(t, o.Plain()))
			}
			if want := built(t, content, c.providers); !reflect.DeepEqual(all, want) {
				t.Errorf("got  %v\nwant %v", all, want)
			}
		})
	}
}

func valuesIn(t *testing.T, text string) []*located.Value {
	t.Helper()
	nodes, err := located.Parse("set.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	var all []*located.Value
	for _, n := range nodes {
		v, err := located.ValueOf("set.yaml", n, located.AsKustomize)
		if err != nil {
			t.Fatal(err)
		}
		if v.IsMap {
			all = append(all, v)
		}
	}
	return all
}

// built are the objects that the command builds.
func built(t *testing.T, set, providers string) []any {
	t.Helper()
	dir := t.TempDir()
	arguments := []string{"build", "rset", "-f", filepath.Join(dir, "set.yaml")}
	if err := os.WriteFile(filepath.Join(dir, "set.yaml"), []byte(set), 0o600); err != nil {
		t.Fatal(err)
	}
	if providers != "" {
		if err := os.WriteFile(filepath.Join(dir, "providers.yaml"), []byte(providers), 0o600); err != nil {
			t.Fatal(err)
		}
		arguments = append(arguments, "--inputs-from-provider", filepath.Join(dir, "providers.yaml"))
	}
	out := testpeer.Command{Tool: "flux-operator", Args: arguments, Reads: []string{dir}}.Output(t)
	var all []any
	for _, document := range strings.Split(out, "---\n") {
		var one any
		if err := yaml.Unmarshal([]byte(document), &one); err != nil {
			t.Fatal(err)
		}
		if one != nil {
			all = append(all, one)
		}
	}
	return all
}
