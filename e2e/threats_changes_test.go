package e2e

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/fleetwright/fleetwright/e2e/harness"
)

// A change is a merge patch by a tenant of an object of its own. A hold is a finalizer of the
// tenant: an object with one remains, being deleted, for as long as the tenant wants.
type change struct {
	line, what string
	who        grant
	object     string // the name of a subject
	deleted    bool   // the object is being deleted
	status     bool   // the patch changes the status
	patch      string
	by         refusedBy
}

const hold = "example.com/hold"

// subjects are the objects that are changed, which the specification allows.
var subjects = map[string]string{
	"source":        own(""),
	"artifact":      oci(""),
	"repository":    repository(""),
	"bucket":        bucket(""),
	"kustomization": kustomization(asOwn + ownSource),
	"release":       helmRelease(asOwn + ownChart),
	"resourceset":   resourceSet(asOwn),
	"external":      fluxObject("source.toolkit.fluxcd.io/v1", "ExternalArtifact", ""),
	"generator":     generator(`{alias: web, kind: OWNKIND, name: web}`),
	"image":         imageRepository(`image: "CHARTIMAGE"`),
	"alert":         alert(`{kind: Kustomization, name: "*"}`),
	"service":       service(""),
	"ingress":       ingress(served("HOST")),
	"route":         route("HTTPRoute", `"HOST"`),
	"config":        `{apiVersion: v1, kind: ConfigMap, data: {a: b}}`,
}

const (
	attackersArtifact = `{"status":{"artifact":{"url":"http://evil.example.com/a.tar.gz","path":"a","revision":"main@sha1:0","digest":"sha256:0","lastUpdateTime":"2026-01-01T00:00:00Z"}}}`
	letGo             = `{"metadata":{"finalizers":null}}`
)

