package harness

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// FluxKinds returns the definitions of every kind of Flux and of the Flux Operator, and the roles
// that the operator's chart adds to Kubernetes' own. They are in the operator's module, beside
// the manifests that FLUX_MANIFESTS names.
//
// https://github.com/controlplaneio-fluxcd/charts/blob/main/charts/flux-operator/templates/aggregate-clusterroles.yaml
func FluxKinds(t testing.TB) []*unstructured.Unstructured {
	t.Helper()
	manifests := os.Getenv("FLUX_MANIFESTS")
	objects := Objects(t, []byte(operatorRole))
	for _, pattern := range []string{
		filepath.Join(manifests, "*.yaml"),
		filepath.Join(manifests, "..", "..", "..", "crd", "bases", "*.yaml"),
	} {
		files, err := filepath.Glob(pattern)
		must(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			must(t, err)
			objects = append(objects, Objects(t, text)...)
		}
	}
	return slices.DeleteFunc(objects, func(object *unstructured.Unstructured) bool {
		return object.GetKind() != "CustomResourceDefinition" && object.GetName() != operatorRoleName
	})
}

const operatorRoleName = "flux-operator-edit"

const operatorRole = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: ` + operatorRoleName + `
  labels:
    rbac.authorization.k8s.io/aggregate-to-admin: "true"
    rbac.authorization.k8s.io/aggregate-to-edit: "true"
rules:
  - apiGroups: [fluxcd.controlplane.io]
    resources: [resourcesets, resourcesetinputproviders]
    verbs: [get, list, watch, create, delete, deletecollection, patch, update]
`

// GatewayKinds returns definitions of the Gateway API's kinds that accept any field.
func GatewayKinds() []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for kind, version := range map[string]string{
		"Gateway": "v1", "HTTPRoute": "v1", "GRPCRoute": "v1", "TLSRoute": "v1", "ListenerSet": "v1", "ReferenceGrant": "v1beta1",
	} {
		objects = append(objects, definition(schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: version, Kind: kind}, false))
	}
	return objects
}

// CertManagerKinds returns definitions of the kinds of cert-manager that a policy judges; they accept any field.
func CertManagerKinds() []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for kind, group := range map[string]string{
		"Certificate": "cert-manager.io", "CertificateRequest": "cert-manager.io", "Order": "acme.cert-manager.io", "Challenge": "acme.cert-manager.io",
	} {
		objects = append(objects, definition(schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}, false))
	}
	return objects
}
