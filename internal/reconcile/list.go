package reconcile

import (
	"bytes"
	"errors"
	"io"
	"path"
	"reflect"
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
// after the other, at most in a namespace of theirs. kustomize takes a time for it that grows
// with the square of the number of objects: half a minute for the 5,000 Kustomizations of a
// large cluster. A lister does the same, and leaves to kustomize all that isn't as simple,
// errors too. The tests hold it against kustomize.
type lister struct {
	view      *view
	factory   *resource.Factory
	variables bool
	// wrong is what is said of the first object that no result can be made of.
	wrong error
	stack []string // the folders that lead here
	steps int
	// changed are the objects that were given a namespace or labels, each as often as it was, and
	// once for each label.
	changed int
}

// member is an object, and what it must not share with another one.
type member struct {
	result
	id resid.ResId
	// plain says that its metadata are what they should be, so that they can be changed.
	plain bool
}

// level is what a folder holds.
type level struct {
	objects []member
	ids     map[resid.ResId]bool
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

// onTheWay are the fields that the paths to references lead through; each is a map, a list of maps
// or nothing. The references themselves are texts or lists of texts.
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

// leads says whether a path goes on in a node: in a map, or in each item of a list.
func leads(n *yaml.Node) bool {
	if n.Kind == yaml.SequenceNode {
		return !slices.ContainsFunc(n.Content, func(item *yaml.Node) bool { return !leads(item) })
	}
	return n.Kind == yaml.MappingNode
}

// isText says whether a node is a text or a list of texts.
func isText(n *yaml.Node) bool {
	if n.Kind == yaml.SequenceNode {
		return !slices.ContainsFunc(n.Content, func(item *yaml.Node) bool { return item.Kind != yaml.ScalarNode })
	}
	return n.Kind == yaml.ScalarNode
}

// list makes the objects of a kustomization that only lists resources, one after the other, and
// says false where it does more. Variables says that those in the objects will be replaced. The
// error is a limit's, or about the first object that isn't one.
func (v *view) list(dir string, k *types.Kustomization, variables bool) (results []result, simple bool, err error) {
	l := &lister{view: v, factory: provider.NewDefaultDepProvider().GetResourceFactory(), variables: variables}
	if _, single := l.kustomization(dir); !single || !onlyLists(k) {
		return nil, false, nil
	}
	all, err := l.folder(dir, k)
	if err != nil {
		var limit *limitError
		if errors.As(err, &limit) {
			return nil, false, err
		}
		return nil, false, nil
	}
	if l.wrong != nil {
		return nil, true, l.wrong
	}
	results = make([]result, len(all.objects))
	for i, o := range all.objects {
		results[i] = o.result
	}
	return results, true, nil
}

// onlyLists says whether a kustomization has nothing but resources, and a namespace and labels of
// their own for them.
func onlyLists(k *types.Kustomization) bool {
	if k.APIVersion != "" && k.APIVersion != types.KustomizationVersion || k.Kind != "" && k.Kind != types.KustomizationKind {
		return false
	}
	for _, label := range k.Labels {
		if label.IncludeSelectors || label.IncludeTemplates || len(label.FieldSpecs) > 0 {
			return false
		}
	}
	rest := *k
	rest.TypeMeta, rest.Resources, rest.Namespace, rest.Labels = types.TypeMeta{}, nil, "", nil
	return len(k.Resources) > 0 && reflect.ValueOf(rest).IsZero()
}

// folder lists what a kustomization lists, which stands in a folder.
func (l *lister) folder(dir string, k *types.Kustomization) (level, error) {
	all := level{ids: map[resid.ResId]bool{}}
	if l.steps++; l.steps > mostSteps {
		return all, errNotSimple
	}
	for _, visited := range l.stack {
		if dir == visited || contains(dir, visited) {
			return all, errNotSimple // a circle
		}
	}
	l.stack = append(l.stack, dir)
	defer func() { l.stack = l.stack[:len(l.stack)-1] }()
	for _, ref := range k.Resources {
		at, ok := relative(path.Join(mount, dir, ref))
		if !ok || path.IsAbs(ref) || strings.ContainsAny(ref, "\n\\") || at == l.view.overlay {
			return all, errNotSimple
		}
		var err error
		if l.view.IsDir(absolute(at)) {
			err = l.base(&all, at)
		} else {
			err = l.file(&all, at)
		}
		if err != nil {
			return all, err
		}
	}
	if k.Namespace == "" && len(k.Labels) == 0 {
		return all, nil
	}
	odd := func(o member) bool { return !o.plain }
	changes := 1
	for _, label := range k.Labels {
		changes += len(label.Pairs)
	}
	if l.changed += changes * len(all.objects); l.wrong != nil || l.changed > mostChanged || slices.ContainsFunc(all.objects, odd) {
		return all, errNotSimple
	}
	if err := l.label(all, k.Labels); err != nil {
		return all, err
	}
	return l.namespace(all, k.Namespace)
}

// base adds what a folder with a kustomization of its own lists.
func (l *lister) base(to *level, dir string) error {
	at, single := l.kustomization(dir)
	if !single || at == l.view.overlay {
		return errNotSimple
	}
	text, err := l.view.ReadFile(absolute(at))
	if err != nil {
		return errNotSimple
	}
	k, ok := soleKustomization(text)
	if !ok || !onlyLists(k) {
		return errNotSimple
	}
	below, err := l.folder(dir, k)
	if err != nil {
		return err
	}
	if len(to.objects) == 0 {
		*to = below
		return nil
	}
	return to.add(below.objects...)
}

// soleKustomization reads the kustomization that a text holds in a single document, each field
// given once and by its own name.
func soleKustomization(text []byte) (*types.Kustomization, bool) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	if decoder.Decode(&doc) != nil || !errors.Is(decoder.Decode(&more), io.EOF) || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, false
	}
	k := &types.Kustomization{}
	fields := doc.Content[0].Content
	seen := map[string]bool{}
	for i := 0; i+1 < len(fields); i += 2 {
		name, value := fields[i].Value, fields[i+1]
		if seen[name] {
			return nil, false
		}
		seen[name] = true
		switch name {
		case "apiVersion":
			if k.APIVersion = value.Value; k.APIVersion == "" {
				return nil, false // nothing, or no text
			}
		case "kind":
			if k.Kind = value.Value; k.Kind == "" {
				return nil, false
			}
		case "namespace":
			if k.Namespace = value.Value; value.Kind != yaml.ScalarNode || value.Tag != "!!str" {
				return nil, false
			}
		case "resources":
			if value.Decode(&k.Resources) != nil {
				return nil, false
			}
		default:
			return nil, false
		}
	}
	return k, true
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

// add adds objects, which must not be there yet.
func (all *level) add(objects ...member) error {
	for _, o := range objects {
		if all.ids[o.id] {
			return errNotSimple
		}
		all.ids[o.id] = true
	}
	all.objects = append(all.objects, objects...)
	return nil
}

// label adds labels to objects, each to what it has.
// Source: sigs.k8s.io/kustomize/api v0.21 filters/labels, builtinpluginconsts/metadatalabels.go.
func (l *lister) label(all level, labels []types.Label) error {
	for _, label := range labels {
		for name, value := range label.Pairs {
			// A key is written without its type.
			key := yaml.Node{Kind: yaml.ScalarNode, Value: name}
			if key.ShortTag() != "!!str" || !l.writes(name) || !l.writes(value) {
				return errNotSimple
			}
			for _, o := range all.objects {
				metadata := o.value["metadata"].(map[string]any)
				own, labelled := metadata["labels"].(map[string]any)
				if !labelled {
					own = map[string]any{}
					metadata["labels"] = own
				}
				own[name] = value
			}
		}
	}
	return nil
}

// writes says whether a text may be added to an object as it is.
func (l *lister) writes(text string) bool {
	return isExact(text) && (!l.variables || !mentionsVariable(text))
}

// namespace puts objects into a namespace, "" for those that they have.
// Source: sigs.k8s.io/kustomize/api v0.21 filters/namespace, builtinpluginconsts/namespace.go.
func (l *lister) namespace(given level, name string) (level, error) {
	if name == "" {
		return given, nil
	}
	all := level{ids: make(map[resid.ResId]bool, len(given.objects)), objects: make([]member, 0, len(given.objects))}
	for _, o := range given.objects {
		switch {
		case o.kind == "APIService" || o.kind == "CustomResourceDefinition", o.kind == "Namespace" && o.name != name, !l.writes(name):
			return all, errNotSimple // more of it than its namespace changes
		case !o.id.IsClusterScoped():
			o.value["metadata"].(map[string]any)["namespace"] = name
			o.id.Namespace = name
			o.id = effective(o.id)
		}
		if err := all.add(o); err != nil {
			return all, err
		}
	}
	return all, nil
}

// mostChanged bounds how often the objects of a build get a namespace or labels.
const mostChanged = 100_000
