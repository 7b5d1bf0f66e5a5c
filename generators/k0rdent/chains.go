package k0rdent

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
)

// chain computes the templates of a chain from its upgrade paths: every template on a path, each with the templates that
// follow it on any path.
func chain(c v1alpha1.K0rdentChain) chainSpec {
	next := map[string]map[string]bool{}
	for _, p := range c.Paths {
		for i, version := range p.Versions {
			name := v1alpha1.K0rdentObjectName(p.Template, version)
			if next[name] == nil {
				next[name] = map[string]bool{}
			}
			if i > 0 {
				next[v1alpha1.K0rdentObjectName(p.Template, p.Versions[i-1])][name] = true
			}
		}
	}
	var spec chainSpec
	for _, name := range slices.Sorted(maps.Keys(next)) {
		t := supportedTemplate{Name: name}
		for _, to := range slices.Sorted(maps.Keys(next[name])) {
			t.AvailableUpgrades = append(t.AvailableUpgrades, upgrade{Name: to})
		}
		spec.SupportedTemplates = append(spec.SupportedTemplates, t)
	}
	return spec
}

// chainName returns the name of a chain's object: the chain's name in the specification, its newest version, and the
// beginning of a checksum of its content. Chains are immutable, so that a changed chain needs another name.
func chainName(c v1alpha1.K0rdentChain) string {
	var text strings.Builder
	for _, t := range chain(c).SupportedTemplates {
		text.WriteString(t.Name)
		for _, u := range t.AvailableUpgrades {
			text.WriteString(" " + u.Name)
		}
		text.WriteString("\n")
	}
	sum := sha256.Sum256([]byte(text.String()))
	return v1alpha1.K0rdentObjectName(c.Name, newest(c)) + "-" + hex.EncodeToString(sum[:])[:6]
}

// newest returns the greatest version on a chain's paths.
func newest(c v1alpha1.K0rdentChain) string {
	var out string
	var best *semver.Version
	for _, p := range c.Paths {
		for _, version := range p.Versions {
			v, err := semver.NewVersion(version)
			if err == nil && (best == nil || v.GreaterThan(best)) {
				out, best = version, v
			}
		}
	}
	return out
}

// chainObjects returns the objects of the chains, and a map from their names in the specification to the names of the
// objects.
func chainObjects(kind string, chains []v1alpha1.K0rdentChain) (objects []any, names map[string]string) {
	names = map[string]string{}
	for _, c := range emit.ByName(chains, func(c v1alpha1.K0rdentChain) string { return c.Name }) {
		names[c.Name] = chainName(c)
		objects = append(objects, newObject(kind, system(names[c.Name]), chain(c)))
	}
	return objects, names
}
