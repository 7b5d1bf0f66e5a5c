package reconcile

import (
	"bytes"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
)

// Most kustomizations only list files and folders, and their result is what these hold, one
// after the other. kustomize takes a time for it that grows with the square of the number of
// objects: half a minute for the 5,000 Kustomizations of a large cluster. A lister does the
// same, and leaves to kustomize all that isn't as simple, errors too. The tests hold it
// against kustomize.
type lister struct {
	view    *view
	factory *resource.Factory
	ids     map[resid.ResId]bool
	// take is given each object; wrong is what it says of the first one that it refuses.
	take  func(*resource.Resource) error
	wrong error
	size  group
	stack []string // the folders that lead here
	steps int
}

// errNotSimple leaves a build to kustomize.
var errNotSimple = errors.New("not only a list")

// completed are the kinds in which kustomize completes a reference although no name changes,
// such as the namespace of a RoleBinding's subject, and some rare ones.
// Source: sigs.k8s.io/kustomize/api v0.21 internal/konfig/builtinpluginconsts.
var completed = map[string]bool{
	"APIService": true, "ClusterRoleBinding": true, "MutatingWebhookConfiguration": true, "Node": true, "PersistentVolume": true,
	"RoleBinding": true, "StorageClass": true, "ValidatingAdmissionPolicyBinding": true, "ValidatingWebhookConfiguration": true,
}

// referrers are the other kinds whose fields refer to objects by kustomize's defaults. It reads
// all of these fields, and refuses an object in which they aren't what they should be.
var referrers = map[string]bool{
	"ClusterRole": true, "CronJob": true, "DaemonSet": true, "Deployment": true, "HorizontalPodAutoscaler": true, "Ingress": true,
	"Job": true, "PersistentVolumeClaim": true, "Pod": true, "PodTemplate": true, "ReplicaSet": true, "ReplicationController": true,
	"Role": true, "Service": true, "ServiceAccount": true, "StatefulSet": true,
}

// onTheWay are the fields that the paths to references lead through; each is a map, a list or
// nothing. The references themselves are texts or lists of texts.
var onTheWay, references = setOf("spec", "template", "jobTemplate", "metadata", "annotations", "volumes", "configMap", "secret",
	"persistentVolumeClaim", "projected", "sources", "containers", "initContainers", "env", "envFrom", "valueFrom", "configMapKeyRef",
	"configMapRef", "secretKeyRef", "secretRef", "imagePullSecrets", "volumeClaimTemplates", "rules", "tls", "http", "paths",
	"backend", "service", "defaultBackend", "scaleTargetRef"),
	setOf("name", "secretName", "serviceName", "serviceAccountName", "priorityClassName", "claimName", "storageClassName",
		"volumeName", "ingressClassName", "resourceNames", "ingress.kubernetes.io/auth-secret",
		"nginx.ingress.kubernetes.io/auth-secret", "nginx.ingress.kubernetes.io/auth-tls-secret",
		"nginx.ingress.kubernetes.io/fastcgi-params-configmap")

// selecting are the fields that hold labels, and no reference, whatever these are called.
var selecting = setOf("labels", "matchLabels", "selector")

