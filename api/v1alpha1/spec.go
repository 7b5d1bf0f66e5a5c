package v1alpha1

import (
	"path"
	"reflect"
	"slices"
	"strings"
)

// Equal says whether two specifications are the same, wherever they were read
// from.
func (s *Spec) Equal(other *Spec) bool {
	a, b := *s, *other
	a.States, b.States = nil, nil
	return reflect.DeepEqual(a, b)
}

// Cluster returns the cluster of a name, or nil.
func (s *Spec) Cluster(name string) *Cluster {
	for _, c := range s.Clusters {
		if c.Metadata.Name == name {
			return c
		}
	}
	return nil
}

// Addon returns the add-on of a name, or nil.
func (s *Spec) Addon(name string) *Addon {
	for _, a := range s.Addons {
		if a.Metadata.Name == name {
			return a
		}
	}
	return nil
}

// Matches says whether a selector selects a cluster.
func (sel ClusterSelector) Matches(c *Cluster) bool {
	if len(sel.Names) > 0 && !slices.Contains(sel.Names, c.Metadata.Name) {
		return false
	}
	if len(sel.Environments) > 0 && !slices.Contains(sel.Environments, c.Spec.Environment) {
		return false
	}
	for key, value := range sel.MatchLabels {
		if has, ok := c.Metadata.Labels[key]; !ok || has != value {
			return false
		}
	}
	return true
}

// Selected returns the clusters that a selector selects, sorted by name.
func (s *Spec) Selected(sel ClusterSelector) []*Cluster {
	var out []*Cluster
	for _, c := range s.Clusters {
		if sel.Matches(c) {
			out = append(out, c)
		}
	}
	return out
}

// AddonsOn returns the add-ons that a cluster gets, sorted by name.
func (s *Spec) AddonsOn(c *Cluster) []*Addon {
	var out []*Addon
	for _, a := range s.Addons {
		if a.Spec.Clusters.Matches(c) {
			out = append(out, a)
		}
	}
	return out
}

// EffectiveValues returns the values of an add-on on a cluster: its own with the
// overrides for the cluster merged over them in order. Maps merge, lists
// replace, null deletes (RFC 7386, as kustomize merges a patch into values). The
// result is the caller's: it shares nothing with the specification. It is nil
// when the add-on has no values there.
func (s *Spec) EffectiveValues(a *Addon, c *Cluster) map[string]any {
	values, _ := clone(a.Spec.Values).(map[string]any)
	for _, o := range a.Spec.Overrides {
		if o.Clusters.Matches(c) {
			values = mergeValues(values, o.Values)
		}
	}
	return values
}

func clone(v any) any {
	switch x := v.(type) {
	case map[string]any:
		if x == nil {
			return x
		}
		out := make(map[string]any, len(x))
		for key, value := range x {
			out[key] = clone(value)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, value := range x {
			out[i] = clone(value)
		}
		return out
	}
	return v
}

// mergeValues merges a patch into values that it may change.
func mergeValues(values, patch map[string]any) map[string]any {
	if values == nil {
		values = make(map[string]any, len(patch))
	}
	for key, value := range patch {
		inner, isMap := value.(map[string]any)
		switch {
		case value == nil:
			delete(values, key)
		case isMap:
			target, _ := values[key].(map[string]any)
			values[key] = mergeValues(target, inner)
		default:
			values[key] = clone(value)
		}
	}
	return values
}

// TenantCluster is a cluster that a tenant is on.
type TenantCluster struct {
	// Cluster is the cluster's name.
	Cluster string
	// Path in the tenant's source that is applied there, from the source's
	// root and beginning with ./ : spec.path of the tenant's Kustomization.
	Path string
}

// TenantClusters returns the clusters that a tenant is on, whatever its state,
// sorted by name. Where environments names both a cluster and the cluster's
// environment, the cluster's entry wins; an entry that names a cluster and an
// environment alike is the cluster's and the environment's.
func (s *Spec) TenantClusters(t *Tenant) []TenantCluster {
	var out []TenantCluster
	for _, c := range s.Clusters {
		p, on := t.Spec.Environments[c.Metadata.Name]
		if !on && c.Spec.Environment != "" {
			p, on = t.Spec.Environments[c.Spec.Environment]
		}
		if on {
			out = append(out, TenantCluster{Cluster: c.Metadata.Name, Path: sourcePath(t.Spec.Source.Path, p)})
		}
	}
	return out
}

// sourcePath joins paths in a source in the form that Flux documents: ./a/b.
func sourcePath(parts ...string) string {
	p := path.Join(parts...)
	if p == "" || p == "." {
		return "./"
	}
	return "./" + p
}

// OnPlatformRepository says whether a tenant deploys from a branch of the
// platform repository.
func (s *Spec) OnPlatformRepository(t *Tenant) bool {
	return t.Spec.Source.Kind == SourceGit && sameRepository(t.Spec.Source.URL, s.Fleet.Spec.Repository.URL)
}

// sameRepository compares two URLs but for what Git hosts ignore.
func sameRepository(a, b string) bool { return RepositoryID(a) == RepositoryID(b) }

// RepositoryID returns what two URLs of one repository have in common.
func RepositoryID(url string) string {
	return strings.ToLower(strings.TrimSuffix(strings.TrimRight(url, "/"), ".git"))
}

// RecipientsOf are the age recipients of a scope.
func (s *Spec) RecipientsOf(scope, name string) []string {
	r := s.Encryption.Spec.Recipients
	switch scope {
	case string(ScopePlatform):
		return r.Platform.Age
	case string(ScopeClusters):
		return r.Clusters[name].Age
	}
	return r.Tenants[name].Age
}
