package v1alpha1

import (
	"path"
	"reflect"
	"slices"
	"strings"
)

// Equal reports whether two specifications are equal, whatever files they come from.
func (s *Spec) Equal(other *Spec) bool {
	a, b := *s, *other
	a.States, b.States = nil, nil
	return reflect.DeepEqual(a, b)
}

// Cluster returns the cluster with a name, or nil.
func (s *Spec) Cluster(name string) *Cluster {
	for _, c := range s.Clusters {
		if c.Metadata.Name == name {
			return c
		}
	}
	return nil
}

// Addon returns the add-on with a name, or nil.
func (s *Spec) Addon(name string) *Addon {
	for _, a := range s.Addons {
		if a.Metadata.Name == name {
			return a
		}
	}
	return nil
}

// Matches reports whether a selector selects a cluster.
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

// AddonsOn returns the add-ons of a cluster, sorted by name.
func (s *Spec) AddonsOn(c *Cluster) []*Addon {
	var out []*Addon
	for _, a := range s.Addons {
		if a.Spec.Clusters.Matches(c) {
			out = append(out, a)
		}
	}
	return out
}

// EffectiveValues returns the values of an add-on on a cluster, nil for an add-on without values. It merges the overrides
// for the cluster in order over the add-on's own values: maps merge, lists replace, null deletes (RFC 7386, as kustomize
// merges a patch into values). The caller may modify the result.
func (s *Spec) EffectiveValues(a *Addon, c *Cluster) map[string]any {
	values, _ := clone(a.Spec.Values).(map[string]any)
	for _, o := range a.Spec.Overrides {
		if o.Clusters.Matches(c) {
			values = mergeValues(values, o.Values)
		}
	}
	return values
}

// EffectiveChart returns the chart of an add-on on a cluster, nil for an add-on without a chart. Its version is that of
// the last override for the cluster that has one.
func (s *Spec) EffectiveChart(a *Addon, c *Cluster) *Chart {
	chart := a.Spec.Chart
	for _, o := range a.Spec.Overrides {
		if chart != nil && o.Chart != nil && o.Clusters.Matches(c) {
			other := *chart
			other.Version = o.Chart.Version
			chart = &other
		}
	}
	return chart
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

// mergeValues merges a patch into values, which it modifies.
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

// TenantCluster is a cluster of a tenant.
type TenantCluster struct {
	// Cluster is the cluster's name.
	Cluster string
	// Path is the path in the tenant's source that is applied to the cluster, relative to the source's root:
	// spec.path of the tenant's Kustomization. It begins with ./
	Path string
}

// TenantClusters returns the clusters of a tenant, whatever its state, sorted by name. If environments
// names both a cluster and the cluster's environment, the cluster's entry is used. An entry whose name
// is both a cluster and an environment applies to both.
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

// OnPlatformRepository reports whether a tenant deploys from a branch of the platform repository.
func (s *Spec) OnPlatformRepository(t *Tenant) bool {
	return t.Spec.Source.Kind == SourceGit && sameRepository(t.Spec.Source.URL, s.Fleet.Spec.Repository.URL)
}

// sameRepository reports whether two URLs name the same repository, ignoring differences that Git hosts ignore.
func sameRepository(a, b string) bool { return RepositoryID(a) == RepositoryID(b) }

// RepositoryID returns a string that is equal for all URLs of one repository.
func RepositoryID(url string) string {
	return strings.ToLower(strings.TrimSuffix(strings.TrimRight(url, "/"), ".git"))
}

// RecipientsOf returns the age recipients of a scope.
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

// ShardLabels returns the label in an object's metadata that assigns its Flux objects to a shard, nil without such a
// label.
func (s *Spec) ShardLabels(of ObjectMeta) map[string]string {
	sharding := s.Fleet.Spec.Flux.Sharding
	if sharding == nil || of.Labels[sharding.Key] == "" {
		return nil
	}
	return map[string]string{sharding.Key: of.Labels[sharding.Key]}
}

// Spec is a complete, valid specification with its defaults applied. Its lists are sorted by name. Nothing in
// it depends on the files from which it was read.
type Spec struct {
	Fleet      *Fleet
	Clusters   []*Cluster
	Addons     []*Addon
	Tenants    []*Tenant
	Encryption *Encryption // nil without an Encryption
	Products   []Product   // at most one of each kind

	// States are the positions of the tenants' states, by tenant name. They are not part of the
	// specification itself.
	States map[string]Place
}

// Place is the position of a field in the files of a specification.
type Place struct {
	File         string
	Line, Column int
	// Object and Field name the place, such as Tenant payments and spec.state.
	Object, Field string
}
