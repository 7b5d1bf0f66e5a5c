package builds

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/kustomize/api/builtins" //nolint:staticcheck // nothing replaces it yet
	"sigs.k8s.io/kustomize/api/filters/patchjson6902"
	"sigs.k8s.io/kustomize/api/ifc"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/kio/kioutil"
	"sigs.k8s.io/kustomize/kyaml/resid"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"
)

// listedPatch is a patch of a kustomization that lists. It is applied to one object after the other with
// kustomize's own code: its transformer isn't given all of them, since it looks through them again and again.
type listedPatch struct {
	target *types.Selector
	// transformer is configured with the patch.
	transformer *builtins.PatchTransformerPlugin
	// parts are partial objects. Without a target each names the object that it is for.
	parts []*resource.Resource
	// operations are JSON, where the patch has no parts.
	operations string
}

// patch applies the patches of a kustomization in a folder.
func (l *lister) patch(all *level, dir string, patches []types.Patch) error {
	if len(patches) == 0 {
		return nil
	}
	read := make([]listedPatch, len(patches))
	for i, p := range patches {
		var err error
		if read[i], err = l.readPatch(dir, p); err != nil {
			return err
		}
	}
	known := all.known()
	for _, p := range read {
		if err := all.apply(known, p); err != nil {
			return err
		}
	}
	all.drop()
	return nil
}

// readPatch reads a patch as kustomize does.
func (l *lister) readPatch(dir string, p types.Patch) (listedPatch, error) {
	read := listedPatch{target: p.Target, transformer: &builtins.PatchTransformerPlugin{}}
	if p.Options != nil && (p.Options.AllowNameChange || p.Options.AllowKindChange) {
		return read, errNotSimple
	}
	var text []byte
	if p.Path != "" {
		at, ok := l.local(dir, p.Path)
		if !ok {
			return read, errNotSimple
		}
		var err error
		if text, err = l.view.ReadFile(absolute(at)); err != nil {
			return read, errNotSimple
		}
	}
	config, err := yaml.Marshal(p)
	if err != nil {
		return read, errNotSimple
	}
	if err := read.transformer.Config(resmap.NewPluginHelpers(patchFile{text: text}, nil, resmap.NewFactory(l.factory), nil), config); err != nil {
		return read, fmt.Errorf("trouble configuring builtin PatchTransformer with config: `\n%s`: %w", config, err)
	}
	if p.Path == "" {
		text = []byte(read.transformer.Patch)
	}
	if read.parts, err = parsed(l.factory, text); err != nil {
		if !bytes.HasPrefix(text, []byte("[")) {
			if text, err = yaml.YAMLToJSON(text); err != nil || string(text) == "null" {
				return read, err
			}
		}
		read.operations = string(text)
		return read, nil
	}
	for _, part := range read.parts {
		if forKustomize(part.GetAnnotations()) {
			return read, errNotSimple
		}
	}
	return read, nil
}

// patchFile loads the text of a patch, whatever its path.
type patchFile struct {
	ifc.Loader
	text []byte
}

// Load returns the text.
func (f patchFile) Load(string) ([]byte, error) { return f.text, nil }

// known are the objects by each id that kustomize knows them by.
func (all *level) known() map[resid.ResId][]int {
	known := make(map[resid.ResId][]int, len(all.objects))
	for i, o := range all.objects {
		known[o.id] = append(known[o.id], i)
		for _, namespace := range o.was {
			id := o.id
			if id.Namespace = namespace; !slices.Contains(known[id], i) {
				known[id] = append(known[id], i)
			}
		}
	}
	return known
}

// apply applies a patch.
func (all *level) apply(known map[resid.ResId][]int, p listedPatch) error {
	if p.target == nil && p.parts != nil {
		return all.merge(known, p.parts)
	}
	// Without objects it fails where it does so whatever they are.
	if err := p.transformer.Transform(resmap.New()); err != nil || p.target == nil || p.parts == nil && p.operations == "" {
		return err
	}
	return all.transform(p)
}

// merge merges each part into the object that it names.
// Source: sigs.k8s.io/kustomize/api v0.21 internal/builtins/PatchTransformer.go.
func (all *level) merge(known map[resid.ResId][]int, parts []*resource.Resource) error {
	for _, part := range parts {
		id := part.OrgId()
		named := slices.DeleteFunc(slices.Clone(known[effective(id)]), func(i int) bool { return all.objects[i].empty() })
		if len(named) > 1 {
			return errNotSimple
		}
		if len(named) == 0 {
			_, err := resmap.New().GetById(id)
			return fmt.Errorf("no resource matches strategic merge patch %q: %w", id, err)
		}
		o := &all.objects[named[0]]
		if err := o.thaw(); err != nil {
			return err
		}
		if err := o.resource.ApplySmPatch(part); err != nil {
			return err
		}
		if err := o.settle(); err != nil {
			return err
		}
	}
	return nil
}

