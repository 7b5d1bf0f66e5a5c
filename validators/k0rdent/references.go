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

// dangling reports the references of every cluster that name nothing. consequence is what
// follows for what names them, by its kind; that of "" is of all others.
func dangling(p *rule.Pass, references func(*world) []platform.Reference, consequence map[string]string) {
	for _, w := range worlds(p) {
		by := map[string][]platform.Reference{}
		for _, r := range references(w) {
			kind := r.From.Kind
			if consequence[kind] == "" {
				kind = ""
			}
			by[kind] = append(by[kind], r)
		}
		for _, kind := range slices.Sorted(maps.Keys(by)) {
			platform.Dangling{There: w.there, Consequence: consequence[kind], Hint: w.wayTo}.Report(p, w.World, by[kind])
		}
	}
}

// wayTo is what to do about a reference that names nothing, "" where nothing is known.
func (w *world) wayTo(r platform.Reference) string {
	return cmp.Or(w.nearCreated(r), w.inSystem(r), w.versions(r))
}

// nearCreated is the name of what kcm creates that comes near.
func (w *world) nearCreated(r platform.Reference) string {
	if r.Namespace != "" && r.Namespace != system {
		return ""
	}
	if near := w.Hints.Nearest(r.Name, w.createdNames(r.Kind)); near != "" {
		return fmt.Sprintf("did you mean %q, which kcm creates?", near)
	}
	return ""
}

// mostVersions is how many versions of a template a hint names.
const mostVersions = 5

// versions names those of a template's versions that there are, the newest first: the names of
// templates end with them, as in aws-standalone-cp-1-0-43.
func (w *world) versions(r platform.Reference) string {
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

// splitVersion takes the name of a template apart: what it is of, "" without a version, and the
// version's numbers.
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

// inSystem says how a namespace gets what stands in that of k0rdent.
func (w *world) inSystem(r platform.Reference) string {
	if in := r; r.Namespace != "" && r.Namespace != system {
		if in.Namespace = system; w.Has(in) {
			return fmt.Sprintf("it is in %s: distribute it to namespace %s with an access rule of the AccessManagement", system, r.Namespace)
		}
	}
	return ""
}

// templateReferences are the templates that objects name, and the Release of the
// Management.
func templateReferences(w *world) []platform.Reference {
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

// chainReferences are the chains that rules of access and services name.
func chainReferences(w *world) []platform.Reference {
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

// accessReferences are the objects of a kind that rules of access name, in either
// generation of their schema.
func accessReferences(w *world, kind string) []platform.Reference {
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
createTemplates of its HelmRelease are false. What it creates is known for k0rdent 1.6 to 1.12. The reference is
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
