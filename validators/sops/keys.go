package sops

import (
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// holders are the keys that clusters and tenants have.
type holders struct {
	clusters map[string][]string
	// tenants by their sync namespaces.
	tenants map[string]tenantKeys
	// secret is the name of the Secret that holds a key.
	secret string
}

type tenantKeys struct {
	name string
	keys []string
}

// knownKeys are those that the specification's Encryption names; none where there is not
// exactly one.
func knownKeys(repo *repository.Repository) *holders {
	found := repo.ByKind(v1alpha1.Group, "Encryption")
	if len(found) != 1 {
		return nil
	}
	h := &holders{clusters: map[string][]string{}, tenants: map[string]tenantKeys{}, secret: v1alpha1.DefaultAgeSecret}
	e := found[0]
	if name, ok := e.Text("spec", "secretRef", "name"); ok {
		h.secret = name
	}
	eachKeys(e, "clusters", func(name string, keys []string) { h.clusters[name] = keys })
	namespaces := map[string]string{}
	for _, t := range repo.ByKind(v1alpha1.Group, "Tenant") {
		if ns, ok := t.Text("spec", "syncNamespace"); ok {
			namespaces[t.Name] = ns
		}
	}
	eachKeys(e, "tenants", func(name string, keys []string) {
		ns := namespaces[name]
		if ns == "" {
			ns = v1alpha1.DefaultSyncNamespace(name)
		}
		h.tenants[ns] = tenantKeys{name, keys}
	})
	return h
}

// eachKeys gives the age recipients of a scope by their holders.
func eachKeys(e *repository.Object, scope string, take func(name string, keys []string)) {
	n := e.Lookup("spec", "recipients", scope)
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i].Value
		list := repository.Lookup(n, name, "age")
		var keys []string
		for j := 0; list != nil && j < len(list.Content); j++ {
			if key := repository.Lookup(list, j); key != nil {
				keys = append(keys, key.Value)
			}
		}
		if len(keys) > 0 {
			take(name, keys)
		}
	}
}

// of says who decrypts for a Kustomization, and the keys of that one; none where it isn't
// known.
func (h *holders) of(k *reconcile.Kustomization) (holder string, keys []string) {
	d := k.Spec.Decryption
	if h == nil || d == nil || d.SecretRef == nil || d.SecretRef.Name != h.secret {
		return "", nil
	}
	if t, ok := h.tenants[k.Namespace]; ok {
		return fmt.Sprintf("tenant %s", t.name), t.keys
	}
	if k.Namespace != v1alpha1.FluxNamespace {
		return "", nil
	}
	for _, name := range slices.Sorted(maps.Keys(h.clusters)) {
		if k.Cluster.Is(name) {
			return fmt.Sprintf("cluster %s", name), h.clusters[name]
		}
	}
	return "", nil
}
