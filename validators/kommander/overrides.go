package kommander

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

const configMap = "ConfigMap"

// valuesKey is the key of an override's values.
const valuesKey = "values.yaml"

// OverrideMissing is kommander-override-missing.
var OverrideMissing = rule.Rule{
	ID:       "kommander-override-missing",
	Title:    "an override ConfigMap that does not exist",
	Severity: finding.Warning,
	Why: `The HelmReleases of Kommander's applications read the ConfigMaps that an AppDeployment names, in its namespace, as
optional: of one that isn't there nothing is said, and the application runs with its default values.

A configMapGenerator gives its ConfigMaps a suffix, which kustomize doesn't write into an AppDeployment. Overrides are also
made in Kommander's interface: where Git holds no override in the namespace and none with this name in another, the question
is unresolved.`,
	Fix: `Correct the name, add the ConfigMap to the AppDeployment's namespace, or let the generator leave out the suffix
(disableNameSuffixHash: true).`,
	Run: func(p *rule.Pass) {
		for _, w := range worlds(p) {
			o := overridesOf(w)
			platform.Dangling{There: o.there, Consequence: "the application runs with its default values", Hint: o.hint}.Report(p, w.World, overrideReferences(w))
		}
	},
}

// overrideReferences are the override ConfigMaps that AppDeployments name.
func overrideReferences(w *world) []platform.Reference {
	var out []platform.Reference
	for _, o := range w.Of(deployment) {
		out = append(out, platform.Of(o, "", configMap, o.Namespace, "spec", "configOverrides", "name"))
		for i := range o.List("spec", "clusterConfigOverrides") {
			out = append(out, platform.Of(o, "", configMap, o.Namespace, "spec", "clusterConfigOverrides", i, "configMapName"))
		}
	}
	return out
}

// overrides are the ConfigMaps of a cluster: a namespace by name, the names by
// namespace, and those that a generator made by the name without its suffix.
type overrides struct {
	*world
	namespaces map[string]string
	names      map[string][]string
	generated  map[[2]string]string
}

func overridesOf(w *world) overrides {
	o := overrides{w, map[string]string{}, map[string][]string{}, map[[2]string]string{}}
	for _, m := range w.Objects {
		if m.Group != "" || m.Kind != configMap {
			continue
		}
		o.namespaces[m.Name] = m.Namespace
		o.names[m.Namespace] = append(o.names[m.Namespace], m.Name)
		if i := strings.LastIndexByte(m.Name, '-'); i > 0 && isHash(m.Name[i+1:]) {
			o.generated[[2]string{m.Namespace, m.Name[:i]}] = m.Name
		}
	}
	return o
}

func (o overrides) there(r platform.Reference) (is bool, doubt string) {
	if doubt = o.Doubt(r); doubt == "" && !o.overrides[r.Namespace] && o.hint(r) == "" {
		doubt = "Git has no override in the namespace, but one may be created in Kommander"
	}
	return false, doubt
}

// hint says where an override stands that isn't there.
func (o overrides) hint(r platform.Reference) string {
	if at := o.namespaces[r.Name]; at != "" {
		return fmt.Sprintf("it is in namespace %s", at)
	}
	if name := o.generated[[2]string{r.Namespace, r.Name}]; name != "" {
		return fmt.Sprintf("a configMapGenerator creates %s: set disableNameSuffixHash: true", name)
	}
	if near := o.Slip(r.Name, o.names[r.Namespace]); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// isHash says whether a text is a suffix as kustomize gives it: ten letters and digits,
// none of them a vowel.
func isHash(text string) bool {
	return len(text) == 10 && strings.Trim(text, "bcdfghkmt2456789") == ""
}

// OverrideValues is kommander-override-values.
var OverrideValues = rule.Rule{
	ID:       "kommander-override-values",
	Title:    "an override ConfigMap without values.yaml",
	Severity: finding.Error,
	Why: `The HelmReleases of Kommander's applications read the key values.yaml of the ConfigMaps that an AppDeployment names.
Optional is the ConfigMap alone: where it is there without the key, or what stands there is no YAML mapping, helm-controller
installs and upgrades nothing.`,
	Fix: `Put the values under the key values.yaml, as a YAML mapping.`,
	Run: func(p *rule.Pass) {
		for _, w := range worlds(p) {
			told := map[*reconcile.Object]bool{}
			for _, r := range overrideReferences(w) {
				o := w.All[reconcile.Identity{Kind: configMap, Namespace: r.Namespace, Name: r.Name}]
				if o == nil || told[o] {
					continue
				}
				told[o] = true
				text, known, found := o.Datum(valuesKey)
				switch {
				case !found:
					p.ReportBuilt(o, finding.Finding{
						Message: fmt.Sprintf("%s overrides values of %s, but has no key %q", o, r.From, valuesKey),
						Hint:    "put the values under values.yaml",
					}, "metadata", "name")
				case known && !charts.IsValues(text):
					p.ReportBuilt(o, finding.Finding{
						Message: fmt.Sprintf("%s overrides values of %s, but its %s is not a YAML mapping", o, r.From, valuesKey),
						Hint:    "write a YAML mapping, as in a chart's values.yaml",
					}, "data", valuesKey)
				}
			}
		}
	},
}
