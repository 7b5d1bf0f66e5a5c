package k0rdent

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ApplyOrder is k0rdent-apply-order.
var ApplyOrder = rule.Rule{
	ID:       "k0rdent-apply-order",
	Title:    "a chain or cluster that is applied before the objects that it needs",
	Severity: finding.Warning,
	Why: `kcm's webhooks refuse a chain whose templates do not exist yet (since 1.6). They also refuse a ClusterDeployment
if its template or a template of its services is not valid yet, or if its Credential is not ready.
kustomize-controller validates all objects of a Kustomization with a dry run before it applies any. If a chain
is in one Kustomization with its templates, the dry run fails and the templates are never applied either. This
is not noticed while the templates exist already, but a new or restored cluster never becomes ready. The same
applies if the Kustomization of the templates waits for the Kustomization of the chain, or is applied by it.

In a separate Kustomization that waits for nothing, the object is refused until the others exist, and retried
after spec.retryInterval, by default a whole interval.

Templates from the HelmRepository kcm-templates in kcm-system are skipped, because kcm creates such templates
itself unless controller.createTemplates is off in its HelmRelease. Objects that a chart renders are skipped,
too.`,
	Fix: `Create one Kustomization for templates and Credentials, one for chains, and one for clusters. Let each depend on
the previous one with dependsOn, and let the first one wait until its objects are valid:

  wait: true
  healthCheckExprs:
  - apiVersion: k0rdent.mirantis.com/v1beta1
    kind: ClusterTemplate
    current: has(status.valid) && status.valid`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			if w.Cluster == nil {
				continue
			}
			o := order{managementCluster: w, first: map[*reconcile.Kustomization]map[*reconcile.Kustomization]bool{}}
			for _, later := range w.Own {
				if later.Kustomization != nil && later.HelmRelease == nil {
					o.judge(p, later)
				}
			}
		}
	},
}

// ownRepository is the HelmRepository that kcm creates, with the charts of its own templates.
const ownRepository = "kcm-templates"

// order determines the order in which the objects of a management cluster are applied.
type order struct {
	*managementCluster
	// first caches the results of before.
	first map[*reconcile.Kustomization]map[*reconcile.Kustomization]bool
}

// before returns the Kustomizations that are applied before another one; see the function before.
func (r order) before(k *reconcile.Kustomization) map[*reconcile.Kustomization]bool {
	if r.first[k] == nil {
		r.first[k] = before(r.Cluster, k)
	}
	return r.first[k]
}

// judge reports an object that is applied before the objects that kcm requires.
func (r order) judge(p *rule.Pass, o *reconcile.Object) {
	var from []*reconcile.Kustomization
	names := map[*reconcile.Kustomization][]string{}
	for _, need := range r.needs(o) {
		k := need.Kustomization
		if k == nil || need.HelmRelease != nil || r.before(o.Kustomization)[k] {
			continue
		}
		if names[k] == nil {
			from = append(from, k)
		}
		names[k] = append(names[k], need.String())
	}
	for _, k := range from {
		r.report(p, o, k, names[k])
	}
}

// report reports an object that is applied before the named objects of Kustomization k.
func (r order) report(p *rule.Pass, o *reconcile.Object, k *reconcile.Kustomization, names []string) {
	if more := len(names) - mostListed; more > 0 {
		names = append(names[:mostListed:mostListed], fmt.Sprintf("%d more", more))
	}
	needs, until := platform.List(names), "until it exists"
	if o.Kind == clusterKind {
		until = "until it is ready"
	}
	f := finding.Finding{
		Message: fmt.Sprintf("Kustomization %s applies %s without waiting for %s, which applies %s: on a new cluster kcm refuses it %s", o.Kustomization, o, k, needs, until),
		Hint:    fmt.Sprintf("add %s to its dependsOn", k),
	}
	_, after := r.before(k)[o.Kustomization]
	switch {
	case k == o.Kustomization:
		f.Severity = finding.Error
		f.Message = fmt.Sprintf("%s is applied together with %s: on a new cluster kcm refuses it %s, and Kustomization %s applies nothing", o, needs, until, k)
		f.Hint = "move it to a Kustomization that depends on this one"
	case after:
		f.Severity = finding.Error
		f.Message = fmt.Sprintf("%s is applied before %s: on a new cluster kcm refuses it %s, but Kustomization %s, which applies the latter, depends on %s", o, needs, until, k, o.Kustomization)
		f.Hint = fmt.Sprintf("move it to a Kustomization that depends on %s", k)
	}
	p.ReportBuilt(o, f)
}

// needs returns the objects in Git without which kcm refuses an object, each once.
func (r order) needs(o *reconcile.Object) []*reconcile.Object {
	var out []*reconcile.Object
	seen := map[*reconcile.Object]bool{}
	add := func(of *reconcile.Object, kind, namespace string, path ...any) {
		ref := reference(of, kind, namespace, path...)
		id := reconcile.Identity{Group: group, Kind: kind, Namespace: ref.Namespace, Name: ref.Name}
		need := r.All[id]
		if need == nil && id.Namespace != system {
			if is, _ := r.isDistributed(ref); is {
				id.Namespace = system
				need = r.All[id]
			}
		}
		if need != nil && !seen[need] && !r.mayBeCreated(need) {
			seen[need] = true
			out = append(out, need)
		}
	}
	switch o.Kind {
	case clusterChain, serviceChain:
		managed := o.Label("k0rdent.mirantis.com/managed") == "true" && o.Namespace != system
		if v := r.version(); managed || v != nil && v.Major() == 1 && v.Minor() < 6 {
			return nil
		}
		kind := map[string]string{clusterChain: clusterTemplate, serviceChain: serviceTemplate}[o.Kind]
		for i := range o.List("spec", "supportedTemplates") {
			add(o, kind, o.Namespace, "spec", "supportedTemplates", i, "name")
		}
	case clusterKind:
		add(o, clusterTemplate, o.Namespace, "spec", "template")
		add(o, credential, o.Namespace, "spec", "credential")
		serviceReferences(o, o.Namespace, add)
	}
	return out
}

// mayBeCreated reports whether kcm may have created a template before Flux applies it: kcm creates templates in its own
// namespace, with charts of its own repository.
func (r order) mayBeCreated(o *reconcile.Object) bool {
	if o.Kind == credential || o.Namespace != system || r.off("createTemplates") {
		return false
	}
	admitted := &reconcile.Object{Value: schemas.Admitted(o.Value)}
	return admitted.Text("spec", "helm", "chartSpec", "sourceRef", "name") == ownRepository
}
