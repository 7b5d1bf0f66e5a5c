package reconcile

import (
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// measured is an object and its size.
type measured struct {
	kind, name string
	group
	node *yaml.Node // nil for what is generated
}

// measures are the sizes of the objects in files, which several builds ask for.
type measures struct{ known sync.Map } // path → []measured

func (m *measures) of(file *repository.File) []measured {
	if known, ok := m.known.Load(file.Path); ok {
		return known.([]measured)
	}
	var all []measured
	for _, d := range file.Documents {
		for _, o := range d.Objects {
			one := measured{o.Kind, o.Name, sizeOf(o.Node), o.Node}
			if referrers[o.Kind] {
				one.names += namesOfReferrer
			}
			all = append(all, one)
		}
	}
	m.known.Store(file.Path, all)
	return all
}

// namesOfReferrer are the references that an object of a kind which may refer counts for
// without any.
const namesOfReferrer = 0.3

// sizeOf measures an object, or a part of one.
func sizeOf(n *yaml.Node) group {
	g := group{objects: 1}
	longest := g.walk(n, "")
	g.lists = float64(longest * longest)
	g.largest, g.fullest = g.bytes, g.nodes
	return g
}

// around is what stands around a value in a text: an indentation, a colon, a line break.
const around = 4

// walk adds a value that stands at a key, and returns the length of the longest list in it.
func (g *group) walk(n *yaml.Node, key string) (longest int) {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	g.bytes += float64(len(n.Value) + around)
	g.nodes++
	if refers[key] {
		g.names++
	}
	if n.Kind == yaml.SequenceNode {
		longest = len(n.Content)
		if key == "containers" || key == "initContainers" {
			g.images += float64(longest)
		}
	}
	for i, child := range n.Content {
		below := ""
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			below = n.Content[i-1].Value
		}
		longest = max(longest, g.walk(child, below))
	}
	return longest
}

// refers are the keys of references, or of the objects and lists that hold them.
// Source: sigs.k8s.io/kustomize/api v0.21 internal/konfig/builtinpluginconsts/namereference.go.
var refers = map[string]bool{
	"backend": true, "claimName": true, "clientConfig": true, "configMap": true, "configMapKeyRef": true, "configMapRef": true, "defaultBackend": true,
	"fromEnv": true, "imagePullSecrets": true, "ingressClassName": true, "nodePublishSecretRef": true, "persistentVolumeClaim": true, "policyName": true,
	"priorityClassName": true, "resourceNames": true, "roleRef": true, "scaleTargetRef": true, "secret": true, "secretKeyRef": true, "secretName": true,
	"secretRef": true, "secrets": true, "service": true, "serviceAccount": true, "serviceAccountName": true, "serviceName": true,
	"storageClassName": true, "subjects": true, "tls": true, "volumeName": true,
}
