package reconcile

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
)

const kindKs = "Kustomization"

// newObject returns the object of a build result.
func newObject(k *Kustomization, r builds.Result) *Object {
	o := &Object{Kustomization: k, Value: r.Value, loose: r.Loose}
	o.identify()
	sops, encrypted := r.Value["sops"].(map[string]any)
	if o.Encrypted = encrypted && sops["mac"] != nil; o.Encrypted {
		o.Value = maps.Clone(r.Value) // other objects share it
		o.SOPS = sops
		delete(o.Value, "sops") // kustomize-controller removes it when it decrypts
	}
	return o
}

// identify reads the identity from the value.
func (o *Object) identify() {
	text := func(path ...string) string {
		value, _, _ := unstructured.NestedString(o.Value, path...)
		return value
	}
	o.APIVersion, o.Kind = text("apiVersion"), text("kind")
	o.Namespace, o.Name = text("metadata", "namespace"), text("metadata", "name")
	o.Group = ""
	if group, _, found := strings.Cut(o.APIVersion, "/"); found {
		o.Group = group
	}
}

// uniqueness returns the key by which kustomize distinguishes the objects of one build.
func (o *Object) uniqueness() string {
	return strings.Join([]string{o.APIVersion, o.Kind, cmp.Or(o.Namespace, "default"), o.Name}, " ")
}

// entry is a value of a ConfigMap or Secret.
type entry struct {
	text  string
	known bool
}

// mayHoldUnknown reports whether a string of the object may contain a variable with an unknown value.
func (o *Object) mayHoldUnknown(text string) bool {
	return len(o.Unknown) > 0 && strings.Contains(text, "${")
}

// entries returns the values of a ConfigMap or Secret as kustomize-controller reads them. A value is unknown if it is
// encrypted or contains a variable with an unknown value.
func (o *Object) entries() map[string]entry {
	var entries map[string]entry
	add := func(field string, decode func(string) (string, bool)) {
		data, _ := o.Value[field].(map[string]any)
		if entries == nil {
			entries = make(map[string]entry, len(data))
		}
		for name, value := range data {
			text := fmt.Sprint(value)
			if value == nil {
				text = ""
			}
			e := entry{text: text, known: !o.Encrypted || !strings.HasPrefix(text, "ENC[")}
			e.known = e.known && !o.mayHoldUnknown(text)
			if e.known && decode != nil {
				e.text, e.known = decode(text)
			}
			entries[name] = e
		}
	}
	if o.Kind == "ConfigMap" {
		add("data", nil)
		return entries
	}
	add("data", func(text string) (string, bool) {
		plain, err := base64.StdEncoding.DecodeString(text)
		return string(plain), err == nil
	})
	add("stringData", nil)
	return entries
}

// isKustomization reports whether an object is a Flux Kustomization.
func (o *Object) isKustomization() bool { return o.Group == fluxapi.KustomizeGroup && o.Kind == kindKs }

// applyCommonMetadata adds the labels and annotations of spec.commonMetadata to an object.
// Source: github.com/fluxcd/pkg/ssa/utils, SetCommonMetadata.
func applyCommonMetadata(o *Object, meta *kustomizev1.CommonMetadata) {
	if meta == nil {
		return
	}
	add := func(field string, values map[string]string) {
		if len(values) == 0 {
			return
		}
		// Copied, since several Kustomizations may share a build.
		m, _ := o.Value["metadata"].(map[string]any)
		if m = maps.Clone(m); m == nil {
			m = map[string]any{}
		}
		all, _ := m[field].(map[string]any)
		if all = maps.Clone(all); all == nil {
			all = map[string]any{}
		}
		o.Value = maps.Clone(o.Value)
		o.Value["metadata"], m[field] = m, all
		for name, value := range values {
			all[name] = value
		}
	}
	add("labels", meta.Labels)
	add("annotations", meta.Annotations)
}

// Datum returns the value under a key of a ConfigMap or Secret, decoded for a Secret. It is unknown if it is encrypted or
// contains a variable with an unknown value.
func (o *Object) Datum(key string) (text string, known, found bool) {
	e, found := o.entries()[key]
	return e.text, e.known, found
}
