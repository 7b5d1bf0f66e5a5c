package k0rdent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/sorting"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// dangling reports the references in every management cluster to objects that do not exist. consequence has the
// consequence for the referring object, by its kind; the key "" is for all other kinds.
func dangling(p *rule.Pass, references func(*managementCluster) []platform.Reference, consequence map[string]string) {
	for _, w := range managementClusters(p) {
		by := map[string][]platform.Reference{}
		for _, r := range references(w) {
			kind := r.From.Kind
			if consequence[kind] == "" {
				kind = ""
			}
			by[kind] = append(by[kind], r)
		}
		for _, kind := range slices.Sorted(maps.Keys(by)) {
			platform.Dangling{There: w.exists, Consequence: consequence[kind], Hint: w.hintFor}.Report(p, w.ManagementCluster, by[kind])
		}
	}
}

// hintFor returns a hint for a reference to a missing object, "" if there is none.
func (w *managementCluster) hintFor(r platform.Reference) string {
	return cmp.Or(w.nearCreated(r), w.inSystem(r), w.versions(r))
}

// nearCreated returns a hint with the similar name of an object that kcm creates.
func (w *managementCluster) nearCreated(r platform.Reference) string {
	if r.Namespace != "" && r.Namespace != system {
		return ""
	}
	if near := w.Hints.Nearest(r.Name, w.createdNames(r.Kind)); near != "" {
		return fmt.Sprintf("did you mean %q, which kcm creates?", near)
	}
	return ""
}

// mostVersions is the maximum number of versions of a template in a hint.
const mostVersions = 5

// versions returns a hint with the existing versions of a template, the newest first. The names of templates end with the
// version, as in aws-standalone-cp-1-0-43.
func (w *managementCluster) versions(r platform.Reference) string {
	if r.Kind != clusterTemplate && r.Kind != serviceTemplate && r.Kind != providerTemplate {
		return ""
	}
	base, _ := splitVersion(r.Name)
	var there []string
	number := map[string][]int{}
	all := w.Names(r.Group, r.Kind, r.Namespace)
	if r.Namespace == "" || r.Namespace == system {
		all = slices.Concat(all, w.createdNames(r.Kind))
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(all))) {
		if of, numbers := splitVersion(name); base != "" && of == base {
			there, number[name] = append(there, name), numbers
		}
	}
	if len(there) == 0 {
		return ""
	}
	sorting.Func(there, func(a, b string) int { return cmp.Or(slices.Compare(number[b], number[a]), cmp.Compare(a, b)) })
	shown := strings.Join(there[:min(len(there), mostVersions)], ", ")
	return fmt.Sprintf("%s has %s: add the template, or reference an existing one", base, shown)
}

// splitVersion splits the name of a template into the name of its chart, "" if the name has no version, and the numbers
// of the version.
func splitVersion(name string) (base string, numbers []int) {
	parts := versioned.FindStringSubmatch(name)
	if parts == nil {
		return "", nil
	}
	for _, part := range parts[2:] {
		n, err := strconv.Atoi(part)
		if err != nil {
			return "", nil
		}
		numbers = append(numbers, n)
	}
	return parts[1], numbers
}

// inSystem returns a hint that describes how a namespace gets an object of k0rdent's own namespace.
func (w *managementCluster) inSystem(r platform.Reference) string {
	if in := r; r.Namespace != "" && r.Namespace != system {
		if in.Namespace = system; w.Has(in) {
			return fmt.Sprintf("it is in %s: distribute it to namespace %s with an access rule of the AccessManagement", system, r.Namespace)
		}
	}
	return ""
}

// templateReferences returns the references to templates, and the Management's reference to its Release.
func templateReferences(w *managementCluster) []platform.Reference {
	var out []platform.Reference
	add := func(o *reconcile.Object, kind, namespace string, path ...any) {
		out = append(out, reference(o, kind, namespace, path...))
	}
	for _, o := range w.Own {
		switch o.Kind {
		case clusterKind:
			add(o, clusterTemplate, o.Namespace, "spec", "template")
			serviceReferences(o, o.Namespace, add)
		case serviceKind:
			serviceReferences(o, system, add)
		case clusterChain, serviceChain:
			kind := map[string]string{clusterChain: clusterTemplate, serviceChain: serviceTemplate}[o.Kind]
			for i := range o.List("spec", "supportedTemplates") {
				add(o, kind, o.Namespace, "spec", "supportedTemplates", i, "name")
			}
		case release:
			for _, part := range []string{"kcm", "capi", "regional"} {
				add(o, providerTemplate, "", "spec", part, "template")
			}
			for i := range o.List("spec", "providers") {
				add(o, providerTemplate, "", "spec", "providers", i, "template")
			}
		case management:
			add(o, release, "", "spec", "release")
			for _, part := range []string{"kcm", "capi"} {
				add(o, providerTemplate, "", "spec", "core", part, "template")
			}
			for i := range o.List("spec", "providers") {
				add(o, providerTemplate, "", "spec", "providers", i, "template")
			}
		}
	}
	return out
}

