package k0rdent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/kcm"
	"github.com/fleetwright/fleetwright/internal/otherfiles"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ResourceTemplateMissing is k0rdent-resource-template-missing.
var ResourceTemplateMissing = rule.Rule{
	ID:       "k0rdent-resource-template-missing",
	Title:    "a cluster that gets no configuration for its cloud",
	Severity: finding.Warning,
	Why: `Unless propagateCredentials of a ClusterDeployment is false, kcm instructs Sveltos to render the ConfigMap
<identity>-resource-template in the cluster. The cloud controller and the storage driver read the result. Sveltos looks for
the ConfigMap in the namespace of the cluster, whatever the namespace of the identity is. If it does not exist, Sveltos
reports a failure that it does not retry, and the cluster gets no configuration: in Azure, Google Cloud, OpenStack and
vSphere its nodes wait for their cloud controller.

The rule checks clusters with an identity of Azure, vSphere or OpenStack, and those of kcm's own templates for Google
Cloud and OpenStack. Clusters in AWS, KubeVirt and Docker, adopted and remote clusters, and those whose control plane
the cloud runs (EKS, AKS, GKE) need no such configuration.

If Git has no such ConfigMap for any credential, they are created by hand and the reference is unresolved. It is also
unresolved in the cluster of a region, in a namespace to which a chart installs, and if a script mentions the ConfigMap.`,
	Fix: `Add the ConfigMap with the annotation projectsveltos.io/template: "true" to the namespace of the cluster, as described in k0rdent's
documentation of the provider. If the cluster needs no configuration, set propagateCredentials: false.`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			var references []platform.Reference
			for _, o := range w.Of(clusterKind) {
				if r, needed := w.resourceTemplate(o); needed && !w.Has(r) {
					references = append(references, r)
				}
			}
			if len(references) > 0 {
				w.withoutTemplate(p, references)
			}
		}
	},
}

// templateSuffix is the suffix of the ConfigMap that Sveltos renders, after the name of the identity (kcm v1.6.0 to
// v1.12.0-rc2, internal/controller/adapters/sveltos/serviceset_controller.go, projectPolicyRefs).
const templateSuffix = "-resource-template"

// withoutTemplate reports the clusters whose ConfigMap is not in Git.
func (w *managementCluster) withoutTemplate(p *rule.Pass, references []platform.Reference) {
	names := map[string]bool{}
	for _, r := range references {
		names[r.Name] = true
	}
	spoken := otherfiles.Mentions(p.Repo, names, true)
	held := slices.ContainsFunc(w.Objects, func(o *reconcile.Object) bool {
		return o.Kind == "ConfigMap" && strings.HasSuffix(o.Name, templateSuffix)
	})
	for _, r := range references {
		if doubt := w.templateDoubt(r, held, spoken); doubt != "" {
			p.UnresolvedFor(r.From.Position(r.Path...), fmt.Sprintf("whether %s, which %s propagates, exists", r, r.From), doubt)
			continue
		}
		p.ReportBuilt(r.From, finding.Finding{
			Message: fmt.Sprintf("%s propagates its credential, but %s does not exist: Sveltos fails, and the cluster gets no configuration for its cloud controller", r.From, r),
			Hint:    "add the ConfigMap, or propagateCredentials: false if the cluster needs none",
		}, r.Path...)
	}
}

// templateDoubt returns the reason why a ConfigMap that is not in Git may exist, "" if there is none.
func (w *managementCluster) templateDoubt(r platform.Reference, held bool, spoken map[string]string) string {
	switch doubt := w.Doubt(r); {
	case doubt != "":
		return doubt
	case w.credentialOf(r.From).Text("spec", "region") != "":
		return "Sveltos looks for it in the cluster of the region"
	case !held:
		return "Git has no such ConfigMap at all"
	case spoken[r.Name] != "":
		return spoken[r.Name] + " mentions it"
	case w.charts[r.Namespace] != nil:
		return "the chart of " + w.charts[r.Namespace].String() + " may create it"
	}
	return ""
}

// resourceTemplate returns the reference to the ConfigMap that Sveltos renders in a cluster. needed reports whether the
// cluster's cloud controller needs it.
func (w *managementCluster) resourceTemplate(cluster *reconcile.Object) (r platform.Reference, needed bool) {
	cred := w.credentialOf(cluster)
	if cred == nil || cluster.Field("spec", "propagateCredentials") != nil && cluster.Field("spec", "propagateCredentials") != true ||
		cluster.Field("spec", "dryRun") == true {
		return r, false
	}
	identity := identityOf(cred)
	if identity.Name == "" || !w.needsConfiguration(cluster, identity.Kind) {
		return r, false
	}
	return platform.Reference{
		From: cluster, Kind: "ConfigMap", Namespace: cmp.Or(cluster.Namespace, system), Name: identity.Name + templateSuffix,
		Path: []any{"spec", "credential"},
	}, true
}

// needsConfiguration reports whether the cloud controller of a cluster reads the propagated configuration
// (docs/admin/installation/prepare-mgmt-cluster of https://github.com/k0rdent/docs).
func (w *managementCluster) needsConfiguration(cluster *reconcile.Object, identity string) bool {
	needs, known := w.needs(cluster)
	if known && !slices.ContainsFunc(needs, func(p string) bool { return strings.HasPrefix(p, "control-plane-") }) {
		return false // the cloud runs the control plane, or the cluster is adopted
	}
	switch identity {
	case "AzureClusterIdentity", "OpenStackClusterIdentity", "VSphereClusterIdentity":
		return true
	case "Secret":
		return slices.Contains(needs, kcm.Infrastructure+"gcp") || slices.Contains(needs, kcm.Infrastructure+"openstack")
	}
	return false
}