func setOf(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// regular says whether the fields that lead to references, and the references, are all of the
// kind that they should be.
func regular(n *yaml.Node) bool {
	switch n.Kind {
	case yaml.AliasNode:
		return false
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, value := n.Content[i].Value, n.Content[i+1]
			if onTheWay[name] && value.Kind == yaml.ScalarNode && value.Tag != "!!null" || references[name] && !isText(value) {
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

// isText says whether a node is a text or a list of texts.
func isText(n *yaml.Node) bool {
	if n.Kind == yaml.SequenceNode {
		return !slices.ContainsFunc(n.Content, func(item *yaml.Node) bool { return item.Kind != yaml.ScalarNode })
	}
	return n.Kind == yaml.ScalarNode
}

// list gives the objects of a kustomization that only lists resources to take, one after the
// other, and says false where it does more: then those that were taken are to be forgotten. The
// error is a limit's, or the first of take's.
func (v *view) list(dir string, k *types.Kustomization, take func(*resource.Resource) error) (bool, error) {
	l := &lister{view: v, factory: provider.NewDefaultDepProvider().GetResourceFactory(), ids: map[resid.ResId]bool{}, take: take}
	if _, single := l.kustomization(dir); !single || !onlyLists(v.data) {
		return false, nil
	}
	if err := l.folder(dir, k.Resources); err != nil {
		var limit *limitError
		if errors.As(err, &limit) {
			return false, err
		}
		return false, nil
	}
	if err := v.budget.build(cost{group: l.size, work: l.size.nodes * costListed}); err != nil {
		return false, err
	}
	return true, l.wrong
}

// onlyLists says whether the text of a kustomization is one with nothing but resources.
func onlyLists(text []byte) bool {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	if decoder.Decode(&doc) != nil || !errors.Is(decoder.Decode(&more), io.EOF) || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return false
	}
	fields := doc.Content[0].Content
	seen := map[string]bool{}
	for i := 0; i+1 < len(fields); i += 2 {
		name, value := fields[i].Value, fields[i+1]
		switch {
		case seen[name]:
			return false
		case name == "apiVersion" && value.Value == types.KustomizationVersion, name == "kind" && value.Value == types.KustomizationKind, name == "resources":
			seen[name] = true
		default:
			return false
		}
	}
	return seen["resources"]
}

func (l *lister) folder(dir string, resources []string) error {
	if l.steps++; l.steps > mostSteps {
		return errNotSimple
	}
	for _, visited := range l.stack {
		if dir == visited || contains(dir, visited) {
			return errNotSimple // a circle
		}
	}
	l.stack = append(l.stack, dir)
	defer func() { l.stack = l.stack[:len(l.stack)-1] }()
	for _, ref := range resources {
		at, ok := relative(path.Join(mount, dir, ref))
		if !ok || path.IsAbs(ref) || strings.ContainsAny(ref, "\n\\") || at == l.view.overlay {
			return errNotSimple
		}
		var err error
		if l.view.IsDir(absolute(at)) {
			err = l.base(at)
		} else {
			err = l.file(at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// base lists a folder with a kustomization of its own.
func (l *lister) base(dir string) error {
	at, single := l.kustomization(dir)
	if !single || at == l.view.overlay {
		return errNotSimple
	}
	text, err := l.view.ReadFile(absolute(at))
	if err != nil || !onlyLists(text) {
		return errNotSimple
	}
	var k struct {
		Resources []string `yaml:"resources"`
	}
	if yaml.Unmarshal(text, &k) != nil || len(k.Resources) == 0 {
		return errNotSimple
	}
	return l.folder(dir, k.Resources)
}

// kustomization is the path of a folder's kustomization, and whether there is a single one.
func (l *lister) kustomization(dir string) (at string, single bool) {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if file := path.Join(dir, name); l.view.isFile(file) {
			at, single = file, at == ""
			if !single {
				return "", false
			}
		}
	}
	return at, single
}

// file adds the objects of a file.
func (l *lister) file(file string) error {
	if known, ok := l.view.repo.File(file); ok {
		for _, o := range l.view.measures.of(known) {
			l.size.add(o.group)
		}
		if l.size.nodes > mostNodes {
			return tooManyNodes(l.size)
		}
		for _, d := range known.Documents {
			for _, o := range d.Objects {
				if completed[o.Kind] {
					return errNotSimple // before it is parsed
				}
			}
		}
	}
	text, err := l.view.ReadFile(absolute(file))
	if err != nil {
		return errNotSimple
	}
	resources, err := parsed(l.factory, text)
	if err != nil {
		return errNotSimple
	}
	for _, r := range resources {
		id := r.CurId()
		id.Namespace = id.EffectiveNamespace()
		if l.ids[id] || completed[r.GetKind()] || referrers[r.GetKind()] && !regular(r.YNode()) {
			return errNotSimple
		}
		for name := range r.GetAnnotations() {
			if strings.Contains(name, "config.kubernetes.io/") || strings.Contains(name, "config.k8s.io/") {
				return errNotSimple // an annotation for kustomize itself
			}
		}
		// What kustomize does last writes the annotations anew.
		r.RemoveBuildAnnotations()
		if r.SetOrigin(nil) != nil || r.ClearTransformations() != nil {
			return errNotSimple
		}
		l.ids[id] = true
		if l.wrong == nil {
			l.wrong = l.take(r)
		}
	}
	return nil
}

// parsed parses the objects in a text as kustomize does, which panics on some.
func parsed(factory *resource.Factory, text []byte) (resources []*resource.Resource, err error) {
	defer func() {
		if recover() != nil {
			err = errNotSimple
		}
	}()
	return factory.SliceFromBytes(text)
}