func serviceReferences(o *reconcile.Object, namespace string, add func(o *reconcile.Object, kind, namespace string, path ...any)) {
	for i := range o.List("spec", "serviceSpec", "services") {
		add(o, serviceTemplate, namespace, "spec", "serviceSpec", "services", i, "template")
	}
}

// chainReferences returns the references to chains in access rules and services.
func chainReferences(w *managementCluster) []platform.Reference {
	out := accessReferences(w, clusterChain)
	out = append(out, accessReferences(w, serviceChain)...)
	for _, o := range w.Own {
		if o.Kind != clusterKind && o.Kind != serviceKind {
			continue
		}
		namespace := o.Namespace
		if namespace == "" {
			namespace = system
		}
		for i := range o.List("spec", "serviceSpec", "services") {
			out = append(out, reference(o, serviceChain, namespace, "spec", "serviceSpec", "services", i, "templateChain"))
		}
	}
	return out
}

// accessReferences returns the references to objects of a kind in access rules, in either version of their schema.
func accessReferences(w *managementCluster, kind string) []platform.Reference {
	var out []platform.Reference
	list := accessLists[kind]
	add := func(o *reconcile.Object, path ...any) {
		out = append(out, reference(o, kind, system, path...))
	}
	for _, o := range w.Of(accessKind) {
		for i := range o.List("spec", "accessRules") {
			for j := range o.List("spec", "accessRules", i, list) {
				add(o, "spec", "accessRules", i, list, j)
			}
			for j := range o.List("spec", "accessRules", i, "resources") {
				at := []any{"spec", "accessRules", i, "resources", j}
				if o.Text(append(slices.Clone(at), "kind")...) != kind {
					continue
				}
				for n := range o.List(append(slices.Clone(at), "names")...) {
					add(o, append(slices.Clone(at), "names", n)...)
				}
			}
		}
	}
	return out
}

// TemplateMissing is k0rdent-template-missing.
var TemplateMissing = rule.Rule{
	ID:       "k0rdent-template-missing",
	Title:    "a template or Release that does not exist",
	Severity: finding.Error,
	Why: `kcm's webhooks refuse a ClusterDeployment or chain whose template, or a service's template, does not exist, and
a Management whose Release does not exist. Flux reports that the whole Kustomization was refused and retries at
every interval: none of its objects are applied. A MultiClusterService is accepted but installs nothing; a
Release is accepted but never becomes ready.

A template must be in the namespace of the object that references it. The AccessManagement distributes templates
from kcm-system to other namespaces, by the chains that its rules name.

kcm creates its Release and the templates of all Releases itself, unless the values controller.createRelease and
createTemplates of its HelmRelease are false. The created objects are known for k0rdent 1.6 to 1.12. The reference is
unresolved if Git has no HelmRelease of kcm, or not its exact version and values, if its charts come from elsewhere,
or if an earlier version of kcm may have created the template.`,
	Fix: `Correct the name or the version in it, add the template, or distribute it to the namespace: with a chain that
contains it, and a rule of the AccessManagement that names the chain.`,
	Run: func(p *rule.Pass) {
		dangling(p, templateReferences, map[string]string{"": "kcm refuses it", serviceKind: "kcm installs none of its services", release: "the Release never becomes ready"})
	},
}

// ChainMissing is k0rdent-chain-missing.
var ChainMissing = rule.Rule{
	ID:       "k0rdent-chain-missing",
	Title:    "a template chain that does not exist",
	Severity: finding.Error,
	Why: `The AccessManagement distributes the templates of the chains that it names to namespaces. A chain that is not in
kcm-system distributes nothing: kcm reports an error in the AccessManagement's status, and refuses clusters in
those namespaces because their template does not exist. Chains are immutable, so a change creates a new chain
with a new name. If the AccessManagement is not updated, its reference breaks when the old chain is removed.`,
	Fix: `Reference an existing chain. A chain that other namespaces use must be in kcm-system.`,
	Run: func(p *rule.Pass) {
		dangling(p, chainReferences, map[string]string{"": "nothing is distributed", clusterKind: "kcm refuses it", serviceKind: "kcm installs none of its services"})
	},
}
