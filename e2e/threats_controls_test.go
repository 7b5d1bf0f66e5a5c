package e2e

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetwright/fleetwright/e2e/harness"
)

// unprotected is a namespace of no tenant, without policies.
const unprotected = "unprotected"

// controls shows that the attacks that admission refuses a tenant work where no policy refuses them: in a
// namespace of no tenant, the administrator does with the real controllers what the tenant would.
func (s *site) controls(t *testing.T) {
	namespaces := s.flux.Kube.CoreV1().Namespaces()
	_, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: unprotected}}, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() { must(t, namespaces.Delete(context.Background(), unprotected, metav1.DeleteOptions{})) })
	t.Run("proxy", s.proxied)
	t.Run("deleted", s.deletedSource)
	t.Run("privileged", s.privileged)
	t.Run("read", s.readByExpression)
	t.Run("asked", s.asked)
}

// put applies an object to the unprotected namespace, as the administrator.
func (s *site) put(t *testing.T, name, text string) {
	t.Helper()
	object := harness.Objects(t, []byte(text))[0]
	object.SetName(name)
	object.SetNamespace(unprotected)
	must(t, s.flux.Client.Apply(t.Context(), object))
}

func kustomizationOf(more string) string {
	return fluxObject("kustomize.toolkit.fluxcd.io/v1", "Kustomization",
		hourly+`prune: true, deletionPolicy: Orphan, targetNamespace: unprotected, sourceRef: {kind: GitRepository, name: web}, path: ./planted, `+more)
}

// watchedSource returns a source that source-controller fetches.
func watchedSource(kind, spec string) string {
	return fluxObject("source.toolkit.fluxcd.io/v1", kind, hourly+spec)
}

// proxied makes source-controller fetch an allowed address from the attacker's server: through a
// proxy, with a trusted authority of the attacker.
func (s *site) proxied(t *testing.T) {
	url := s.fleet.PlatformURL()
	evil := harness.StartInternet(t, strings.Split(url, "/")[2])
	dir := evil.NewRepository(url)
	evil.Publish(url)
	harness.Seed(t, dir, map[string]string{"planted/planted.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: evil}}"})
	s.secret(t, unprotected, "proxy", map[string][]byte{"address": []byte(evil.Proxy())})
	s.secret(t, unprotected, "authority", map[string][]byte{"ca.crt": evil.Authority(), "username": []byte("git"), "password": []byte("any")})
	s.put(t, "evil", watchedSource("GitRepository", fmt.Sprintf("url: %q, ref: {branch: main}, secretRef: {name: authority}, proxySecretRef: {name: proxy}", url)))
	s.put(t, "proxied", strings.Replace(kustomizationOf(""), "name: web", "name: evil", 1))
	s.flux.Says(unprotected, "proxied", false, `configmaps "evil" is forbidden`)
	s.proved(t, "where there is no policy, a proxy and an authority of the attacker's make Flux apply what an allowed address doesn't hold")
}

// deletedSource writes the status of a source that a finalizer holds.
func (s *site) deletedSource(t *testing.T) {
	files := harness.Archive(t, map[string]string{"planted/planted.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: held}}"})
	remote := harness.StartRemote(t, map[string]string{"a.tar.gz": string(files)})
	s.put(t, "held", strings.Replace(git("https://git.example.com/anybody/anything"), "spec: {", "metadata: {finalizers: ["+hold+"]}, spec: {", 1))
	sources := s.flux.Any.Resource(harness.GitRepositories).Namespace(unprotected)
	must(t, sources.Delete(t.Context(), "held", metav1.DeleteOptions{}))
	status := fmt.Sprintf(`{"status":{"artifact":{"url":%q,"path":"a.tar.gz","revision":"main@sha1:1","digest":"sha256:%x","lastUpdateTime":"2026-01-01T00:00:00Z"}}}`,
		remote.URL+"/a.tar.gz", sha256.Sum256(files))
	s.put(t, "deleted", strings.Replace(kustomizationOf(""), "name: web", "name: held", 1))
	harness.Eventually(t, patience, "Flux applies the attacker's artifact", func(ctx context.Context) (bool, string) {
		_, err := sources.Patch(ctx, "held", types.MergePatchType, []byte(status), metav1.PatchOptions{}, "status")
		must(t, err)
		s.flux.Nudge(harness.Kustomizations, unprotected, "deleted")
		message := s.flux.Message(unprotected, "deleted")
		return strings.Contains(message, `configmaps "held" is forbidden`), message
	})
	_, err := sources.Patch(t.Context(), "held", types.MergePatchType, []byte(letGo), metav1.PatchOptions{})
	must(t, err)
	s.proved(t, "where there is no policy, the status of a source that is deleted makes Flux apply what the attacker serves")
}

// readByExpression reads the path of the platform's Kustomization with readyExpr, as the controller
// (R3): a Kustomization with the right guess becomes ready, and one with a wrong guess reports that it waits.
func (s *site) readByExpression(t *testing.T) {
	remote := harness.StartRemote(t, map[string]string{"planted/planted.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: planted}}"})
	s.put(t, "web", watchedSource("GitRepository", fmt.Sprintf("url: %q, ref: {branch: main}", remote.URL+"/base.git")))
	platform, err := s.flux.Any.Resource(harness.Kustomizations).Namespace("flux-system").Get(t.Context(), "flux-system", metav1.GetOptions{})
	must(t, err)
	path, _, err := unstructured.NestedString(platform.Object, "spec", "path")
	must(t, err)
	for guess, says := range map[string]string{path: `configmaps "planted" is forbidden`, "./elsewhere": "is not ready according to readyExpr"} {
		name := fmt.Sprintf("guess-%x", sha256.Sum256([]byte(guess)))[:20]
		s.put(t, name, kustomizationOf(fmt.Sprintf("dependsOn: [{name: flux-system, namespace: flux-system, readyExpr: %q}]", "dep.spec.path == '"+guess+"'")))
		s.flux.Says(unprotected, name, false, says)
	}
	s.proved(t, "where there is no policy, readyExpr says whether a guess about the platform's Kustomization is right")
}

