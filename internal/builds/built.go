package builds

import (
	"errors"
	"fmt"

	"sigs.k8s.io/kustomize/api/resource"
)

// Built is the result of kustomize for the path of a Kustomization.
type Built struct {
	// Results are the objects, in the order of the build.
	Results []Result
	// Files that the build read, sorted.
	Files []string
	// Gaps are the parts that cannot be known offline.
	Gaps []Gap
	// Remotes are the entries that kustomize would fetch, whether or not they were fetched.
	Remotes []Remote
	// Failure is why kustomize refuses to build, nil if it builds or if a gap may be the reason.
	Failure *Failure
	// More are further failures: missing parts were left out and the rest was built.
	More []Failure
	// Unbuilt is set if the build fails and files that are not available may be the reason.
	Unbuilt bool

	// missing are the failures of parts that do not exist and were left out.
	missing []Failure
	// refused is set if kustomize refuses to build, and diagnosed is the reason, whether or not a gap may be the cause; both
	// are empty for a limit of Fleetwright.
	refused   bool
	diagnosed *Failure
}

// Result is one object of a build.
type Result struct {
	Kind, Name string
	Value      map[string]any
	// Variables is set if Flux substitutes variables in the object.
	Variables bool
	// Loose is set if a missing or failing patch or component may change the object; only for Flux Kustomizations.
	Loose bool
	// Text is the string in which variables are substituted if it differs from the value as YAML, else nil.
	Text []byte
}

// newResult returns the needed parts of a resource, which itself takes much more memory. If variables is
// set, Flux substitutes variables in the object later.
func newResult(r *resource.Resource, variables bool) (one Result, err error) {
	one = Result{Kind: r.GetKind(), Name: r.GetName()}
	if one.Name == "" || one.Kind == "" || r.GetApiVersion() == "" {
		return one, errors.New("an object has no apiVersion, kind or name")
	}
	if one.Value, err = ValueOf(&r.RNode); err == nil && variables {
		one.Variables = mentionsVariable(one.Value)
		if !isExact(one.Value) {
			one.Text, err = r.AsYAML()
		}
	}
	if err != nil {
		return one, fmt.Errorf("%s %s: %w", one.Kind, one.Name, err)
	}
	return one, nil
}
