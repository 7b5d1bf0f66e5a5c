package tenant

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/boundary"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Boundary is the rule tenant-boundary.
var Boundary = rule.Rule{
	ID:       "tenant-boundary",
	Title:    "an object of a tenant's repository that its platform does not allow",
	Severity: finding.Error,
	Why: `The platform decides what a tenant's accounts may do, in a repository that the tenant cannot change. The API server
refuses everything else when Flux applies it: a cluster-scoped object, a kind that the tenant's role does not
include or allows it only to read, another namespace, another service account or none, a source with another URL, a role
with more permissions than the tenant has, a host of another team. The Kustomization then applies nothing at all.

A TenantBoundary in the tenant's repository describes what is allowed: the folders that Flux applies, and the
namespaces, account, sources, kinds and hosts of their objects. fleetwright render writes it as .fleetwright-tenant.yaml;
a handwritten one may be in any file. With spec.admission, the admission policies of a generated tenant are also
evaluated, as in the API server. An invalid boundary is not used. Values with a variable may be unresolved.`,
	Fix: `Change the object to what the boundary allows, or ask the platform to allow more: its own check and its admission
policies decide, and a change of the boundary in the tenant's repository changes neither.`,
	Run: func(p *rule.Pass) {
		for _, b := range boundary.Find(p.Repo) {
			for _, e := range b.Errors {
				p.Report(finding.Finding{Place: finding.Place{File: e.File, Line: e.Line, Column: e.Column}, Object: rule.ObjectOf(b.Object),
					Message: "TenantBoundary " + b.Object.Name + ": " + strings.TrimPrefix(e.Field+": ", ": ") + e.Message, Hint: e.Hint})
			}
		}
		judges := map[*boundary.Boundary]*bounded{} // a boundary has a root for each of its paths
		for _, c := range p.Clusters() {
			b := c.Root.Boundary
			if b == nil {
				continue
			}
			if judges[b] == nil {
				judges[b] = newBounded(p, b, c)
			}
			judges[b].judgeAll(c)
		}
		for _, j := range judges {
			if j.policies != nil {
				j.policies.report(p)
			}
		}
	},
}

// bounded checks the objects of a tenant against the boundary that its platform sets.
type bounded struct {
	p    *rule.Pass
	name string
	spec *v1alpha1.TenantBoundarySpec
	// policies are the policies that the platform has for the tenant; nil if the boundary does not describe them.
	policies *admission
	// reported reports whether something was reported about the object that is being checked.
	reported bool
}

func (j *bounded) report(o *reconcile.Object, hint, message string, path ...any) {
	j.reported = true
	j.p.ReportBuilt(o, finding.Finding{Message: fmt.Sprintf("tenant %s: %s", j.name, message), Hint: hint}, path...)
}

func (j *bounded) unresolved(at finding.Place, reason string) {
	j.reported = true
	j.p.Unresolved(at, reason)
}

func newBounded(p *rule.Pass, b *boundary.Boundary, c *reconcile.Cluster) *bounded {
	j := &bounded{p: p, name: b.Metadata.Name, spec: &b.Spec}
	var err error
	if j.policies, err = j.admission(c); err != nil {
		p.Unresolved(c.Root.Place, "admission policies cannot be evaluated: "+err.Error())
	}
	return j
}

// judgeAll checks the objects of a tenant. It evaluates the admission policies for the objects about which nothing else
// is reported.
func (j *bounded) judgeAll(c *reconcile.Cluster) {
	for _, o := range c.Objects() {
		j.reported = false
		if j.judge(o); !j.reported && j.policies != nil {
			j.judgeAdmission(j.policies, o)
		}
	}
}

func (j *bounded) judge(o *reconcile.Object) {
	gv, err := apischema.ParseGroupVersion(o.APIVersion)
	if err != nil {
		return
	}
	switch {
	case isKnownClusterScoped(gv.WithKind(o.Kind)):
		j.report(o, "ask the platform to apply it, or use a kind that is in a namespace",
			fmt.Sprintf("%s belongs to the whole cluster, but the platform lets the tenant write only in its namespaces", o), "kind")
		return
	case !j.judgeKind(o, gv.WithKind(o.Kind)):
	case o.Namespace == "":
		j.report(o, "set metadata.namespace to "+j.namespaces(), fmt.Sprintf("%s has no namespace", o), "metadata", "name")
	default:
		j.judgeNamespace(o, o.Namespace, o.String()+" is in", "metadata", "namespace")
	}
	switch {
	case isReconciler(o):
		j.judgeReconciler(o)
	case o.Group == fluxapi.SourceGroup && sourceResources[o.Kind] != "":
		j.judgeURL(o)
	case o.Group == rbacGroup:
		j.judgeRights(o)
	case j.spec.Exposure != nil && exposes(o):
		j.judgeExposure(o)
	}
}

