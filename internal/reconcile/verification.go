package reconcile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
)

// Verification is a signature that a source requires.
type Verification struct {
	// Keys are public keys in PEM, one of which must have signed; "" if Unverifiable says why the signature is not
	// checked.
	Keys         string
	Unverifiable string
}

// findVerifications sets the signatures that the charts and sources of a cluster must have, once all its objects are
// known.
func (w *walker) findVerifications() {
	for _, s := range w.cluster.Sources {
		s.Verify = w.verification(s.Object, []any{"spec", "verify"}, s.Object.Namespace, s.Object.Kind == "OCIRepository")
	}
	for _, r := range w.cluster.Releases {
		if r.Wanted == nil || r.spec == nil {
			continue
		}
		if ref := r.spec.Spec.ChartRef; ref != nil {
			namespace := ref.Namespace
			if namespace == "" {
				namespace = r.Object.Namespace
			}
			if o := w.find(Identity{fluxapi.SourceGroup, ref.Kind, namespace, ref.Name}); o != nil {
				r.Verify = w.verification(o, []any{"spec", "verify"}, namespace, r.Wanted.OCI())
			}
			continue
		}
		namespace := r.Object.Namespace
		if c := r.spec.Spec.Chart; c != nil && c.Spec.SourceRef.Namespace != "" {
			namespace = c.Spec.SourceRef.Namespace
		}
		r.Verify = w.verification(r.Object, []any{"spec", "chart", "spec", "verify"}, namespace, r.Wanted.OCI())
	}
}

// verification reads a verify field, nil if there is none. namespace is that of the Secret with the public keys.
func (w *walker) verification(o *Object, at []any, namespace string, registry bool) *Verification {
	verify, _ := o.Field(at...).(map[string]any)
	if len(verify) == 0 {
		return nil
	}
	secret, _ := verify["secretRef"].(map[string]any)
	name, _ := secret["name"].(string)
	provider, _ := verify["provider"].(string)
	switch {
	case !registry:
		return &Verification{Unverifiable: "only signatures of artifacts in registries are checked"}
	case provider != "" && provider != "cosign":
		return &Verification{Unverifiable: fmt.Sprintf("signatures of %s are not checked", provider)}
	case name == "":
		return &Verification{Unverifiable: "signatures without a key are not checked"}
	}
	found := w.find(Identity{Kind: "Secret", Namespace: namespace, Name: name})
	if found == nil {
		return &Verification{Unverifiable: fmt.Sprintf("Secret %s/%s with the public key is not in the repository", namespace, name)}
	}
	var keys []string
	entries := found.entries()
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		switch e := entries[key]; {
		case !strings.HasSuffix(key, ".pub"):
		case !e.known:
			return &Verification{Unverifiable: fmt.Sprintf("the public key in Secret %s/%s is encrypted or unknown", namespace, name)}
		default:
			keys = append(keys, strings.TrimSpace(e.text))
		}
	}
	if len(keys) == 0 {
		return &Verification{Unverifiable: fmt.Sprintf("Secret %s/%s has no key whose name ends in .pub", namespace, name)}
	}
	return &Verification{Keys: strings.Join(keys, "\n")}
}
