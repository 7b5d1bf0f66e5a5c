package specs

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// maxReleaseName is Helm's maximum length of a release's name.
const maxReleaseName = 53

func (c *specChecker) addons() {
	releases := map[string][]*v1alpha1.Addon{}
	levels := map[string]*v1alpha1.Addon{}
	for _, a := range c.Spec.Addons {
		c.selector(a, strict.At("spec", "clusters"), a.Spec.Clusters)
		c.chart(a)
		c.overrides(a)
		c.bootstrap(a)
		c.shard(a, a.Metadata)
		c.release(a, releases)
		first := levels[a.Spec.Namespace]
		switch {
		case a.Spec.PodSecurity == "":
		case first == nil:
			levels[a.Spec.Namespace] = a
		case first.Spec.PodSecurity != a.Spec.PodSecurity && c.Whole(a, first):
			c.Fail(a, strict.At("spec", "podSecurity"), "set the same podSecurity in all add-ons of the namespace", "podSecurity of namespace %s is %s here, but %s in %s",
				strict.Quote(a.Spec.Namespace), a.Spec.PodSecurity, first.Spec.PodSecurity, c.Called(first))
		}
	}
}

// release checks that no cluster gets two releases with the same name and namespace.
func (c *specChecker) release(a *v1alpha1.Addon, releases map[string][]*v1alpha1.Addon) {
	if a.Spec.Chart == nil {
		return
	}
	if name := a.Spec.ReleaseName; len(name) > maxReleaseName && name == a.Metadata.Name {
		c.Fail(a, strict.At("metadata", "name"), "set spec.releaseName", "the release would be named %s, but Helm allows at most %d characters", strict.Quote(name), maxReleaseName)
	}
	id := a.Spec.Namespace + "/" + a.Spec.ReleaseName
	for _, other := range releases[id] {
		if c.Whole(a, other) && c.together(a, other) != "" {
			c.Fail(a, strict.At("spec", "releaseName"), "set spec.releaseName in one of them", "%s also installs the release %s in namespace %s",
				c.Called(other), strict.Quote(a.Spec.ReleaseName), strict.Quote(a.Spec.Namespace))
			return
		}
	}
	releases[id] = append(releases[id], a)
}

// together returns the first cluster that has both add-ons, or "".
func (c *specChecker) together(a, b *v1alpha1.Addon) string {
	for _, cluster := range c.Spec.Clusters {
		if name := cluster.Metadata.Name; c.on[a][name] && c.on[b][name] {
			return name
		}
	}
	return ""
}

func (c *specChecker) chart(a *v1alpha1.Addon) {
	chart := a.Spec.Chart
	if chart == nil {
		if len(a.Spec.Resources) == 0 && c.Whole(a) {
			c.Fail(a, strict.At("spec"), "add spec.chart or spec.resources", "the add-on has neither spec.chart nor spec.resources")
		}
		if len(a.Spec.Values) > 0 {
			c.Fail(a, strict.At("spec", "values"), "add spec.chart", "the add-on has values but no chart")
		}
		return
	}
	p := strict.At("spec", "chart")
	c.URL(a, p.Child("url"), chart.URL)
	oci := strings.HasPrefix(chart.URL, "oci://")
	if oci && chart.Name != "" {
		c.Fail(a, p.Child("name"), "remove it: an oci:// URL already names the chart", "spec.chart.name is %s, but spec.chart.url is an oci:// URL", strict.Quote(chart.Name))
	}
	_, last, _ := cutLast(strings.TrimPrefix(chart.URL, "oci://"), "/")
	switch {
	case oci && last == "":
		c.Fail(a, p.Child("url"), "write oci://host/path/chart", "spec.chart.url is %s, which contains no chart name", strict.Quote(chart.URL))
	case oci && strings.ContainsAny(last, ":@"):
		c.Fail(a, p.Child("url"), "move the version to spec.chart.version", "spec.chart.url is %s, which contains a tag or digest", strict.Quote(chart.URL))
	case !oci && chart.Verify != nil:
		c.Fail(a, p.Child("verify"), "Flux verifies only charts in OCI registries", "spec.chart.verify needs an oci:// URL")
	}
	c.chartVersion(a, p.Child("version"), chart.Version)
	c.verify(a, p.Child("verify"), chart.Verify)
}

// cutLast is strings.Cut at the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// chartVersion checks that a version is exact; it allows a leading v, as in the tags of
// some charts.
func (c *specChecker) chartVersion(a *v1alpha1.Addon, p *strict.Path, version string) {
	if _, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v")); err != nil {
		c.Fail(a, p, "write an exact version such as 1.2.3 or v1.2.3, so that Git determines what is installed", "%s is %s, which is not an exact version", p, strict.Quote(version))
	}
}

