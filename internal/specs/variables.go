package specs

import (
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/strict"
	"github.com/fleetwright/fleetwright/internal/substitution"
)

const escapeHint = "write $${…} for a literal ${…}: kustomize-controller substitutes variables in values and resources, and fails if one is not set"

// variables checks that each ${VAR} in the values and resources of an add-on is a variable of every cluster that gets it,
// as kustomize-controller 1.9 requires. It also checks that values contain none if a bootstrap reads them without
// substitution.
func (c *specChecker) variables() {
	for _, a := range c.Spec.Addons {
		if a.Spec.Bootstrap != nil {
			c.rawValues(a)
			continue
		}
		for _, u := range c.uses(a, strict.At("spec", "values"), a.Spec.Values) {
			c.defined(a, u, func(cluster *v1alpha1.Cluster) bool { return effective(a, -1, u, cluster) })
		}
		for i, o := range a.Spec.Overrides {
			for _, u := range c.uses(a, strict.At("spec", "overrides").Item(i).Child("values"), o.Values) {
				c.defined(a, u, func(cluster *v1alpha1.Cluster) bool {
					return o.Clusters.Matches(cluster) && effective(a, i, u, cluster)
				})
			}
		}
	}
	for _, a := range c.Spec.Addons {
		for i, r := range a.Spec.Resources {
			p := strict.At("spec", "resources").Item(i).Child("manifests")
			for j, object := range r.Manifests {
				if substitutionDisabled(object) {
					continue
				}
				for _, u := range c.uses(a, p.Item(j), object) {
					c.defined(a, u, func(*v1alpha1.Cluster) bool { return true })
				}
			}
			if a.Spec.Bootstrap != nil && applied(a, r.Name) {
				c.rawObjects(a, p, r)
			}
		}
	}
}

// use is a variable in a string, which must be defined.
type use struct {
	at   *strict.Path
	keys []string // path of the value from the root of the values, up to the first list
	name string
}

// effective reports whether a cluster gets the value with a use of a variable. The value is in the override at an index, or,
// for index -1, in the add-on's own values. The cluster gets it unless a later override for the cluster replaces or deletes it.
func effective(a *v1alpha1.Addon, index int, u use, cluster *v1alpha1.Cluster) bool {
	for _, o := range a.Spec.Overrides[index+1:] {
		if o.Clusters.Matches(cluster) && touches(o.Values, u.keys) {
			return false
		}
	}
	return true
}

// touches reports whether a patch sets, replaces or deletes the value at a path of keys.
func touches(patch map[string]any, keys []string) bool {
	var v any = patch
	for _, key := range keys {
		inner, isMap := v.(map[string]any)
		if !isMap {
			return true
		}
		next, has := inner[key]
		if !has {
			return false
		}
		v = next
	}
	return true
}

// defined reports a use at the first cluster that gets it without having the variable.
func (c *specChecker) defined(a *v1alpha1.Addon, u use, reaches func(*v1alpha1.Cluster) bool) {
	for _, cluster := range c.Spec.Clusters {
		if !c.on[a][cluster.Metadata.Name] || !reaches(cluster) || !c.Whole(a, cluster) {
			continue
		}
		if _, set := cluster.Spec.Variables[u.name]; set {
			continue
		}
		hint := "set it in the cluster's spec.variables, or set a default: ${" + u.name + ":=…}; " + escapeHint
		if near, ok := nearest.To(u.name, slices.Sorted(maps.Keys(cluster.Spec.Variables))); ok {
			hint = c.Report.Suggest(near, "variable", "", []string{near})
		}
		c.Fail(a, u.at, hint, "cluster %s has no variable %s", strict.Quote(cluster.Metadata.Name), strict.Quote(u.name))
		return
	}
}

// uses returns the variables that strings in a value need, in the order of the value's sorted keys.
// It reports strings that kustomize-controller cannot parse.
func (c *specChecker) uses(a *v1alpha1.Addon, p *strict.Path, value any) []use {
	var out []use
	eachString(p, nil, value, func(p *strict.Path, keys []string, s string) {
		names, err := substitution.Needed(s)
		if err != nil {
			c.Fail(a, p, escapeHint, "kustomize-controller cannot substitute variables here: %v", err)
		}
		for _, name := range names {
			out = append(out, use{at: p, keys: keys, name: name})
		}
	})
	return out
}

// eachString visits the strings of a value, including the keys of maps.
func eachString(p *strict.Path, keys []string, value any, visit func(*strict.Path, []string, string)) {
	switch x := value.(type) {
	case string:
		visit(p, keys, x)
	case []any:
		for i, item := range x {
			eachString(p.Item(i), keys, item, visit)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(x)) {
			inner := append(slices.Clip(keys), key)
			visit(p.Child(key), inner, key)
			eachString(p.Child(key), inner, x[key], visit)
		}
	}
}

// rawValues reports variables in values that a bootstrap reads before any substitution.
func (c *specChecker) rawValues(a *v1alpha1.Addon) {
	report := func(p *strict.Path, _ []string, s string) {
		if strings.Contains(s, "${") {
			c.Fail(a, p, "move values that differ between clusters to spec.overrides", "the bootstrap does not substitute ${…}: values of a bootstrapped add-on cannot contain variables")
		}
	}
	eachString(strict.At("spec", "values"), nil, a.Spec.Values, report)
	for i, o := range a.Spec.Overrides {
		eachString(strict.At("spec", "overrides").Item(i).Child("values"), nil, o.Values, report)
	}
}

// applied reports whether a hook of the bootstrap applies a resource.
func applied(a *v1alpha1.Addon, resource string) bool {
	return slices.ContainsFunc(a.Spec.Bootstrap.Hooks, func(h v1alpha1.BootstrapHook) bool { return h.Apply == resource })
}

func (c *specChecker) rawObjects(a *v1alpha1.Addon, p *strict.Path, r v1alpha1.ResourceFile) {
	for j, object := range r.Manifests {
		eachString(p.Item(j), nil, object, func(p *strict.Path, _ []string, s string) {
			if strings.Contains(s, "${") {
				c.Fail(a, p, "write the value itself", "a hook of the bootstrap applies resource %s without substitution, but it contains ${…}", strict.Quote(r.Name))
			}
		})
	}
}

// substitutionDisabled reports whether an object opts out of substitution.
func substitutionDisabled(object map[string]any) bool {
	metadata, _ := object["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations"} {
		marks, _ := metadata[field].(map[string]any)
		if marks["kustomize.toolkit.fluxcd.io/substitute"] == "disabled" {
			return true
		}
	}
	return false
}
