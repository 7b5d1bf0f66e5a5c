package flux

import (
	"fmt"
	"maps"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/beside"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ValuesReferenceMissing is flux-values-reference-missing.
var ValuesReferenceMissing = rule.Rule{
	ID:       "flux-values-reference-missing",
	Title:    "values or variables from an object that does not exist",
	Severity: finding.Error,
	Why: `A HelmRelease reads spec.valuesFrom before it installs or upgrades: a ConfigMap or Secret that doesn't exist,
or lacks the key (values.yaml where valuesKey isn't given), stops it with a ValuesError. A Kustomization reads
postBuild.substituteFrom before it applies, and stops likewise. Only an object that is marked optional may be absent;
its key may not, once it is there.

Both look in their own namespace only. The name of a ConfigMap that kustomize generates ends in a hash, which
kustomize writes into the references that it knows; valuesFrom isn't one of them.

A Secret that isn't in Git may be made by hand or by a controller, and is unresolved, unless an ExternalSecret, a
SealedSecret or the like in Git makes it. So is a ConfigMap for whose making there is any sign, and
one of substituteFrom that nothing in Git comes near, not even another cluster: Terraform often makes it with the
cluster. On a cluster with AppDeployments Kommander makes substitution-vars.`,
	Fix: `Correct the name, key or namespace, or add the object. For a generated one, tell kustomize of the field in a
configuration with a nameReference, or set generatorOptions.disableNameSuffixHash. Mark it optional where the release
works without it.`,
	Run: func(p *rule.Pass) {
		var open questions
		missing := map[*reconcile.Cluster][]reference{}
		names := map[string]bool{}
		each(p, func(w *world) {
			missing[w.cluster] = w.missingReferences(p)
			for _, r := range missing[w.cluster] {
				if r.id.Kind == "ConfigMap" || w.misspelt(r.id) {
					names[r.id.Name] = true
				}
			}
		})
		spoken := beside.Speaking(p.Repo, names, true)
		each(p, func(w *world) {
			for _, r := range missing[w.cluster] {
				w.referenceMissing(p, &open, r, spoken[r.id.Name])
			}
		})
		open.report(p)
	},
}

// missingReferences are those to what neither Git has nor a controller makes of what Git has.
// Of the others it looks at the keys.
func (w *world) missingReferences(p *rule.Pass) []reference {
	var missing []reference
	made := w.madeSecrets()
	for _, r := range w.references() {
		if o := w.find(r.id); o != nil {
			w.keyMissing(p, r, o)
			continue
		}
		anywhere := r.id
		anywhere.Namespace = "*"
		if w.byController(r) {
			continue
		}
		if !r.optional && !made[r.id] && !made[anywhere] {
			missing = append(missing, r)
		}
	}
	return missing
}

const (
	// rootCertificate is the ConfigMap that kube-controller-manager makes in every namespace.
	rootCertificate = "kube-root-ca.crt"
	// substitutionVars is the ConfigMap of variables that Kommander makes beside its
	// AppDeployments, and that the Kustomizations within definitions of applications read: those
	// of gatekeeper, harbor and others (kommander-applications v2.4 to v2.17, which don't hold it).
	substitutionVars = "substitution-vars"
)

// byController says whether a controller of the cluster makes the ConfigMap that a reference names.
func (w *world) byController(r reference) bool {
	if r.id.Kind != "ConfigMap" {
		return false
	}
	deployments := w.names[kind{schemas.KommanderAppsGroup, "AppDeployment"}]
	return r.id.Name == rootCertificate || r.id.Name == substitutionVars && !r.isRelease && len(deployments) > 0
}

// referenceMissing judges a reference to what is missing; spoken is a file that Flux doesn't
// read and that speaks of it, "" for none.
func (w *world) referenceMissing(p *rule.Pass, open *questions, r reference, spoken string) {
	at := w.placeOfReference(r, "name", r.id.Name)
	f := at.in(finding.Finding{Message: fmt.Sprintf("%s, which %s references, does not exist", idText(r.id), r.by)})
	if r.id.Kind == "Secret" {
		f.Severity = finding.Warning // somebody may have made it by hand
	}
	if name, ok := w.generated(r.id); ok {
		f.Message += fmt.Sprintf(": kustomize generates it as %q", name)
		f.Hint = "configure a nameReference for the field, or set generatorOptions.disableNameSuffixHash"
		w.reportReference(p, r, f)
		return
	}
	near := w.near(r.id)
	elsewhere := w.inNamespaces(kind{r.id.Group, r.id.Kind}, r.id.Name)
	why := w.configDoubt(r.id)
	_, others := w.ofOther(r.id)
	switch {
	case why != "":
	case spoken != "":
		why = spoken + " mentions it, and may create it"
	case !near && len(elsewhere) == 0 && others == nil && !r.isRelease:
		why = "the installation of the cluster may have created it"
	case !near:
		why = w.chartDoubt(r.id, r.of)
	}
	if why != "" {
		open.add(at, fmt.Sprintf("whether %s, which %s references, exists", idText(r.id), r.by), why)
		return
	}
	if f.Hint = w.hint(r.id); !near && len(elsewhere) > 0 {
		f.Hint = fmt.Sprintf("it exists in namespace %q, but such a reference cannot cross namespaces", elsewhere[0])
	}
	w.reportReference(p, r, f)
}

// keyMissing looks for the key of a HelmRelease's reference in an object that is there.
func (w *world) keyMissing(p *rule.Pass, r reference, o *reconcile.Object) {
	if !r.isRelease || !decided(o) || unknown(r.key) || len(w.objects[o.Identity]) > 1 {
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
	if r.keyGiven {
		at = w.placeOfReference(r, "valuesKey", r.key)
	}
	names := slices.Sorted(maps.Keys(keys))
	f := at.in(finding.Finding{
		Message: fmt.Sprintf("%s has no key %q, which %s references", o, r.key, r.by),
		Hint:    "its keys are " + some(names),
	})
	if near, ok := w.budget.nearest(r.key, names); ok {
		f.Hint = fmt.Sprintf("did you mean %q?", near)
	} else if !r.keyGiven {
		f.Hint += "; set valuesKey to one of them"
	}
	w.reportReference(p, r, f)
}

func (w *world) reportReference(p *rule.Pass, r reference, f finding.Finding) {
	if r.of != nil {
		p.ReportBuilt(r.of, f)
		return
	}
	p.ReportIn(w.cluster.Name, f)
}