// asked makes source-controller send requests to an address of the attacker: for a Bucket's
// credentials (S7), to the GitHub server that a Secret names (S8), and without TLS (S9).
func (s *site) asked(t *testing.T) {
	remote := harness.StartRemote(t, map[string]string{"a": "a"})
	host := strings.TrimPrefix(remote.URL, "http://")
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	s.secret(t, unprotected, "app", map[string][]byte{
		"githubAppID": []byte("1"), "githubAppInstallationID": []byte("1"), "githubAppBaseURL": []byte(remote.URL + "/github"),
		"githubAppPrivateKey": pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
	})
	s.secret(t, unprotected, "keys", map[string][]byte{"accesskey": []byte("a"), "secretkey": []byte("b")})
	for name, c := range map[string]struct{ kind, spec, asks string }{
		"sts":      {"Bucket", fmt.Sprintf("endpoint: %q, bucketName: any, insecure: true, sts: {provider: ldap, endpoint: %q}", host, remote.URL+"/sts"), "POST /sts"},
		"provider": {"GitRepository", `url: "https://git.example.com/anybody/anything", provider: github, secretRef: {name: app}`, "/app/installations/1/access_tokens"},
		"insecure": {"Bucket", fmt.Sprintf("endpoint: %q, bucketName: plain, insecure: true, secretRef: {name: keys}", host), "GET /plain/"},
	} {
		s.put(t, name, watchedSource(c.kind, c.spec))
		harness.Eventually(t, patience, "source-controller asks for "+c.asks, func(context.Context) (bool, string) {
			asked := remote.Asked()
			return slices.ContainsFunc(asked, func(r string) bool { return strings.Contains(r, c.asks) }), strings.Join(asked, ", ")
		})
	}
	s.proved(t, "where there is no policy, source-controller asks the attacker's address: for credentials, as a GitHub, and without TLS")
}

// privileged shows what a namespace without a pod security level admits.
func (s *site) privileged(t *testing.T) {
	err := s.bring(t, s.flux.Client, unprotected, `{apiVersion: v1, kind: Pod, spec: {hostPID: true, containers: [{name: web, image: web, securityContext: {privileged: true}}]}}`)
	if err != nil {
		t.Errorf("a privileged pod, where pod security lets it pass: %v", err)
	}
}

// waits shows the remaining threat of line Z13: while the build of one tenant waits for a host that never
// answers, no other Kustomization is built, since all builds share one lock.
// https://github.com/fluxcd/pkg/blob/kustomize/v1.35.6/kustomize/kustomize_generator.go
func (s *site) waits(t *testing.T, tenant *tenant) {
	remote := harness.StartRemote(t, map[string]string{"file.yaml": ""})
	s.publish(t, tenant, nil, map[string]string{"waits/kustomization.yaml": `resources: ["` + remote.URL + `/never"]`})
	s.fetch(tenant)
	s.kustomization(t, tenant, tenant.sync, "waits", func(spec map[string]any) { spec["path"], spec["deletionPolicy"] = "./waits", "Orphan" })
	harness.Eventually(t, patience, "kustomize-controller asks for the file", func(context.Context) (bool, string) {
		return slices.Contains(remote.Asked(), "GET /never"), "it has not asked"
	})
	asked := s.flux.Nudge(harness.Kustomizations, "flux-system", "flux-system")
	time.Sleep(3 * time.Second) // a build takes less
	if s.flux.HasHandled(harness.Kustomizations, "flux-system", "flux-system", asked) {
		t.Error("other Kustomizations are built meanwhile: docs/tenants.md says less than it may")
	}
	remote.Answer()
	s.flux.Handled(harness.Kustomizations, "flux-system", "flux-system", asked)
	must(t, s.flux.Any.Resource(harness.Kustomizations).Namespace(tenant.sync).Delete(t.Context(), "waits", metav1.DeleteOptions{}))
	s.publish(t, tenant, nil, nil)
	s.fetch(tenant)
	s.proved(t, "a host that never answers a tenant's build holds up every other build")
}

// networks compares the network policies of each workload namespace with docs/tenants.md:
// all pods are closed, and the policies that open them name no other namespaces than the DNS and those
// of the specification.
func (s *site) networks(t *testing.T) {
	for _, tenant := range s.tenants(t) {
		for _, namespace := range tenant.namespaces {
			closed, err := s.flux.Kube.NetworkingV1().NetworkPolicies(namespace).Get(t.Context(), "default-deny", metav1.GetOptions{})
			must(t, err)
			if spec := closed.Spec; len(spec.PodSelector.MatchLabels)+len(spec.PodSelector.MatchExpressions)+len(spec.Ingress)+len(spec.Egress) > 0 || len(spec.PolicyTypes) != 2 {
				t.Errorf("%s/default-deny does not close every pod: %+v", namespace, spec)
			}
		}
	}
}
