package reconcile

import (
	"bytes"
	"errors"
	"io"
	"path"
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

// referrers are the kinds whose fields refer to other objects by kustomize's defaults: it may
// complete a reference although no name changes.
// Source: sigs.k8s.io/kustomize/api v0.21 internal/konfig/builtinpluginconsts.
var referrers = map[string]bool{
	"APIService": true, "ClusterRole": true, "ClusterRoleBinding": true, "CronJob": true, "DaemonSet": true, "Deployment": true,
	"HorizontalPodAutoscaler": true, "Ingress": true, "Job": true, "MutatingWebhookConfiguration": true, "Node": true,
	"PersistentVolume": true, "PersistentVolumeClaim": true, "Pod": true, "PodTemplate": true, "ReplicaSet": true,
	"ReplicationController": true, "Role": true, "RoleBinding": true, "Service": true, "ServiceAccount": true, "StatefulSet": true,
	"StorageClass": true, "ValidatingAdmissionPolicyBinding": true, "ValidatingWebhookConfiguration": true,
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
				if referrers[o.Kind] {
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
		if l.ids[id] || referrers[r.GetKind()] {
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
