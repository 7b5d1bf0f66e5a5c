package builds

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// rare are the kinds whose references kustomize reads in special ways. A lister leaves them to kustomize.
// Source: sigs.k8s.io/kustomize/api v0.21 internal/konfig/builtinpluginconsts.
var rare = setOf("APIService", "MutatingWebhookConfiguration", "Node", "PersistentVolume", "StorageClass", "ValidatingWebhookConfiguration")

// bindings are the kinds whose subjects kustomize changes even if no name changes: it sets the namespace of a
// ServiceAccount that had several ids.
var bindings = setOf("ClusterRoleBinding", "RoleBinding")

const serviceAccount = "ServiceAccount"

// referrers are the other kinds whose fields refer to objects by kustomize's defaults. kustomize reads
// all of these fields, and refuses an object in which they have a wrong type.
var referrers = setOf("ClusterRole", "CronJob", "DaemonSet", "Deployment", "HorizontalPodAutoscaler", "Ingress", "Job",
	"PersistentVolumeClaim", "Pod", "PodTemplate", "ReplicaSet", "ReplicationController", "Role", "Service", serviceAccount,
	"StatefulSet", "ValidatingAdmissionPolicyBinding")

// onTheWay are the fields on the paths to references; each is a map, a list of maps or missing.
// references are the fields with the names: strings or lists of strings.
var onTheWay, references = setOf("spec", "template", "jobTemplate", "metadata", "annotations", "volumes", "configMap", "secret",
	"persistentVolumeClaim", "projected", "sources", "containers", "initContainers", "env", "envFrom", "valueFrom", "configMapKeyRef",
	"configMapRef", "secretKeyRef", "secretRef", "imagePullSecrets", "volumeClaimTemplates", "rules", "tls", "http", "paths",
	"backend", "service", "defaultBackend", "scaleTargetRef", "roleRef"),
	setOf("name", "secretName", "serviceName", "serviceAccountName", "priorityClassName", "claimName", "storageClassName",
		"volumeName", "ingressClassName", "policyName", "resourceNames", "ingress.kubernetes.io/auth-secret",
		"nginx.ingress.kubernetes.io/auth-secret", "nginx.ingress.kubernetes.io/auth-tls-secret",
		"nginx.ingress.kubernetes.io/fastcgi-params-configmap")

// selecting are the fields that contain labels and no references, whatever the keys are.
var selecting = setOf("labels", "matchLabels", "selector")

func setOf(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// keepsReferences reports whether kustomize certainly leaves the references in an object of a kind unchanged: a lister
// changes no names.
func keepsReferences(kind string, n *yaml.Node) bool {
	switch {
	case rare[kind]:
		return false
	case bindings[kind]:
		return regular(n) && bindsRegularly(n)
	}
	return !referrers[kind] || regular(n)
}

// bindsRegularly reports whether the subjects of a binding all have the right type.
func bindsRegularly(n *yaml.Node) bool {
	subjects := repository.Lookup(n, "subjects")
	if subjects == nil {
		return true
	}
	return subjects.Kind == yaml.SequenceNode && !slices.ContainsFunc(subjects.Content, func(subject *yaml.Node) bool {
		for _, field := range []string{"kind", "name", "namespace"} {
			value := repository.Lookup(subject, field)
			if value == nil && field == "namespace" {
				continue
			}
			if value == nil || value.ShortTag() != "!!str" || value.Value == "" {
				return true
			}
		}
		return false
	})
}

// regular reports whether the references, and the fields on the paths to them, all have the right
// type.
func regular(n *yaml.Node) bool {
	switch n.Kind {
	case yaml.AliasNode:
		return false
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, value := n.Content[i].Value, n.Content[i+1]
			if onTheWay[name] && (value.Kind != yaml.ScalarNode || value.Tag != "!!null") && !leads(value) || references[name] && !isText(value) {
				return false
			}
			if !selecting[name] && !regular(value) {
				return false
			}
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if !regular(item) {
				return false
			}
		}
	}
	return true
}

// leads reports whether a path can continue in a node: in a map, or in each item of a list.
func leads(n *yaml.Node) bool {
	if n.Kind == yaml.SequenceNode {
		return !slices.ContainsFunc(n.Content, func(item *yaml.Node) bool { return !leads(item) })
	}
	return n.Kind == yaml.MappingNode
}

// isText reports whether a node is a scalar or a list of scalars.
func isText(n *yaml.Node) bool {
	if n.Kind == yaml.SequenceNode {
		return !slices.ContainsFunc(n.Content, func(item *yaml.Node) bool { return item.Kind != yaml.ScalarNode })
	}
	return n.Kind == yaml.ScalarNode
}
