package schemas

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// subdomainNames are the built-in kinds whose names are DNS subdomains (k8s.io/kubernetes v1.36.3,
// pkg/apis/*/validation, and their strategies); names of other kinds, such as RBAC's, may be any
// path segment.
var subdomainNames = map[string][]string{
	"":                             {"ConfigMap", "Endpoints", "LimitRange", "Node", "PersistentVolume", "PersistentVolumeClaim", "Pod", "ResourceQuota", "Secret", "ServiceAccount"},
	"admissionregistration.k8s.io": {"MutatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration"},
	"apps":                         {"ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet"},
	"autoscaling":                  {"HorizontalPodAutoscaler"},
	"batch":                        {"CronJob", "Job"},
	"networking.k8s.io":            {"Ingress", "IngressClass"},
	"node.k8s.io":                  {"RuntimeClass"},
	"scheduling.k8s.io":            {"PriorityClass"},
	"storage.k8s.io":               {"CSIDriver", "StorageClass", "VolumeAttributesClass"},
}

// nameCheck returns the API server's check of the names of a kind.
func (s *Schema) nameCheck() validation.ValidateNameFunc {
	switch {
	case !s.builtIn || slices.Contains(subdomainNames[s.GVK.Group], s.GVK.Kind):
		return validation.NameIsDNSSubdomain
	case s.GVK.Group == "" && (s.GVK.Kind == "Namespace" || s.GVK.Kind == "Service"):
		// Services' names may start with a digit since Kubernetes 1.34.
		return validation.NameIsDNSLabel
	}
	return func(name string, _ bool) []string { return content.IsPathSegmentName(name) }
}

// Metadata checks the metadata of an object whose kind has no schema: all kinds have the same metadata. It does not check names
// of unknown Kubernetes kinds.
func Metadata(object map[string]any, opts Options) []Problem {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	meta, err := metadata()
	if err != nil {
		return nil
	}
	s := &Schema{GVK: gvk, Namespaced: true, meta: meta,
		builtIn: !strings.Contains(gvk.Group, ".") || strings.HasSuffix(gvk.Group, ".k8s.io")}
	return sorted(s.ofMetadata(object, s.copy(object), opts), opts)
}

// ofMetadata checks the metadata of an object: first the types of its fields, then their values.
func (s *Schema) ofMetadata(object, clean map[string]any, opts Options) []Problem {
	meta, isMap := clean["metadata"].(map[string]any)
	if !isMap || s.meta == nil {
		return nil
	}
	original, _ := object["metadata"].(map[string]any)
	if found := s.meta.problems(original, meta, []any{"metadata"}, opts); len(found) > 0 {
		return found
	}
	return s.metadataProblems(original, meta, opts)
}

// metadataProblems checks the names, labels and annotations of an object whose metadata match the schema. It does not
// report a missing name or namespace: a kustomization may set the namespace, and a build fails without a name.
func (s *Schema) metadataProblems(original, clean map[string]any, o Options) []Problem {
	describe := describer{object: original, at: []any{"metadata"}, literal: o.Literal}
	var found []Problem
	add := func(errs field.ErrorList, path ...any) {
		for _, err := range errs {
			if len(path) == 0 {
				path = pathOf(original, fieldName(err))
			}
			found = append(found, describe.fieldErrorAt(path, err))
		}
	}
	if name, _ := clean["name"].(string); name != "" {
		for _, msg := range s.nameCheck()(name, false) {
			add(field.ErrorList{field.Invalid(field.NewPath("name"), name, msg)})
		}
	}
	if namespace, _ := clean["namespace"].(string); namespace != "" && s.Namespaced {
		for _, msg := range validation.ValidateNamespaceName(namespace, false) {
			add(field.ErrorList{field.Invalid(field.NewPath("namespace"), namespace, msg)})
		}
	}
	labels, _ := clean["labels"].(map[string]any)
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		text, _ := labels[k].(string)
		add(v1validation.ValidateLabels(map[string]string{k: text}, field.NewPath("labels")), "labels", k)
	}
	annotations, _ := clean["annotations"].(map[string]any)
	size := map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(annotations)) {
		text, _ := annotations[k].(string)
		size[k] = text
		add(validation.ValidateAnnotations(map[string]string{k: ""}, field.NewPath("annotations")), "annotations", k)
	}
	if err := validation.ValidateAnnotationsSize(size); err != nil {
		add(field.ErrorList{field.Invalid(field.NewPath("annotations"), "", err.Error())})
	}
	add(ownersAndFinalizers(clean))
	return found
}

func ownersAndFinalizers(clean map[string]any) field.ErrorList {
	part := map[string]any{}
	for _, k := range []string{"ownerReferences", "finalizers"} {
		if v, ok := clean[k]; ok {
			part[k] = v
		}
	}
	if len(part) == 0 {
		return nil
	}
	var meta metav1.ObjectMeta
	if runtime.DefaultUnstructuredConverter.FromUnstructured(part, &meta) != nil {
		return nil
	}
	return append(validation.ValidateOwnerReferences(meta.OwnerReferences, field.NewPath("ownerReferences")),
		validation.ValidateFinalizers(meta.Finalizers, field.NewPath("finalizers"))...)
}

// quickMetadata reports whether metadata that match the schema certainly have no
// problems.
func (s *Schema) quickMetadata(meta map[string]any) bool {
	for k, v := range meta {
		switch k {
		case "name":
			name, _ := v.(string)
			if name == "" || !isPlainName(name) && len(s.nameCheck()(name, false)) > 0 {
				return false
			}
		case "namespace":
			namespace, _ := v.(string)
			if namespace == "" || !isPlainName(namespace) {
				return false
			}
		case "labels", "annotations":
			m, _ := v.(map[string]any)
			for key, value := range m {
				text, _ := value.(string)
				if !isPlainKey(key) || k == "labels" && !isPlainLabel(text) || k == "annotations" && len(text) > plainAnnotation {
					return false
				}
			}
			if len(m) > 100 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// plainAnnotation is the maximum length of an annotation that quickMetadata accepts: a hundred of these
// are within the API server's limit.
const plainAnnotation = 2000

// isPlainName reports whether a name is certainly a DNS label of up to 63 bytes; it accepts most of them.
func isPlainName(name string) bool {
	if len(name) > 63 || name[0] == '-' || name[len(name)-1] == '-' {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c != '-' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// isPlainLabel reports whether a string is certainly a label value; it accepts most of them.
func isPlainLabel(text string) bool {
	if text == "" {
		return true
	}
	return len(text) <= 63 && isAlphanumeric(text[0]) && isAlphanumeric(text[len(text)-1]) && isPlainText(text, "-_.")
}

// isPlainKey reports whether a string is certainly a key of labels and annotations; it accepts most of them.
func isPlainKey(key string) bool {
	prefix, name, found := strings.Cut(key, "/")
	if !found {
		prefix, name = "a", key
	}
	if name == "" || prefix == "" || len(prefix) > 253 {
		return false
	}
	for part := range strings.SplitSeq(prefix, ".") {
		if part == "" || !isPlainName(part) {
			return false
		}
	}
	return isPlainLabel(name)
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func isPlainText(text, others string) bool {
	for i := range len(text) {
		if !isAlphanumeric(text[i]) && strings.IndexByte(others, text[i]) < 0 {
			return false
		}
	}
	return true
}
