package sops

import (
	"fmt"
	"maps"
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
)

// holders holds the keys of clusters and tenants.
type holders struct {
	clusters map[string][]string
	// tenants are the tenants by the namespaces in which they sync.
	tenants map[string]tenantKeys
	// secret is the name of the Secret that holds a key.
	secret string
}

type tenantKeys struct {
	name string
	keys []string
}

// knownKeys returns the keys that the specification's Encryption names; nil unless there is exactly one
// Encryption.
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
	namespaces := map[string]string{}
	for _, t := range repo.ByKind(v1alpha1.Group, "Tenant") {
		if ns, ok := t.Text("spec", "syncNamespace"); ok {
			namespaces[t.Name] = ns
		}
	}
	for _, holder := range secrets.Holders(e) {
		switch keys := ids(holder); holder.Scope {
		case secrets.Cluster:
			h.clusters[holder.Name] = keys
		case secrets.Tenant:
			ns := namespaces[holder.Name]
			if ns == "" {
				ns = holder.Name + "-flux"
			}
			h.tenants[ns] = tenantKeys{holder.Name, keys}
		}
	}
	return h
}

// of returns the holder that decrypts for a Kustomization, and the keys of that holder; none if it is unknown.
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