// transform applies a patch to each object that its target selects.
func (all *level) transform(p listedPatch) error {
	selects, err := selectorOf(p.target)
	if err != nil {
		return err
	}
	for i := range all.objects {
		o := &all.objects[i]
		if o.empty() || !selects(o) {
			continue
		}
		if err := o.thaw(); err != nil {
			return err
		}
		if err := o.change(p); err != nil {
			return err
		}
		if err := o.settle(); err != nil {
			return err
		}
	}
	return nil
}

// change applies a patch with a target to an object that it selects.
// Source: sigs.k8s.io/kustomize/api v0.21 internal/builtins/PatchTransformer.go.
func (o *member) change(p listedPatch) error {
	r := o.resource
	if p.parts != nil {
		alone := resmap.New()
		if err := alone.Append(r); err != nil {
			return err
		}
		return alone.ApplySmPatch(resource.MakeIdSet([]*resource.Resource{r}), p.parts[0])
	}
	r.StorePreviousId()
	own := kioutil.GetInternalAnnotations(&r.RNode)
	if err := r.ApplyFilter(patchjson6902.Filter{Patch: p.operations}); err != nil {
		return err
	}
	annotations := r.GetAnnotations()
	maps.Copy(annotations, own)
	return r.SetAnnotations(annotations)
}

// selectorOf returns what says of an object whether a target selects it.
// Source: sigs.k8s.io/kustomize/api v0.21 resmap/reswrangler.go, Select.
func selectorOf(target *types.Selector) (func(*member) bool, error) {
	head, err := types.NewSelectorRegex(target)
	if err != nil {
		return nil, errNotSimple
	}
	labelled, err := labels.Parse(target.LabelSelector)
	if err != nil {
		return nil, errNotSimple
	}
	annotated, err := labels.Parse(target.AnnotationSelector)
	if err != nil || strings.Contains(target.AnnotationSelector, "kubernetes.io/") {
		return nil, errNotSimple // kustomize has annotations of its own
	}
	named := regexp.QuoteMeta(target.Name) == target.Name && target.Name != ""
	return func(o *member) bool {
		if named && o.Name != target.Name {
			return false
		}
		namespace := o.id.Namespace
		if len(o.was) > 0 {
			namespace = o.was[0]
		}
		return (head.MatchNamespace(namespace) || head.MatchNamespace(o.id.Namespace)) && head.MatchName(o.Name) && head.MatchGvk(o.id.Gvk) &&
			(labelled.Empty() || labelled.Matches(o.texts("labels"))) && (annotated.Empty() || annotated.Matches(o.texts("annotations")))
	}, nil
}

// texts are the labels or annotations.
func (o *member) texts(field string) labels.Set {
	switch {
	case o.resource != nil && field == "labels":
		return o.resource.GetLabels()
	case o.resource != nil:
		return o.resource.GetAnnotations()
	}
	own, _ := o.metadata()[field].(map[string]any)
	texts := make(labels.Set, len(own))
	for name, value := range own {
		texts[name] = value.(string)
	}
	return texts
}

// empty says whether kustomize has left nothing of an object.
func (o *member) empty() bool { return o.resource != nil && o.resource.IsNilOrEmpty() }

// thaw makes the resource of an object that has none yet: its document, with what was changed since.
func (o *member) thaw() error {
	if o.resource != nil {
		if !plainMetadata(o.resource.YNode()) {
			return errNotSimple
		}
		return nil
	}
	r := &resource.Resource{RNode: *kyaml.NewRNode(kyaml.CopyYNode(o.document.Root()))}
	inNamespace := func(namespace string) error {
		if o.id.IsClusterScoped() {
			return nil
		}
		return r.SetNamespace(namespace)
	}
	for _, namespace := range o.was {
		if err := inNamespace(namespace); err != nil {
			return err
		}
		r.StorePreviousId()
	}
	if len(o.was) > 0 {
		namespace, _ := o.metadata()["namespace"].(string)
		if err := inNamespace(namespace); err != nil {
			return err
		}
	}
	if own := o.texts("labels"); len(own) > 0 {
		if err := r.SetLabels(own); err != nil {
			return err
		}
	}
	o.resource, o.Value, o.document = r, nil, nil
	return nil
}

// remembered are the annotations in which kustomize keeps what it knew an object by.
var remembered = setOf("internal.config.kubernetes.io/previousKinds", "internal.config.kubernetes.io/previousNames",
	"internal.config.kubernetes.io/previousNamespaces")

// settle takes over what a patch has changed. What changes the identity of an object, or tells
// kustomize something, is left to it.
func (o *member) settle() error {
	if o.empty() {
		return nil
	}
	r := o.resource
	annotations := r.GetAnnotations()
	for name := range remembered {
		delete(annotations, name)
	}
	if !plainMetadata(r.YNode()) || effective(r.CurId()) != o.id || forKustomize(annotations) {
		return errNotSimple
	}
	before := r.PrevIds()
	if len(before) < len(o.was) {
		return errNotSimple
	}
	o.was = nil
	for _, id := range before {
		o.was = append(o.was, id.Namespace)
	}
	return nil
}
