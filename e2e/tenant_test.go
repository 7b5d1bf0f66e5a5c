package e2e

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetwright/fleetwright/e2e/harness"
)

// A tenant is one of the cluster's tenants, with the properties of its sync on the cluster.
type tenant struct {
	name       string
	sync       string   // its sync namespace
	namespaces []string // the namespaces of its workloads
	source     *unstructured.Unstructured
}

// tenants returns the tenants of the cluster, found by the platform's label of namespaces.
func (s *site) tenants(t *testing.T) []*tenant {
	t.Helper()
	list, err := s.flux.Kube.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{LabelSelector: "toolkit.fluxcd.io/tenant"})
	must(t, err)
	var tenants []*tenant
	for _, namespace := range list.Items {
		name := namespace.Labels["toolkit.fluxcd.io/tenant"]
		if len(tenants) == 0 || tenants[len(tenants)-1].name != name {
			tenants = append(tenants, &tenant{name: name})
		}
		last := tenants[len(tenants)-1]
		if source := s.tenantSource(t, namespace.Name, name); source != nil {
			last.sync, last.source = namespace.Name, source
		} else {
			last.namespaces = append(last.namespaces, namespace.Name)
		}
	}
	return tenants
}

func (s *site) tenantSource(t *testing.T, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	for _, kind := range []string{"gitrepositories", "ocirepositories"} {
		resource := harness.GitRepositories
		resource.Resource = kind
		if got, err := s.flux.Any.Resource(resource).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{}); err == nil {
			return got
		}
	}
	return nil
}

func (t *tenant) field(path ...string) string {
	value, _, _ := unstructured.NestedString(t.source.Object, append([]string{"spec"}, path...)...)
	return value
}

// tenantSecrets does the part of the platform engineer once Flux has created the tenants'
// namespaces: it creates the key and the credentials of each in its sync namespace. The tenant
// whose source is an artifact publishes it.
func (s *site) tenantSecrets(t *testing.T) {
	t.Helper()
	harness.Eventually(t, patience, "the tenants' syncs are there", func(ctx context.Context) (bool, string) {
		k, err := s.flux.Any.Resource(harness.Kustomizations).Namespace("flux-system").Get(ctx, "tenants", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		return len(inventory(k)) > 0, "the Kustomization tenants has no inventory"
	})
	for _, tenant := range s.tenants(t) {
		if !s.fleet.Declares(tenant.sync, "sops-age") {
			s.secret(t, tenant.sync, "sops-age", map[string][]byte{"age.agekey": []byte(s.fleet.Key("tenants/" + tenant.name))})
		}
		address := tenant.field("url")
		switch name := tenant.field("secretRef", "name"); {
		case s.fleet.Declares(tenant.sync, name):
		case strings.HasPrefix(address, "oci://"):
			host := strings.Split(address, "/")[2]
			s.secret(t, tenant.sync, name, map[string][]byte{corev1.DockerConfigJsonKey: registryLogin(host, s.fleet.Internet.Grant(address))})
			s.secret(t, tenant.sync, tenant.field("verify", "secretRef", "name"), map[string][]byte{"cosign.pub": s.signer.PublicKey(t)})
			s.publish(t, tenant, nil, nil)
		case name != "":
			s.gitSecret(t, tenant.sync, name, address)
		default:
			s.fleet.Internet.Publish(address)
		}
	}
}

// publish adds files to those that the tenant's Kustomization applies, besides those of the starter, and others to the root of
// its repository or artifact.
func (s *site) publish(t *testing.T, tenant *tenant, applied, others map[string]string) {
	t.Helper()
	folder, resources := "base/", append(s.starterFiles(tenant.name), "config.yaml", "password.sops.yaml")
	files := map[string]string{}
	if tenant.source.GetKind() == "OCIRepository" {
		folder, resources = "clusters/production/", []string{"config.yaml"}
		files[folder+"config.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config\ndata:\n  from: artifact\n"
	}
	for name, content := range applied {
		files[folder+name] = content
	}
	resources = append(resources, slices.Sorted(maps.Keys(applied))...)
	files[folder+"kustomization.yaml"] = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- " + strings.Join(resources, "\n- ") + "\n"
	maps.Copy(files, others)
	if tenant.source.GetKind() == "OCIRepository" {
		harness.PushArtifact(t, s.fleet.Internet, tenant.field("url"), "1.0.0", files, s.signer)
		return
	}
	s.fleet.Put(tenant.field("url"), tenant.field("ref", "branch"), files)
}

// fetch makes Flux pull the tenant's source.
func (s *site) fetch(tenant *tenant) {
	resource := harness.GitRepositories
	if tenant.source.GetKind() == "OCIRepository" {
		resource = harness.OCIRepositories
	}
	s.flux.Reconcile(resource, tenant.sync, tenant.name)
}
