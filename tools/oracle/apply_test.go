package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/validation/spec"
	kjson "sigs.k8s.io/json"

	"github.com/fleetwright/fleetwright/schemas"
)

// The modules that the embedded schemas are from.
const (
	kubernetes  = "k8s.io/kubernetes@v1.36.3"
	operator    = "github.com/controlplaneio-fluxcd/flux-operator@v0.58.0"
	certManager = "github.com/cert-manager/cert-manager@v1.21.2"
)

// module is the folder of a module in the cache.
func module(t testing.TB, name string) string {
	t.Helper()
	out, err := exec.Command("go", "mod", "download", "-json", name).Output()
	var answer struct{ Dir string }
	if jsonErr := json.NewDecoder(bytes.NewReader(out)).Decode(&answer); err != nil || jsonErr != nil || answer.Dir == "" {
		t.Fatalf("%s cannot be had: %v", name, err)
	}
	return answer.Dir
}

// document is an OpenAPI v3 document of the API server's.
type document struct {
	Components struct {
		Schemas map[string]json.RawMessage `json:"schemas"`
	} `json:"components"`
}

func documents(t testing.TB) []document {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(module(t, kubernetes), "api", "openapi-spec", "v3", "*_openapi.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no OpenAPI documents: %v", err)
	}
	var all []document
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var doc document
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		all = append(all, doc)
	}
	return all
}

// applier is the API server's code that turns the object of a server-side apply
// into typed values and then into the kind's Go type.
type applier struct{ converter managedfields.TypeConverter }

func newApplier(t *testing.T) applier {
	t.Helper()
	models := map[string]*spec.Schema{}
	for _, doc := range documents(t) {
		for name, text := range doc.Components.Schemas {
			var s spec.Schema
			if err := json.Unmarshal(text, &s); err != nil {
				t.Fatal(err)
			}
			models[name] = &s
		}
	}
	converter, err := managedfields.NewTypeConverter(models, false)
	if err != nil {
		t.Fatal(err)
	}
	return applier{converter}
}

// apply returns why the object is refused.
func (a applier) apply(o map[string]any) error {
	gvk := kindOf(o)
	if _, err := a.converter.ObjectToTyped(&unstructured.Unstructured{Object: o}); err != nil {
		return fmt.Errorf("apply: %w", err)
	}
	into, err := scheme.Scheme.New(gvk)
	if err != nil {
		return err
	}
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	strict, err := kjson.UnmarshalStrict(text, into)
	if err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	if len(strict) > 0 {
		return fmt.Errorf("decode: %w", strict[0])
	}
	return nil
}

// ofType recognises the message about a value of another type.
var ofType = regexp.MustCompile(`must be .*, not (a |an |true|false|null)`)

// onlyValues says whether all problems are of a sort that decoding doesn't know:
// the API server finds them afterwards, in code that internal/apiserver calls.
func onlyValues(problems []schemas.Problem) bool {
	return !slices.ContainsFunc(problems, func(p schemas.Problem) bool {
		return p.Kind == schemas.UnknownField || p.OnlyApply || ofType.MatchString(p.Message)
	})
}

// TestApply: what a server-side apply refuses of a built-in kind is a problem,
// and the reverse.
func TestApply(t *testing.T) {
	a := newApplier(t)
	var refused, accepted, values int
	for _, seed := range rendered(t) {
		if !scheme.Scheme.Recognizes(kindOf(seed)) {
			continue
		}
		for _, o := range mutants(seed, 60) {
			err, problems := a.apply(o), judge(o)
			switch {
			case err != nil && len(problems) > 0:
				refused++
			case err == nil && len(problems) == 0:
				accepted++
			case err == nil && onlyValues(problems):
				values++
			case err == nil:
				t.Errorf("%s: applied, but %s", o["kind"], messages(problems))
			default:
				t.Errorf("%s: no problem, but %v", o["kind"], err)
			}
		}
	}
	t.Logf("%d refused by both, %d accepted by both, %d problems of values", refused, accepted, values)
	if refused < 500 || accepted < 500 {
		t.Error("too few objects were compared")
	}
}
