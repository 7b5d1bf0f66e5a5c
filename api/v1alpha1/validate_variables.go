package v1alpha1

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/envsubst"

	"github.com/fleetwright/fleetwright/internal/nearest"
)

const escapeHint = "write $${…} for a literal ${…}: kustomize-controller substitutes values and resources, and fails on a variable that is not set"

// variables checks that each ${VAR} in the values and resources of an add-on is
// a variable of every cluster that gets it, as kustomize-controller 1.9 demands,
// and that what a bootstrap reads raw has none.
func (c *checker) variables() {
	for _, a := range c.spec.Addons {
		if a.Spec.Bootstrap != nil {
			c.rawValues(a)
			continue
		}
		for _, u := range c.uses(a, at("spec", "values"), a.Spec.Values) {
			c.defined(a, u, func(cluster *Cluster) bool { return effective(a, -1, u, cluster) })
		}
		for i, o := range a.Spec.Overrides {
			for _, u := range c.uses(a, at("spec", "overrides").item(i).child("values"), o.Values) {
				c.defined(a, u, func(cluster *Cluster) bool {
					return o.Clusters.Matches(cluster) && effective(a, i, u, cluster)
				})
			}
		}
	}
	for _, a := range c.spec.Addons {
		for i, r := range a.Spec.Resources {
			p := at("spec", "resources").item(i).child("manifests")
			for j, object := range r.Manifests {
				if substitutionDisabled(object) {
					continue
				}
				for _, u := range c.uses(a, p.item(j), object) {
					c.defined(a, u, func(*Cluster) bool { return true })
				}
			}
			if a.Spec.Bootstrap != nil && applied(a, r.Name) {
				c.rawObjects(a, p, r)
			}
		}
	}
}

// use is a variable that a string needs set.
type use struct {
	at   *fieldPath
	keys []string // of the value from the values' root, up to the first list
	name string
}

// effective says whether the value at a use, which the override of an index (or
// the add-on's own values, -1) sets, is what a cluster gets: no later override
// sets or deletes it.
func effective(a *Addon, index int, u use, cluster *Cluster) bool {
	for _, o := range a.Spec.Overrides[index+1:] {
		if o.Clusters.Matches(cluster) && touches(o.Values, u.keys) {
			return false
		}
	}
	return true
}

// touches says whether a patch sets, replaces or deletes the value at some keys.
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

// defined reports a use on the first cluster that gets it and has no such
// variable.
func (c *checker) defined(a *Addon, u use, reaches func(*Cluster) bool) {
	for _, cluster := range c.spec.Clusters {
		if !c.on[a][cluster.Metadata.Name] || !reaches(cluster) || !c.whole(a, cluster) {
			continue
		}
		if _, set := cluster.Spec.Variables[u.name]; set {
			continue
		}
		hint := "set it in the cluster's spec.variables, or give a default: ${" + u.name + ":=…}; " + escapeHint
		if near, ok := nearest.To(u.name, slices.Sorted(maps.Keys(cluster.Spec.Variables))); ok {
			hint = c.report.suggest(near, "variable", "", []string{near})
		}
		c.fail(a, u.at, hint, "the cluster %s has no variable %s", quote(cluster.Metadata.Name), quote(u.name))
		return
	}
}

// uses returns the variables that strings in a value need set, in the order of
// the value's sorted keys. A string that kustomize-controller cannot parse is
// an error.
func (c *checker) uses(a *Addon, p *fieldPath, value any) []use {
	var out []use
	eachString(p, nil, value, func(p *fieldPath, keys []string, s string) {
		names, err := variablesIn(s)
		if err != nil {
			c.fail(a, p, escapeHint, "kustomize-controller cannot substitute variables here: %v", err)
		}
		for _, name := range names {
			out = append(out, use{at: p, keys: keys, name: name})
		}
	})
	return out
}

// variablesIn returns the variables that must be set for a string to be
// substituted: those without a default.
func variablesIn(s string) ([]string, error) {
	if !strings.Contains(s, "${") {
		return nil, nil
	}
	if len(s) > maxSubstituted {
		return nil, errors.New("the string is too long to be substituted")
	}
	var names []string
	template, err := envsubst.Parse(s)
	if err != nil {
		return nil, err
	}
	for {
		// A run stops at the first variable that is missing and needed; the
		// next one takes it as set.
		asked := ""
		_, err := template.Execute(func(name string) (string, bool) {
			asked = name
			return "", slices.Contains(names, name)
		})
		if err == nil || slices.Contains(names, asked) {
			return names, nil
		}
		names = append(names, asked)
		if len(names) > maxVariables {
			return nil, errors.New("the string has too many variables")
		}
	}
}

// Bounds of one string that is substituted.
const (
	maxSubstituted = 1 << 20
	maxVariables   = 100
)

// eachString visits the strings of a value, keys of maps included.
func eachString(p *fieldPath, keys []string, value any, visit func(*fieldPath, []string, string)) {
	switch x := value.(type) {
	case string:
		visit(p, keys, x)
	case []any:
		for i, item := range x {
			eachString(p.item(i), keys, item, visit)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(x)) {
			inner := append(slices.Clip(keys), key)
			visit(p.child(key), inner, key)
			eachString(p.child(key), inner, x[key], visit)
		}
	}
}

// rawValues reports variables in values that a bootstrap reads before anything
// substitutes them.
func (c *checker) rawValues(a *Addon) {
	report := func(p *fieldPath, _ []string, s string) {
		if strings.Contains(s, "${") {
			c.fail(a, p, "write what differs between clusters into spec.overrides", "the bootstrap reads ${…} raw: values of a bootstrapped add-on have no variables")
		}
	}
	eachString(at("spec", "values"), nil, a.Spec.Values, report)
	for i, o := range a.Spec.Overrides {
		eachString(at("spec", "overrides").item(i).child("values"), nil, o.Values, report)
	}
}

// applied says whether a hook of the bootstrap applies a resource.
func applied(a *Addon, resource string) bool {
	return slices.ContainsFunc(a.Spec.Bootstrap.Hooks, func(h BootstrapHook) bool { return h.Apply == resource })
}

func (c *checker) rawObjects(a *Addon, p *fieldPath, r ResourceFile) {
	for j, object := range r.Manifests {
		eachString(p.item(j), nil, object, func(p *fieldPath, _ []string, s string) {
			if strings.Contains(s, "${") {
				c.fail(a, p, "write the value out", "a hook of the bootstrap applies the resource %s raw, with ${…} in it", quote(r.Name))
			}
		})
	}
}

// substitutionDisabled says whether an object opts out of substitution.
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
