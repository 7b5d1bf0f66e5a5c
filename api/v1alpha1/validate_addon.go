package v1alpha1

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/internal/count"
)

// maxReleaseName is Helm's bound on a release's name.
const maxReleaseName = 53

func (c *checker) addons() {
	releases := map[string][]*Addon{}
	levels := map[string]*Addon{}
	for _, a := range c.spec.Addons {
		c.selector(a, at("spec", "clusters"), a.Spec.Clusters)
		c.chart(a)
		c.overrides(a)
		c.bootstrap(a)
		c.release(a, releases)
		first := levels[a.Spec.Namespace]
		switch {
		case a.Spec.PodSecurity == "":
		case first == nil:
			levels[a.Spec.Namespace] = a
		case first.Spec.PodSecurity != a.Spec.PodSecurity && c.whole(a, first):
			c.fail(a, at("spec", "podSecurity"), "add-ons that share a namespace share its level", "namespace %s has podSecurity %s here and %s in %s",
				quote(a.Spec.Namespace), a.Spec.PodSecurity, first.Spec.PodSecurity, c.called(first))
		}
	}
}

// release checks that no cluster gets two releases of one name and namespace.
func (c *checker) release(a *Addon, releases map[string][]*Addon) {
	if a.Spec.Chart == nil {
		return
	}
	if name := a.Spec.ReleaseName; len(name) > maxReleaseName && name == a.Metadata.Name {
		c.fail(a, at("metadata", "name"), "set spec.releaseName", "the release would be named %s, Helm allows %d characters", quote(name), maxReleaseName)
	}
	id := a.Spec.Namespace + "/" + a.Spec.ReleaseName
	for _, other := range releases[id] {
		if c.whole(a, other) && c.together(a, other) != "" {
			c.fail(a, at("spec", "releaseName"), "set spec.releaseName of one of them", "%s installs the release %s in namespace %s too",
				c.called(other), quote(a.Spec.ReleaseName), quote(a.Spec.Namespace))
			return
		}
	}
	releases[id] = append(releases[id], a)
}

// together returns the first cluster that two add-ons are on, or "".
func (c *checker) together(a, b *Addon) string {
	for _, cluster := range c.spec.Clusters {
		if name := cluster.Metadata.Name; c.on[a][name] && c.on[b][name] {
			return name
		}
	}
	return ""
}

func (c *checker) chart(a *Addon) {
	chart := a.Spec.Chart
	if chart == nil {
		if len(a.Spec.Resources) == 0 && c.whole(a) {
			c.fail(a, at("spec"), "add spec.chart or spec.resources", "the add-on has neither a chart nor resources")
		}
		if len(a.Spec.Values) > 0 {
			c.fail(a, at("spec", "values"), "add spec.chart", "the add-on has values but no chart")
		}
		return
	}
	p := at("spec", "chart")
	c.url(a, p.child("url"), chart.URL)
	oci := strings.HasPrefix(chart.URL, "oci://")
	if oci && chart.Name != "" {
		c.fail(a, p.child("name"), "take it out: an oci:// URL names the chart itself", "spec.chart.name is %s beside an oci:// URL", quote(chart.Name))
	}
	_, last, _ := cutLast(strings.TrimPrefix(chart.URL, "oci://"), "/")
	switch {
	case oci && last == "":
		c.fail(a, p.child("url"), "write oci://host/path/chart", "spec.chart.url is %s, which names no chart", quote(chart.URL))
	case oci && strings.ContainsAny(last, ":@"):
		c.fail(a, p.child("url"), "put the version into spec.chart.version", "spec.chart.url is %s, which holds a tag or digest", quote(chart.URL))
	case !oci && chart.Verify != nil:
		c.fail(a, p.child("verify"), "Flux verifies charts of OCI registries only", "spec.chart.verify needs an oci:// URL")
	}
	c.chartVersion(a, p.child("version"), chart.Version)
	c.verify(a, p.child("verify"), chart.Verify)
}

// cutLast cuts around the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// chartVersion accepts an exact version, with the leading v that some charts'
// tags carry.
func (c *checker) chartVersion(a *Addon, p *fieldPath, version string) {
	if _, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v")); err != nil {
		c.fail(a, p, "write an exact version such as 1.2.3 or v1.2.3: what is installed is what Git says", "%s is %s, which is not an exact version", p, quote(version))
	}
}

