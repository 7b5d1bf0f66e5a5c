package builds

import (
	"errors"
	"fmt"

	"sigs.k8s.io/kustomize/api/resource"
)

// Built is what kustomize makes of a Kustomization's path.
type Built struct {
	// Results are the objects, in the order of the build.
	Results []Result
	// Files that the build read, sorted.
	Files []string
	// Gaps are the parts that cannot be known offline.
	Gaps []Gap
	// Failure is why kustomize refuses to build, nil where it builds or where a gap may be why it doesn't.
	Failure *Failure
	// Unbuilt says that it fails, and that what is not given may be why.
	Unbuilt bool
}

// Result is one object of a build.
type Result struct {
	Kind, Name string
	Value      map[string]any
	// Variables says that variables are to be replaced in it.
	Variables bool
	// Text is what they are replaced in where that isn't the value as YAML, else nil.
	Text []byte
}

// newResult takes what is needed of a resource, which itself takes much more memory. Variables
// says that those in it will be replaced.
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