func (j *bounded) namespaces() string {
	return strings.Join(j.spec.Namespaces, " or ")
}

// judgeNamespace checks a namespace that an object names.
func (j *bounded) judgeNamespace(o *reconcile.Object, namespace, what string, path ...any) {
	if namespace != "" && !slices.Contains(j.spec.Namespaces, namespace) {
		j.report(o, "use "+j.namespaces(), fmt.Sprintf("%s namespace %s, which the platform does not let the tenant write", what, namespace), path...)
	}
}

// judgeReconciler checks the references of a Kustomization, HelmRelease or ResourceSet.
func (j *bounded) judgeReconciler(o *reconcile.Object) {
	switch account := o.Text("spec", "serviceAccountName"); {
	case o.Field("spec", "kubeConfig") != nil:
		j.report(o, "remove it", fmt.Sprintf("%s has spec.kubeConfig: the platform lets the tenant deploy to its own cluster only", o), "spec", "kubeConfig")
	case account == "":
		j.report(o, "set spec.serviceAccountName: "+j.spec.ServiceAccountName, fmt.Sprintf("%s has no serviceAccountName, which the platform requires", o), "spec", "serviceAccountName")
	case account != j.spec.ServiceAccountName:
		j.report(o, "set spec.serviceAccountName: "+j.spec.ServiceAccountName,
			fmt.Sprintf("%s has serviceAccountName %q, but the tenant's account is %q", o, account, j.spec.ServiceAccountName), "spec", "serviceAccountName")
	}
	for _, field := range []string{"targetNamespace", "storageNamespace"} {
		j.judgeNamespace(o, o.Text("spec", field), o.String()+" has spec."+field+", in", "spec", field)
	}
	for _, path := range [][]any{{"spec", "sourceRef"}, {"spec", "chartRef"}, {"spec", "chart", "spec", "sourceRef"}} {
		at := append(slices.Clone(path), "namespace")
		if namespace := o.Text(at...); namespace != "" && namespace != o.Namespace && (o.Namespace != "" || !slices.Contains(j.spec.Namespaces, namespace)) {
			j.report(o, "declare the source in namespace "+cmp.Or(o.Namespace, j.namespaces()), fmt.Sprintf("%s uses a source in namespace %s, which the platform refuses", o, namespace), at...)
		}
	}
}

// deceptive matches parts of a URL, such as "..", "?" or a second "//", because of which it may lead to another place
// than its prefix shows.
var deceptive = regexp.MustCompile(`[\s\\%?#]|//.*//|/\.\.?(/|$)`)

// judgeURL checks the URL of a source, as the admission policy of a generated tenant does.
func (j *bounded) judgeURL(o *reconcile.Object) {
	url, field := o.Text("spec", "url"), "url"
	if o.Kind == "Bucket" {
		scheme := "https://"
		if insecure, _ := o.Field("spec", "insecure").(bool); insecure {
			scheme = "http://"
		}
		url, field = scheme+o.Text("spec", "endpoint")+"/"+o.Text("spec", "bucketName"), "endpoint"
	}
	if strings.Contains(url, "${") {
		j.unresolved(o.Position("spec", field), fmt.Sprintf("cannot decide whether the platform allows the URL of %s: it has a variable", o))
		return
	}
	for _, allowed := range j.spec.Sources {
		if url == allowed || strings.HasSuffix(allowed, "/") && strings.HasPrefix(url, allowed) && !deceptive.MatchString(url) {
			return
		}
	}
	hint := "ask the platform to allow the URL: it allows none"
	if n := len(j.spec.Sources); n > 0 {
		hint = "the platform allows " + strings.Join(j.spec.Sources[:min(n, 5)], ", ")
		if n > 5 {
			hint += fmt.Sprintf(", and %d more", n-5)
		}
	}
	j.report(o, hint, fmt.Sprintf("%s has a URL that the platform does not allow", o), "spec", field)
}