func (c *checker) verify(of any, p *fieldPath, v *Verify) {
	if v == nil {
		return
	}
	for i, id := range v.MatchOIDCIdentity {
		c.regex(of, p.child("matchOIDCIdentity").item(i).child("issuer"), id.Issuer)
		c.regex(of, p.child("matchOIDCIdentity").item(i).child("subject"), id.Subject)
	}
	switch {
	case v.SecretRef != nil && len(v.MatchOIDCIdentity) > 0:
		c.fail(of, p.child("matchOIDCIdentity"), "keep secretRef for public keys, or matchOIDCIdentity for keyless signatures", "%s has a secretRef and keyless identities", p)
	case v.Provider == "notation" && v.SecretRef == nil && c.whole(of):
		c.fail(of, p, "name the Secret with the trust policy and the certificates", "%s has provider notation, which needs a secretRef", p)
	}
}

func (c *checker) regex(of any, p *fieldPath, expression string) {
	if _, err := count.Compile(expression); err != nil {
		c.fail(of, p, "write a regular expression of Go: https://golang.org/s/re2syntax", "%s is %s, which does not compile: %v", p, quote(expression), err)
	}
}

func (c *checker) overrides(a *Addon) {
	for i, o := range a.Spec.Overrides {
		p := at("spec", "overrides").item(i)
		c.selector(a, p.child("clusters"), o.Clusters)
		if a.Spec.Chart == nil && c.whole(a) {
			c.fail(a, p, "add spec.chart", "the add-on has overrides but no chart")
			continue
		}
		c.sameForm(a, p.child("values"), a.Spec.Values, o.Values)
		known, reaches := false, false
		for _, cluster := range c.spec.Selected(o.Clusters) {
			name := cluster.Metadata.Name
			known, reaches = true, reaches || c.on[a][name]
			if j := slices.Index(o.Clusters.Names, name); j >= 0 && !c.on[a][name] && c.whole(a) {
				reaches = true // said already
				c.fail(a, p.child("clusters").child("names").item(j), "add the cluster to spec.clusters, or take the override out",
					"the override selects the cluster %s, which does not get the add-on", quote(name))
			}
		}
		if known && !reaches && c.whole(a) {
			c.fail(a, p.child("clusters"), "select clusters of spec.clusters", "the override selects no cluster that gets the add-on")
		}
	}
}

// sameForm reports where an override turns a map, a list or a scalar of the
// values into another of them: the override becomes a patch, which kustomize
// refuses there (kyaml merge2: wrong node kind).
func (c *checker) sameForm(a *Addon, p *fieldPath, values, patch map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		old, isSet := values[key]
		if !isSet || old == nil || patch[key] == nil {
			continue
		}
		if before, after := formOf(old), formOf(patch[key]); before != after {
			c.fail(a, p.child(key), "give the key one form; where it must differ, set it in overrides alone",
				"the override makes %s of %s, which is %s in spec.values: kustomize cannot patch that", after, quote(key), before)
			continue
		}
		if inner, isMap := patch[key].(map[string]any); isMap {
			c.sameForm(a, p.child(key), old.(map[string]any), inner)
		}
	}
}

func formOf(v any) string {
	switch v.(type) {
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	}
	return "a scalar"
}

// bootstrap checks what the bootstrap of an add-on says, but for its order.
func (c *checker) bootstrap(a *Addon) {
	b := a.Spec.Bootstrap
	if b == nil {
		return
	}
	if a.Spec.Chart == nil && c.whole(a) {
		c.fail(a, at("spec", "bootstrap"), "add spec.chart: the bootstrap installs Helm releases", "a bootstrapped add-on needs a chart")
	}
	var files []string
	for _, r := range a.Spec.Resources {
		files = append(files, r.Name)
	}
	for i, hook := range b.Hooks {
		p := at("spec", "bootstrap", "hooks").item(i)
		if hook.Apply == "" && len(hook.WaitForCRDs) == 0 && c.whole(a) {
			c.fail(a, p, "add waitForCRDs or apply", "the hook does nothing")
		}
		if hook.Apply != "" && !slices.Contains(files, hook.Apply) {
			c.fail(a, p.child("apply"), c.report.suggest(hook.Apply, "resource", "add it to spec.resources", files), "there is no resource %s in the add-on", quote(hook.Apply))
		}
		for j, name := range hook.WaitForCRDs {
			if !crdName.MatchString(name) {
				c.fail(a, p.child("waitForCRDs").item(j), "write plural.group, such as certificates.cert-manager.io", "%s is not the name of a custom resource definition", quote(name))
			}
		}
	}
}

var crdName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?){2,}$`)