// changes are tried on every subject that they name.
var changes = []change{
	{"S1", "the address of a source", accounts, "source", false, false, `{"spec":{"url":"EVILURL"}}`, byPolicy},
	{"S1", "how often a source is pulled", accounts, "source", false, false, `{"spec":{"interval":"2h"}}`, admitted},
	{"S5", "a proxy for a source", accounts, "source", false, false, `{"spec":{"proxySecretRef":{"name":"proxy"}}}`, byPolicy},
	{"S10", "the artifact of a source", admins, "source", false, true, attackersArtifact, byPolicy},
	{"S10", "the artifact of a chart", admins, "artifact", false, true, attackersArtifact, byPolicy},
	{"S10", "the artifact of a Helm repository", admins, "repository", false, true, attackersArtifact, byPolicy},
	{"S10", "the artifact of a bucket", admins, "bucket", false, true, attackersArtifact, byPolicy},
	{"S11", "an artifact from elsewhere", admins, "external", false, true, attackersArtifact, byPolicy},
	{"S12", "the artifact of a source that is deleted", admins, "source", true, true, attackersArtifact, byPolicy},
	{"S12", "the artifact of a chart that is deleted", admins, "artifact", true, true, attackersArtifact, byPolicy},
	{"S12", "an artifact from elsewhere that is deleted", admins, "external", true, true, attackersArtifact, byPolicy},
	{"S13", "the address of a source that is deleted", accounts, "source", true, false, `{"spec":{"url":"EVILURL"}}`, byPolicy},
	{"S13", "the branch of a source that is deleted", accounts, "source", true, false, `{"spec":{"ref":{"branch":"BRANCH","name":"refs/heads/main"}}}`, byPolicy},
	{"S13", "a proxy for a source that is deleted", accounts, "source", true, false, `{"spec":{"proxySecretRef":{"name":"proxy"}}}`, byPolicy},
	{"S13", "a proxy for a chart that is deleted", accounts, "artifact", true, false, `{"spec":{"proxySecretRef":{"name":"proxy"}}}`, byPolicy},
	{"S13", "the identity of a Helm repository that is deleted", accounts, "repository", true, false, `{"spec":{"provider":"aws"}}`, byPolicy},
	{"S13", "the endpoint of a bucket that is deleted", accounts, "bucket", true, false, `{"spec":{"endpoint":"169.254.169.254"}}`, byPolicy},
	{"S13", "any image, of an ImageRepository that is deleted", admins, "image", true, false, `{"spec":{"image":"registry.example.com/anybody/anything"}}`, byPolicy},
	{"S13", "the labels of a source that is deleted", accounts, "source", true, false, `{"metadata":{"labels":{"a":"b"}}}`, admitted},
	{"S13", "the end of a source", accounts, "source", true, false, letGo, admitted},
	{"S13", "the end of a bucket", accounts, "bucket", true, false, letGo, admitted},
	{"S14", "the account of a Kustomization that is deleted", accounts, "kustomization", true, false, `{"spec":{"serviceAccountName":"kustomize-controller"}}`, byPolicy},
	{"S14", "no account of a Kustomization that is deleted", accounts, "kustomization", true, false, `{"spec":{"serviceAccountName":null}}`, byPolicy},
	{"S14", "the cluster of a Kustomization that is deleted", accounts, "kustomization", true, false, `{"spec":{"kubeConfig":{"secretRef":{"name":"evil"}}}}`, byPolicy},
	{"S14", "the source of a Kustomization that is deleted", accounts, "kustomization", true, false, `{"spec":{"sourceRef":{"namespace":"flux-system"}}}`, byPolicy},
	{"S14", "the account of a HelmRelease that is deleted", accounts, "release", true, false, `{"spec":{"serviceAccountName":"helm-controller"}}`, byPolicy},
	{"S14", "the cluster of a HelmRelease that is deleted", accounts, "release", true, false, `{"spec":{"kubeConfig":{"secretRef":{"name":"evil"}}}}`, byPolicy},
	{"S14", "no account of a ResourceSet that is deleted", admins, "resourceset", true, false, `{"spec":{"serviceAccountName":null}}`, byPolicy},
	{"S14", "the end of a Kustomization", accounts, "kustomization", true, false, letGo, admitted},
	{"S14", "the end of a HelmRelease", accounts, "release", true, false, letGo, admitted},
	{"R7", "the dependency of a Kustomization that is deleted", accounts, "kustomization", true, false, `{"spec":{"dependsOn":[{"name":"a","namespace":"flux-system","readyExpr":"true"}]}}`, byPolicy},
	{"R7", "the dependency of a HelmRelease that is deleted", accounts, "release", true, false, `{"spec":{"dependsOn":[{"name":"a","namespace":"flux-system","readyExpr":"true"}]}}`, byPolicy},
	{"R8", "the events of another namespace, of an Alert that is deleted", admins, "alert", true, false, `{"spec":{"eventSources":[{"kind":"Kustomization","name":"*","namespace":"flux-system"}]}}`, byPolicy},
	{"R14", "what an ArtifactGenerator deletes", admins, "generator", false, true, `{"status":{"inventory":[{"name":"web","namespace":"flux-system","digest":"sha256:0","filename":"a"}]}}`, byPolicy},
	{"R14", "what an ArtifactGenerator that is deleted deletes", admins, "generator", true, true, `{"status":{"inventory":[{"name":"web","namespace":"flux-system","digest":"sha256:0","filename":"a"}]}}`, byPolicy},
	{"R15", "what a Kustomization deletes", admins, "kustomization", false, true, `{"status":{"inventory":{"entries":[{"id":"flux-system_cluster-vars__ConfigMap","v":"v1"}]}}}`, byPolicy},
	{"R15", "what a Kustomization that is deleted deletes", admins, "kustomization", true, true, `{"status":{"inventory":{"entries":[{"id":"flux-system_cluster-vars__ConfigMap","v":"v1"}]}}}`, byPolicy},
	{"R15", "what a HelmRelease has installed", admins, "release", false, true, `{"status":{"storageNamespace":"flux-system"}}`, byPolicy},
	{"R15", "what an ImageRepository has found", admins, "image", false, true, `{"status":{"canonicalImageName":"evil.example.com/web"}}`, byPolicy},
	{"H1", "the address of a Service that is deleted", accounts, "service", true, false, `{"spec":{"externalIPs":["192.0.2.1"]}}`, byPolicy},
	{"H1", "an address of somebody else's for a Service", accounts, "service", false, false, `{"spec":{"externalIPs":["192.0.2.1"]}}`, byPolicy},
	{"H3", "a Service as a load balancer", accounts, "service", false, false, `{"spec":{"type":"LoadBalancer"}}`, byQuota},
	{"H3", "a Service as a port of every node", accounts, "service", false, false, `{"spec":{"type":"NodePort"}}`, byQuota},
	{"H4", "a Service as another's name", accounts, "service", false, false, `{"spec":{"type":"ExternalName","externalName":"kubernetes.default.svc","clusterIP":null,"clusterIPs":null}}`, byPolicy},
	{"H15", "the host of an Ingress that is deleted", accounts, "ingress", true, false, `{"spec":{"rules":[{"host":"OTHERHOST"}]}}`, byPolicy},
	{"H15", "an alias of an Ingress that is deleted", accounts, "ingress", true, false, `{"metadata":{"annotations":{"nginx.ingress.kubernetes.io/server-alias":"OTHERHOST"}}}`, byPolicy},
	{"H15", "the hosts of a route that is deleted", accounts, "route", true, false, `{"spec":{"hostnames":["OTHERHOST"]}}`, byPolicy},
	{"H15", "the end of an Ingress", accounts, "ingress", true, false, letGo, admitted},
	{"H15", "the end of a Service", accounts, "service", true, false, letGo, admitted},
	{"H16", "the addresses of a Service", nobody, "service", false, true, `{"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}}`, admitted},
	{"H16", "the addresses of an Ingress", nobody, "ingress", false, true, `{"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}}`, admitted},
	{"Z8", "the end of a ConfigMap", accounts, "config", true, false, letGo, admitted},
}