func (c *specChecker) verify(of any, p *strict.Path, v *v1alpha1.Verify) {
	if v == nil {
		return
	}
	for i, id := range v.MatchOIDCIdentity {
		c.regex(of, p.Child("matchOIDCIdentity").Item(i).Child("issuer"), id.Issuer)
		c.regex(of, p.Child("matchOIDCIdentity").Item(i).Child("subject"), id.Subject)
	}
	switch {
	case v.SecretRef != nil && len(v.MatchOIDCIdentity) > 0:
		c.Fail(of, p.Child("matchOIDCIdentity"), "keep secretRef for public keys, or matchOIDCIdentity for keyless signatures", "%s has both secretRef and matchOIDCIdentity", p)
	case v.Provider == "notation" && v.SecretRef == nil && c.Whole(of):
		c.Fail(of, p, "set secretRef to the Secret with the trust policy and the certificates", "%s has provider notation, which requires a secretRef", p)
	}
}

func (c *specChecker) regex(of any, p *strict.Path, expression string) {
	if _, err := count.Compile(expression); err != nil {
		c.Fail(of, p, "write a Go regular expression: https://golang.org/s/re2syntax", "%s is %s, which does not compile: %v", p, strict.Quote(expression), err)
	}
}

func (c *specChecker) overrides(a *v1alpha1.Addon) {
	for i, o := range a.Spec.Overrides {
		p := strict.At("spec", "overrides").Item(i)
		c.selector(a, p.Child("clusters"), o.Clusters)
		if a.Spec.Chart == nil && c.Whole(a) {
			c.Fail(a, p, "add spec.chart", "the add-on has overrides but no chart")
			continue
		}
		if o.Values == nil && o.Chart == nil {
			c.Fail(a, p, "add values or chart.version", "the override changes nothing")
		}
		if o.Chart != nil {
			c.chartVersion(a, p.Child("chart").Child("version"), o.Chart.Version)
		}
		c.sameForm(a, p.Child("values"), a.Spec.Values, o.Values)
		known, reaches := false, false
		for _, cluster := range c.Spec.Selected(o.Clusters) {
			name := cluster.Metadata.Name
			known, reaches = true, reaches || c.on[a][name]
			if j := slices.Index(o.Clusters.Names, name); j >= 0 && !c.on[a][name] && c.Whole(a) {
				reaches = true // already reported
				c.Fail(a, p.Child("clusters").Child("names").Item(j), "add the cluster to spec.clusters, or remove the override",
					"the override selects cluster %s, but the add-on is not on that cluster", strict.Quote(name))
			}
		}
		if known && !reaches && c.Whole(a) {
			c.Fail(a, p.Child("clusters"), "select clusters that spec.clusters selects, too", "the override selects no cluster of the add-on")
		}
	}
}

// sameForm reports an override that replaces a map, a list or a scalar in the values with another
// of these types: the override becomes a patch, which kustomize refuses then (kyaml merge2: wrong
// node kind).
func (c *specChecker) sameForm(a *v1alpha1.Addon, p *strict.Path, values, patch map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		old, isSet := values[key]
		if !isSet || old == nil || patch[key] == nil {
			continue
		}
		if before, after := formOf(old), formOf(patch[key]); before != after {
			c.Fail(a, p.Child(key), "use the same type in both; if the types must differ, set the key only in overrides",
				"the override sets %s for %s, which is %s in spec.values: kustomize cannot patch that", after, strict.Quote(key), before)
			continue
		}
		if inner, isMap := patch[key].(map[string]any); isMap {
			c.sameForm(a, p.Child(key), old.(map[string]any), inner)
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

// bootstrap checks the bootstrap of an add-on, except for its order.
func (c *specChecker) bootstrap(a *v1alpha1.Addon) {
	b := a.Spec.Bootstrap
	if b == nil {
		return
	}
	if a.Spec.Chart == nil && c.Whole(a) {
		c.Fail(a, strict.At("spec", "bootstrap"), "add spec.chart: the bootstrap installs Helm releases", "a bootstrapped add-on needs a chart")
	}
	var files []string
	for _, r := range a.Spec.Resources {
		files = append(files, r.Name)
	}
	for i, hook := range b.Hooks {
		p := strict.At("spec", "bootstrap", "hooks").Item(i)
		if hook.Apply == "" && len(hook.WaitForCRDs) == 0 && c.Whole(a) {
			c.Fail(a, p, "add waitForCRDs or apply", "the hook has neither waitForCRDs nor apply")
		}
		if hook.Apply != "" && !slices.Contains(files, hook.Apply) {
			c.Fail(a, p.Child("apply"), c.Report.Suggest(hook.Apply, "resource", "add it to spec.resources", files), "the add-on has no resource %s", strict.Quote(hook.Apply))
		}
		for j, name := range hook.WaitForCRDs {
			if !crdName.MatchString(name) {
				c.Fail(a, p.Child("waitForCRDs").Item(j), "write PLURAL.GROUP, such as certificates.cert-manager.io", "%s is not the name of a CustomResourceDefinition", strict.Quote(name))
			}
		}
	}
}

var crdName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?){2,}$`)
