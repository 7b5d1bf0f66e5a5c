package flux

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/otherfiles"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ValuesReferenceMissing is flux-values-reference-missing.
var ValuesReferenceMissing = rule.Rule{
	ID:       "flux-values-reference-missing",
	Title:    "values or variables from an object that does not exist",
	Severity: finding.Error,
	Why: `A HelmRelease reads spec.valuesFrom before it installs or upgrades. If a ConfigMap or Secret does not exist, or
does not have the key (values.yaml by default), the HelmRelease fails with a ValuesError. A Kustomization reads
postBuild.substituteFrom before it applies, and fails in the same way. If the reference is optional, the object or
its key may be missing. The keys of an object whose annotations ask a controller to generate or copy its data are
unresolved.

Both look only in their own namespace. The name of a ConfigMap that kustomize generates ends in a hash.
kustomize writes that name into the references that it knows; valuesFrom is not one of them.

Values that are not a YAML mapping are an error, too: helm-controller cannot merge them. A Secret that is not in Git is
unresolved, unless an ExternalSecret, a SealedSecret or the like in Git creates it, its name is a typo, or Git creates all
others (see flux-secret-missing). A ConfigMap is unresolved if anything in the repository indicates that it is created
elsewhere. A ConfigMap in substituteFrom is also unresolved if Git has nothing similar, not even for another cluster:
Terraform often creates it with the cluster. On a cluster with AppDeployments, Kommander creates substitution-vars.`,
	Fix: `Correct the name, key or namespace, or add the object. For a generated object, configure a nameReference for the
field in a kustomize configuration, or set generatorOptions.disableNameSuffixHash. If the release works without
it, mark it optional.`,
	Run: func(p *rule.Pass) {
		var open questions
		missing := map[*reconcile.Cluster][]reference{}
		names := map[string]bool{}
		each(p, func(w *world) {
			missing[w.cluster] = w.missingReferences(p, &open)
			for _, r := range missing[w.cluster] {
				names[r.id.Name] = true
			}
		})
		spoken := otherfiles.Mentions(p.Repo, names, true)
		habits := secretPractices(p)
		each(p, func(w *world) {
			habit, others := habits[w.cluster], w.operators()
			for _, r := range missing[w.cluster] {
				if r.id.Kind == "Secret" {
					r.whyExpected, r.severity = habit.whyExpected(r.id, others), habit.severity()
				}
				w.referenceMissing(p, &open, r, spoken[r.id.Name])
			}
		})
		open.report(p)
	},
}

// missingReferences returns the references to objects that are not in Git and that no controller creates from
// objects in Git. For the other references it checks the keys.
func (w *world) missingReferences(p *rule.Pass, open *questions) []reference {
	var missing []reference
	created := w.createdSecrets()
	for _, r := range w.references() {
		if o := w.find(r.id); o != nil {
			w.keyMissing(p, open, r, o)
			w.valuesRefused(p, r, o)
			continue
		}
		anywhere := r.id
		anywhere.Namespace = "*"
		if w.byController(r) {
			continue
		}
		if !r.optional && !created[r.id] && !created[anywhere] {
			missing = append(missing, r)
		}
	}
	return missing
}

const (
	// rootCertificate is the ConfigMap that kube-controller-manager creates in every namespace.
	rootCertificate = "kube-root-ca.crt"
	// substitutionVars is the ConfigMap of variables that Kommander creates next to its AppDeployments. The
	// Kustomizations in the definitions of some applications read it, for example those of gatekeeper and
	// harbor (kommander-applications v2.4 to v2.17).
	substitutionVars = "substitution-vars"
)

// byController reports whether a controller of the cluster creates the ConfigMap that a reference names.
func (w *world) byController(r reference) bool {
	if r.id.Kind != "ConfigMap" {
		return false
	}
	deployments := w.names[kind{schemas.KommanderAppsGroup, "AppDeployment"}]
	return r.id.Name == rootCertificate || r.id.Name == substitutionVars && !r.isRelease && len(deployments) > 0
}

