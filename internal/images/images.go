// Package images finds the container images that the objects of a cluster run.
package images

import (
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// Use is an image in a field of an object.
type Use struct {
	// Image is the image reference in the object.
	Image  string
	Path   []any
	Object *reconcile.Object
	// Unknown is set if the reference is encrypted, or contains a variable whose value is unknown.
	Unknown bool
}

// In returns the images of an object's pods, in the order of its fields: of Kubernetes' own workloads, and of custom resources
// whose image fields are known. chosen is true if an operator runs pods for the object with images that it chooses itself.
func In(o *reconcile.Object) (uses []Use, chosen bool) {
	kind, known := kinds[o.Group+"/"+o.Kind]
	if !known {
		return nil, false
	}
	f := finder{object: o}
	for _, path := range kind.pods {
		f.each(o.Value, nil, path, f.pod)
	}
	for _, path := range kind.containers {
		f.each(o.Value, nil, path, f.container)
	}
	own := 0
	for _, path := range kind.images {
		f.each(o.Value, nil, path, func(value any, at []any) {
			own++
			f.add(value, at)
		})
	}
	return f.uses, kind.chosen || len(kind.images) > 0 && own == 0
}

// finder collects the images of an object.
type finder struct {
	object *reconcile.Object
	uses   []Use
}

// each calls visit for each value at a path, whose steps are separated by dots; "*" means each item of a list or map.
func (f *finder) each(value any, at []any, path string, visit func(value any, at []any)) {
	if path == "" {
		visit(value, at)
		return
	}
	step, rest, _ := strings.Cut(path, ".")
	switch value := value.(type) {
	case map[string]any:
		if step == "*" {
			for _, key := range sortedKeys(value) {
				f.each(value[key], append(slices.Clone(at), key), rest, visit)
			}
		} else if next, ok := value[step]; ok {
			f.each(next, append(slices.Clone(at), step), rest, visit)
		}
	case []any:
		if step != "*" {
			return
		}
		for i, item := range value {
			f.each(item, append(slices.Clone(at), i), rest, visit)
		}
	}
}

// pod adds the images of a pod's specification.
func (f *finder) pod(spec any, at []any) {
	for _, containers := range []string{"initContainers.*", "containers.*", "ephemeralContainers.*"} {
		f.each(spec, at, containers, f.container)
	}
	f.each(spec, at, "volumes.*.image.reference", f.add)
}

func (f *finder) container(value any, at []any) { f.each(value, at, "image", f.add) }

func (f *finder) add(value any, at []any) {
	image, isText := value.(string)
	if image = strings.TrimSpace(image); !isText || image == "" || image == "auto" && f.injected(at) {
		return
	}
	unknown := len(f.object.Unknown) > 0 && strings.Contains(image, "${") || f.object.Encrypted && strings.HasPrefix(image, "ENC[")
	f.uses = append(f.uses, Use{image, at, f.object, unknown})
}

// injected reports whether Istio's webhook sets the image of a container whose image is "auto".
func (f *finder) injected(at []any) bool {
	return f.object.Text(append(slices.Clone(at[:len(at)-1]), "name")...) == "istio-proxy"
}
