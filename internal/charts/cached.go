package charts

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sync"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/fleetwright/fleetwright/internal/mask"
	"github.com/fleetwright/fleetwright/internal/version"
)

// cached is the form of a rendering in the cache.
type cached struct {
	Manifests, Hooks []Manifest
	Definitions      json.RawMessage // all numbers are float64, as those of the files
}

// Inputs returns everything that a rendering depends on. It returns nil if that is unknown or must not be cached: for
// charts that were not loaded by a digest, for values that may contain one of the secrets, and for post-renderers, whose
// patches may set one under any path.
func (r Request) Inputs(secrets []string) []byte {
	program := thisProgram()
	if r.Chart.Digest == "" || program == "" || len(r.Values.secrets) > 0 || len(r.Release.Spec.PostRenderers) > 0 {
		return nil
	}
	spec := r.Release.DeepCopy()
	spec.Spec.Values, spec.Spec.ValuesFrom = nil, nil
	all := map[string]any{"program": program, "chart": r.Chart.Digest, "namespace": spec.Namespace, "name": spec.Name, "spec": spec.Spec,
		"values": r.Values.All, "kubernetes": r.Capabilities.Kubernetes, "steady": r.Steady}
	if r.Chart.AsksForKinds() {
		all["kinds"] = r.Capabilities.APIVersions
	}
	data, err := json.Marshal(all)
	if err != nil {
		return nil
	}
	var read any
	if json.Unmarshal(data, &read) != nil || !reflect.DeepEqual(mask.Value("", read), read) {
		return nil
	}
	var texts mask.Texts
	for _, s := range secrets { // also as keys, numbers and in base64
		texts.Add(s, base64.StdEncoding.EncodeToString([]byte(s)))
	}
	if texts.Without(string(data)) != string(data) {
		return nil
	}
	return data
}

// thisProgram returns an identifier of this executable: another one may render differently.
var thisProgram = sync.OnceValue(func() string {
	name, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(name)
	if err != nil {
		return ""
	}
	build := version.Current()
	return fmt.Sprintf("%s %s %s %d %d", build.Version, build.Revision, build.Go, info.Size(), info.ModTime().UnixNano())
})

// Encode returns a result in the form of the cache, nil if it is not complete or would be decoded differently.
func (r *Result) Encode() []byte {
	if len(r.Problems) > 0 || r.Undecided != "" || r.Limit != nil {
		return nil
	}
	definitions, err := json.Marshal(r.Definitions)
	if err != nil {
		return nil
	}
	data, err := json.Marshal(cached{r.Manifests, r.Hooks, definitions})
	if err != nil {
		return nil
	}
	if again, err := Decode(data); err != nil || !reflect.DeepEqual(again, r) {
		return nil
	}
	return data
}

// Decode returns a result from the form of the cache.
func Decode(data []byte) (*Result, error) {
	var k cached
	if err := utiljson.Unmarshal(data, &k); err != nil {
		return nil, err
	}
	r := &Result{Manifests: k.Manifests, Hooks: k.Hooks}
	return r, json.Unmarshal(k.Definitions, &r.Definitions)
}