// referenceMissing reports a reference to a missing object. spoken is a file that mentions the object and that
// Flux does not read, "" for none.
func (w *world) referenceMissing(p *rule.Pass, open *questions, r reference, spoken string) {
	at := w.placeOfReference(r, "name", r.id.Name)
	f := finding.Finding{Place: at, Message: fmt.Sprintf("%s, which %s references, does not exist", idText(r.id), r.by)}
	typo := w.misspelt(r.id)
	if r.id.Kind == "Secret" && !typo {
		f.Severity = finding.Warning // it may have been created by hand
		if r.whyExpected != "" {
			f.Severity = r.severity
		}
	}
	if name, ok := w.generated(r.id); ok {
		f.Message += fmt.Sprintf(": kustomize generates it as %q", name)
		f.Hint = "configure a nameReference for the field, or set generatorOptions.disableNameSuffixHash"
		w.reportReference(p, r, f)
		return
	}
	near := w.near(r.id)
	elsewhere := w.inNamespaces(kind{r.id.Group, r.id.Kind}, r.id.Name)
	why := w.configDoubt(r.id, r.of)
	if why == byHand && (typo || r.whyExpected != "") {
		why = ""
	}
	_, others := w.ofOther(r.id)
	switch {
	case why != "":
	case spoken != "":
		why = spoken + " mentions it, and may create it"
	case !near && len(elsewhere) == 0 && others == nil && !r.isRelease && r.whyExpected == "":
		why = "the installation of the cluster may have created it"
	case !near:
		why = w.chartDoubt(r.id, r.of)
	}
	if hint, typo := w.resembles(r.id); typo && why != "" && spoken == "" {
		f.Severity, f.Hint = finding.Warning, hint
		w.reportReference(p, r, f)
		return
	}
	if why != "" {
		open.add(at, fmt.Sprintf("whether %s, which %s references, exists", idText(r.id), r.by), why)
		return
	}
	if f.Hint = cmp.Or(w.hint(r.id), r.whyExpected); !near && len(elsewhere) > 0 {
		f.Hint = fmt.Sprintf("it exists in namespace %q, but such a reference cannot cross namespaces", elsewhere[0])
	}
	w.reportReference(p, r, f)
}

// keyMissing checks that the key of a HelmRelease's reference is in the referenced object.
func (w *world) keyMissing(p *rule.Pass, open *questions, r reference, o *reconcile.Object) {
	if !r.isRelease || r.optional || !decided(o) || unknown(r.key) || len(w.objects[o.Identity]) > 1 {
		return
	}
	keys := map[string]bool{}
	for _, part := range []string{"data", "stringData"} {
		values, _ := o.Value[part].(map[string]any)
		for key := range values {
			keys[key] = true
		}
	}
	if len(keys) == 0 || keys[r.key] || o.Encrypted && keys["sops"] {
		return
	}
	at := w.placeOfReference(r, "name", r.id.Name)
	if r.hasKeyName {
		at = w.placeOfReference(r, "valuesKey", r.key)
	}
	if why := incompleteData(o); why != "" {
		open.add(at, fmt.Sprintf("whether %s has the key %q, which %s references", o, r.key, r.by), why)
		return
	}
	names := slices.Sorted(maps.Keys(keys))
	f := finding.Finding{Place: at,
		Message: fmt.Sprintf("%s has no key %q, which %s references", o, r.key, r.by),
		Hint:    "its keys are " + some(names),
	}
	if near, ok := w.budget.nearest(r.key, names); ok {
		f.Hint = fmt.Sprintf("did you mean %q?", near)
	} else if !r.hasKeyName {
		f.Hint += "; set valuesKey to one of them"
	}
	w.reportReference(p, r, f)
}

// valuesRefused reports a ConfigMap whose values helm-controller cannot read: they must be a YAML mapping, or a single
// value if the entry has a targetPath.
func (w *world) valuesRefused(p *rule.Pass, r reference, o *reconcile.Object) {
	if !r.isRelease || o.Kind != "ConfigMap" || o.Encrypted || !decided(o) || len(w.objects[o.Identity]) > 1 || field(r.of.Field(r.path...), "targetPath") != nil {
		return
	}
	data, _ := field(o.Value, "data").(map[string]any)
	values, isText := data[r.key].(string)
	if !isText || strings.Contains(values, "${") || charts.IsValues(values) {
		return
	}
	w.reportReference(p, r, finding.Finding{Place: w.placeOfReference(r, "name", r.id.Name),
		Message: fmt.Sprintf("%q of %s, which %s references, is not a YAML mapping: helm-controller cannot read it as values", r.key, o, r.by),
		Hint:    "correct the YAML, or set targetPath to pass the string to one value",
	})
}

// incompleteData returns why a ConfigMap or Secret may have more keys than are known, "" if it cannot.
func incompleteData(o *reconcile.Object) string {
	if annotation, ok := filledBy(o); ok {
		return fmt.Sprintf("the annotation %s asks a controller to write it", annotation)
	}
	if k := o.Kustomization; k != nil {
		for _, g := range k.Gaps {
			if !g.AddsObjects() {
				return g.Message // a gap of the generator
			}
		}
	}
	return ""
}

func (w *world) reportReference(p *rule.Pass, r reference, f finding.Finding) {
	if r.of != nil {
		p.ReportBuilt(r.of, f)
		return
	}
	p.ReportIn(w.cluster.Name, f)
}
