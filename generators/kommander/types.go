package kommander

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/generators/emit"
)

// API versions of the generated objects.
const (
	certManager = "cert-manager.io/v1"
	apps        = "apps.kommander.d2iq.io/v1alpha3"
	clusters    = "kommander.mesosphere.io/v1beta1"
	workspaces  = "workspaces.kommander.mesosphere.io/v1alpha1"
	dispatch    = "dispatch.d2iq.io/v1alpha2"
	templates   = "templates.gatekeeper.sh/v1"
	constraints = "constraints.gatekeeper.sh/v1beta1"
)

type (
	metadata = emit.Metadata
	object   = emit.Object
)

func newObject(apiVersion, kind string, m metadata, s any) object {
	return object{APIVersion: apiVersion, Kind: kind, Metadata: m, Spec: s}
}

// spec is the spec of an object whose kind has no Go type here.
type spec = map[string]any

func configMap(m metadata, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: m.Name, Namespace: m.Namespace},
		Data:       data,
	}
}

// watched labels a ConfigMap so that Flux reacts to its changes immediately.
func watched(cm *corev1.ConfigMap) *corev1.ConfigMap {
	cm.Labels = map[string]string{"reconcile.fluxcd.io/watch": "Enabled"}
	return cm
}

// kept annotates the metadata of an object so that the object stays on the cluster after it is removed from
// Git.
func kept(m metadata) metadata {
	m.Annotations = map[string]string{emit.AnnotationPrune: emit.Disabled}
	return m
}

// name returns a reference to an object by its name.
func name(n string) spec { return spec{"name": n} }
