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

// valuesKey is the key of the values in an override ConfigMap.
const valuesKey = "values.yaml"

// OverrideMissing is kommander-override-missing.
var OverrideMissing = rule.Rule{
	ID:       "kommander-override-missing",
	Title:    "an override ConfigMap that does not exist",
	Severity: finding.Warning,
	Why: `The HelmReleases of Kommander's applications read the ConfigMaps that an AppDeployment names, in its namespace,
as optional. If one does not exist, no error is reported and the application runs with its default values.

A configMapGenerator adds a suffix to the names of its ConfigMaps, which kustomize does not write into an
AppDeployment. Overrides can also be created in Kommander's user interface: if Git has no override in the
namespace, and none with this name in another one, the reference is unresolved.`,
	Fix: `Correct the name, add the ConfigMap to the AppDeployment's namespace, or disable the generator's suffix
(disableNameSuffixHash: true).`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			o := overridesOf(w)
			platform.Dangling{There: o.there, Consequence: "the application runs with its default values", Hint: o.hint}.Report(p, w.ManagementCluster, overrideReferences(w))
		}
	},
}

// overrideReferences returns the references of AppDeployments to override ConfigMaps.
func overrideReferences(w *managementCluster) []platform.Reference {
	var out []platform.Reference
	for _, o := range w.Of(deployment) {
		out = append(out, platform.Of(o, "", configMap, o.Namespace, "spec", "configOverrides", "name"))
		for i := range o.List("spec", "clusterConfigOverrides") {
			out = append(out, platform.Of(o, "", configMap, o.Namespace, "spec", "clusterConfigOverrides", i, "configMapName"))
		}
	}
	return out
}

// overrides holds the ConfigMaps of a cluster: a namespace for each name, the names in each namespace, and the
// names of generated ConfigMaps by the name without the hash suffix.
type overrides struct {
	*managementCluster
	namespaces map[string]string
	names      map[string][]string
	generated  map[[2]string]string
}

func overridesOf(w *managementCluster) overrides {
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

// hint returns the namespace of a missing override ConfigMap that is elsewhere, or the name that was probably meant.
func (o overrides) hint(r platform.Reference) string {
	if at := o.namespaces[r.Name]; at != "" {
		return fmt.Sprintf("it is in namespace %s", at)
	}
	if name := o.generated[[2]string{r.Namespace, r.Name}]; name != "" {
		return fmt.Sprintf("a configMapGenerator creates %s: set disableNameSuffixHash: true", name)
	}
	if near := o.TypoOf(r.Name, o.names[r.Namespace]); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// isHash reports whether a string looks like kustomize's hash suffix: ten letters and digits without vowels.
func isHash(text string) bool {
	return len(text) == 10 && strings.Trim(text, "bcdfghkmt2456789") == ""
}

// OverrideValues is kommander-override-values.
var OverrideValues = rule.Rule{
	ID:       "kommander-override-values",
	Title:    "an override ConfigMap without values.yaml",
	Severity: finding.Error,
	Why: `The HelmReleases of Kommander's applications read the key values.yaml of the ConfigMaps that an AppDeployment
names. Only the ConfigMap is optional: if it exists without the key, or the content is not a YAML mapping,
helm-controller neither installs nor upgrades the application.`,
	Fix: `Write the values under the key values.yaml, as a YAML mapping.`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			reported := map[*reconcile.Object]bool{}
			for _, r := range overrideReferences(w) {
				o := w.All[reconcile.Identity{Kind: configMap, Namespace: r.Namespace, Name: r.Name}]
				if o == nil || reported[o] {
					continue
				}
				reported[o] = true
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