// changed tries the changes as the tenant's accounts and, if the tenant's profile does not allow the
// change, as the administrator. Two objects of each subject exist for it, one of which is being deleted.
func (s *site) changed(t *testing.T, tenant *tenant, all []*tenant) {
	names, profile := s.names(tenant, all), s.fleet.Profile(tenant.name)
	there := map[string]bool{}
	for name, subject := range subjects {
		if text, ok := names.replace(subject); ok {
			s.subject(t, tenant.namespaces[0], "kept-"+name, text, false)
			s.subject(t, tenant.namespaces[0], "deleted-"+name, text, true)
			there[name] = true
		}
	}
	refused, count := 0, 0
	for _, c := range changes {
		if !there[c.object] {
			continue
		}
		text, _ := names.replace(subjects[c.object])
		patch, ok := names.replace(c.patch)
		if !ok {
			continue
		}
		name, subresources := "kept-"+c.object, []string(nil)
		if c.deleted {
			name = "deleted-" + c.object
		}
		if c.status {
			subresources = []string{"status"}
		}
		for account, client := range s.impersonators(t, tenant) {
			by := c.by
			if !may(c.who, account, tenant.name, profile) && account != administrator {
				by = byRole
			}
			resource := s.resourceOf(t, client, text, tenant.namespaces[0])
			_, err := resource.Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, subresources...)
			if problem := by.judge(err); problem != "" && !(account == administrator && c.who == nobody) {
				t.Errorf("%s: %s, as %s: %s", c.line, c.what, account.User(), problem)
			}
			count++
			if by != admitted {
				refused++
			}
		}
	}
	s.proved(t, "%d changes of its own objects and their status, being deleted or not: %d admitted, %d refused", count, count-refused, refused)
}

// subject creates an object for the changes, which is deleted with the test.
func (s *site) subject(t *testing.T, namespace, name, text string, deleted bool) {
	t.Helper()
	object := harness.Objects(t, []byte(text))[0]
	object.SetName(name)
	object.SetNamespace(namespace)
	if deleted {
		object.SetFinalizers([]string{hold})
	}
	if err := s.flux.Client.Apply(t.Context(), object); err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	resource := s.resourceOf(t, s.flux.Client, text, namespace)
	if deleted {
		must(t, resource.Delete(t.Context(), name, metav1.DeleteOptions{}))
	}
	t.Cleanup(func() {
		ctx := context.Background()
		if err := resource.Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
		if !deleted {
			return
		}
		_, err := resource.Patch(ctx, name, types.JSONPatchType, fmt.Appendf(nil, `[{"op":"remove","path":"/metadata/finalizers"}]`), metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("%s cannot be let go: %v", name, err)
		}
	})
}

func (s *site) resourceOf(t *testing.T, client harness.Client, text, namespace string) dynamic.ResourceInterface {
	t.Helper()
	resource, err := client.Resource(harness.Objects(t, []byte(text))[0].GroupVersionKind(), namespace)
	must(t, err)
	return resource
}
