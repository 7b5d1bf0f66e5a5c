package flux

import (
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// operators holds the creators of objects that are not in Git: operators, and charts that are not rendered. system are
// the namespaces in which Kubernetes and Flux create objects.
type operators struct {
	// charts are the HelmReleases whose charts are not rendered, by the namespaces that they are in or install
	// to; the key "" has all of them. namespaces are the custom resources of operators, by namespace; the key
	// "" has the cluster-scoped ones.
	charts, namespaces map[string]creators
	// system are the namespaces of Kubernetes and Flux.
	system map[string]bool
	// claiming are the namespaces with StatefulSets, which create PersistentVolumeClaims. copied are the
	// objects that a controller copies to other namespaces.
	claiming map[string]bool
	copied   map[kind]map[string]bool
	// missing is the number of missing referenced objects, by kind. alone are the kinds of which exactly one
	// object is missing although several exist.
	missing map[string]int
	alone   map[string]bool
}

// creators describes objects that may create other objects. words are the words in their specifications, names the words
// in their names.
type creators struct {
	words map[string]bool
	names map[string]bool
}

// creatingNothing are the API groups of custom resources whose controllers create only Secrets and objects of
// their own group.
var creatingNothing = []string{"cert-manager.io", "acme.cert-manager.io", "cilium.io", "external-secrets.io", "metallb.io", "traefik.io", "bitnami.com"}

// isOperators reports whether a controller may create objects for a custom resource.
func isOperators(o *reconcile.Object) bool {
	switch {
	case !strings.Contains(o.Group, "."), strings.HasSuffix(o.Group, ".k8s.io"), strings.HasSuffix(o.Group, ".fluxcd.io"), slices.Contains(creatingNothing, o.Group):
		return false
	case o.Group == "monitoring.coreos.com":
		return !strings.HasSuffix(o.Kind, "Monitor") && o.Kind != "PrometheusRule" && o.Kind != "Probe"
	}
	return true
}

func (w *world) operators() operators {
	all := operators{charts: map[string]creators{}, namespaces: map[string]creators{}, claiming: map[string]bool{}, copied: map[kind]map[string]bool{},
		system: map[string]bool{w.cluster.Kustomizations[0].Namespace: true}}
	for _, name := range knownNamespaces[1:] {
		all.system[name] = true
	}
	for _, o := range w.applied {
		of := kind{o.Group, o.Kind}
		switch {
		case isHelmRelease(o) && w.cluster.Release(o) == nil:
			namespaces := []string{"", o.Namespace, text(o.Value, "spec", "targetNamespace")}
			slices.Sort(namespaces)
			for _, namespace := range slices.Compact(namespaces) {
				note(all.charts, namespace, o, o.ChartName(w.find), text(o.Value, "spec", "releaseName"))
			}
		case o.Kind == "StatefulSet":
			all.claiming[o.Namespace] = true
		case isOperators(o):
			note(all.namespaces, o.Namespace, o, o.Kind, o.Group)
		case isCopied(o):
			if all.copied[of] == nil {
				all.copied[of] = map[string]bool{}
			}
			all.copied[of][o.Name] = true
		}
	}
	return all
}

// note adds an object to the creators in a namespace.
func note(all map[string]creators, namespace string, o *reconcile.Object, names ...string) {
	c, known := all[namespace]
	if !known {
		c = creators{words: map[string]bool{}, names: map[string]bool{}}
		all[namespace] = c
	}
	for _, name := range append(names, o.Name) {
		for word := range wordsOf(name) {
			c.words[word] = true
			if len(word) > 3 {
				c.names[word] = true
			}
		}
	}
	c.read(o.Value["spec"])
}

// longestName is the maximum length of the name of an object.
const longestName = 253

// read adds the words of a value: of its field names, and of the strings that may be names.
func (c creators) read(value any) {
	switch value := value.(type) {
	case map[string]any:
		for field, item := range value {
			c.read(field)
			c.read(item)
		}
	case []any:
		for _, item := range value {
			c.read(item)
		}
	case string:
		if len(value) <= longestName && !strings.ContainsAny(value, " \n") {
			for word := range wordsOf(value) {
				c.words[word] = true
			}
		}
	}
}

// wordsOf returns the lower-case words of a name, split at all characters but letters and digits.
func wordsOf(name string) func(yield func(string) bool) {
	return strings.FieldsFuncSeq(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}

// mayName reports whether one of the creators may create an object with a name: operators name objects after
// their custom resource or after strings in its specification.
func (c creators) mayName(name string) bool {
	for word := range wordsOf(name) {
		if len(word) > 2 && c.words[word] {
			return true
		}
	}
	for word := range c.names {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// mayHold reports whether a namespace may contain objects that an operator or a chart creates.
func (all operators) mayHold(namespace string) bool {
	_, charts := all.charts[namespace]
	_, own := all.namespaces[namespace]
	_, anywhere := all.namespaces[""]
	return all.system[namespace] || charts || own || anywhere
}

// mayCreateAny reports whether an operator or a chart may create an object in the namespace of another object,
// whatever its name.
func (all operators) mayCreateAny(id reconcile.Identity) bool {
	return all.mayHold(id.Namespace) || id.Kind == "PersistentVolumeClaim" && all.claiming[id.Namespace] || all.copied[kind{id.Group, id.Kind}][id.Name]
}

// mayCreate reports whether Kubernetes, Flux, an operator or a chart may create an object.
func (all operators) mayCreate(id reconcile.Identity) bool {
	return all.system[id.Namespace] || all.mention(id)
}

// mention reports whether an operator or a chart, apart from Kubernetes and Flux, may create an object, because
// its specification has the name or a part of it.
func (all operators) mention(id reconcile.Identity) bool {
	return all.charts[id.Namespace].mayName(id.Name) || all.namespaces[id.Namespace].mayName(id.Name) || all.namespaces[""].mayName(id.Name) ||
		id.Kind == "PersistentVolumeClaim" && all.claiming[id.Namespace] || all.copied[kind{id.Group, id.Kind}][id.Name]
}
