package builds

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

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

// listedPatch is a patch that a lister applies to one object after the other with kustomize's own code. kustomize's own
// transformer would search all objects again and again.
type listedPatch struct {
	target *types.Selector
	// selects reports whether the target selects an object; unselectable is why the target is invalid.
	selects      func(*member) bool
	unselectable error
	// parts are partial objects. Without a target, each part names the object that it changes.
	parts []listedPart
	// operations are the JSON 6902 operations of a patch without parts.
	operations string
	// wrong is the error of a patch that fails for any objects.
	wrong error
}

// patch applies the patches of a kustomization in a folder.
func (l *lister) patch(all *level, dir string, patches []types.Patch) error {
	if len(patches) == 0 {
		return nil
	}
	read := make([]*listedPatch, len(patches))
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

// patchKey identifies a sharedPatch.
type patchKey struct {
	// file contains the patch, "" if text does.
	file, text string
	target     types.Selector
	targeted   bool
	variables  bool
}

// sharedPatch is a patch that several builds may wait for.
type sharedPatch struct {
	once  sync.Once
	patch *listedPatch
	err   error
}

// readPatch reads a patch as kustomize does, once for all builds.
func (l *lister) readPatch(dir string, p types.Patch) (*listedPatch, error) {
	if p.Options != nil && (p.Options.AllowNameChange || p.Options.AllowKindChange) {
		return nil, errNotSimple
	}
	key := patchKey{text: p.Patch, variables: l.variables, targeted: p.Target != nil}
	if key.targeted {
		key.target = *p.Target
	}
	var text []byte
	if p.Path != "" {
		at, ok := l.local(dir, p.Path)
		if !ok || !l.view.isFile(at) {
			return nil, errNotSimple
		}
		var err error
		if text, err = l.view.ReadFile(absolute(at)); err != nil {
			return nil, errNotSimple
		}
		key.file = at
	}
	loaded, _ := l.view.patchesRead.LoadOrStore(key, &sharedPatch{})
	s := loaded.(*sharedPatch)
	s.once.Do(func() {
		defer func() {
			if recover() != nil {
				s.patch, s.err = nil, errNotSimple // kustomize panics as well
			}
		}()
		s.patch, s.err = l.parsePatch(p, text)
	})
	return s.patch, s.err
}

// parsePatch parses a patch: text if it is in a file, otherwise the inline patch.
func (l *lister) parsePatch(p types.Patch, text []byte) (*listedPatch, error) {
	read := &listedPatch{target: p.Target}
	config, err := yaml.Marshal(p)
	if err != nil {
		return nil, errNotSimple
	}
	transformer := &builtins.PatchTransformerPlugin{}
	if err := transformer.Config(resmap.NewPluginHelpers(patchFile{text: text}, nil, resmap.NewFactory(l.factory), nil), config); err != nil {
		return nil, fmt.Errorf("trouble configuring builtin PatchTransformer with config: `\n%s`: %w", config, err)
	}
	if p.Path == "" {
		text = []byte(transformer.Patch)
	}
	if p.Target != nil {
		read.selects, read.unselectable = selectorOf(p.Target)
	}
	parts, err := parsed(l.factory, text)
	if err != nil {
		if !bytes.HasPrefix(text, []byte("[")) {
			if text, err = yaml.YAMLToJSON(text); err != nil || string(text) == "null" {
				return read, err
			}
		}
		read.operations = string(text)
	}
	for _, part := range parts {
		if forKustomize(part.GetAnnotations()) {
			return nil, errNotSimple
		}
		read.parts = append(read.parts, listedPart{resource: part, value: mergeable(part, l.variables)})
	}
	if p.Target != nil || read.parts == nil {
		read.wrong = transformer.Transform(resmap.New()) // without objects
	}
	return read, nil
}

// patchFile returns the same string for each path.
type patchFile struct {
	ifc.Loader
	text []byte
}

// Load returns the string.
func (f patchFile) Load(string) ([]byte, error) { return f.text, nil }

// known returns the indexes of the objects by each id, current or former, by which kustomize finds them.
func (all *level) known() map[resid.ResId][]int {
	known := make(map[resid.ResId][]int, len(all.objects))
	for i, o := range all.objects {
		known[o.id] = append(known[o.id], i)
		for _, was := range o.was {
			id := o.id
			if id.Namespace, id.Name = was.namespace, was.name; !slices.Contains(known[id], i) {
				known[id] = append(known[id], i)
			}
		}
	}
	return known
}

// apply applies a patch to the objects of a level.
func (all *level) apply(known map[resid.ResId][]int, p *listedPatch) error {
	if p.target == nil && p.parts != nil {
		return all.merge(known, p.parts)
	}
	if p.wrong != nil || p.target == nil || p.parts == nil && p.operations == "" {
		return p.wrong
	}
	return all.transform(p)
}

// merge merges each part into the object that the part names.
// Source: sigs.k8s.io/kustomize/api v0.21 internal/builtins/PatchTransformer.go.
func (all *level) merge(known map[resid.ResId][]int, parts []listedPart) error {
	for _, part := range parts {
		id := part.resource.OrgId()
		named := slices.DeleteFunc(slices.Clone(known[effective(id)]), func(i int) bool { return all.objects[i].empty() })
		if len(named) > 1 {
			return errNotSimple
		}
		if len(named) == 0 {
			_, err := resmap.New().GetById(id)
			return fmt.Errorf("no resource matches strategic merge patch %q: %w", id, err)
		}
		err := all.objects[named[0]].merge(part, func(o *member) error { return o.resource.ApplySmPatch(part.resource.DeepCopy()) })
		if err != nil {
			return err
		}
	}
	return nil
}

// transform applies a patch to each object that its target selects.
// Source: sigs.k8s.io/kustomize/api v0.21 internal/builtins/PatchTransformer.go.
func (all *level) transform(p *listedPatch) error {
	if p.unselectable != nil {
		return p.unselectable
	}
	var part listedPart // the only part
	kustomize := func(o *member) error { return o.change(p.operations) }
	if p.parts != nil {
		part = p.parts[0]
		kustomize = func(o *member) error {
			alone := resmap.New()
			if err := alone.Append(o.resource); err != nil {
				return err
			}
			return alone.ApplySmPatch(resource.MakeIdSet([]*resource.Resource{o.resource}), part.resource)
		}
	}
	for i := range all.objects {
		if o := &all.objects[i]; !o.empty() && p.selects(o) {
			if err := o.merge(part, kustomize); err != nil {
				return err
			}
		}
	}
	return nil
}

// change applies JSON 6902 operations to an object.
// Source: sigs.k8s.io/kustomize/api v0.21 internal/builtins/PatchTransformer.go.
func (o *member) change(operations string) error {
	r := o.resource
	r.StorePreviousId()
	own := kioutil.GetInternalAnnotations(&r.RNode)
	if err := r.ApplyFilter(patchjson6902.Filter{Patch: operations}); err != nil {
		return err
	}
	annotations := r.GetAnnotations()
	maps.Copy(annotations, own)
	return r.SetAnnotations(annotations)
}

// selectorOf returns a function that reports whether a target selects an object.
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
		return nil, errNotSimple // kustomize adds annotations of its own
	}
	named := regexp.QuoteMeta(target.Name) == target.Name && target.Name != ""
	return func(o *member) bool {
		original := former{o.id.Namespace, o.Name}
		if len(o.was) > 0 {
			original = o.was[0]
		}
		if named && o.Name != target.Name && original.name != target.Name {
			return false
		}
		return (head.MatchNamespace(original.namespace) || head.MatchNamespace(o.id.Namespace)) &&
			(head.MatchName(original.name) || head.MatchName(o.Name)) && head.MatchGvk(o.id.Gvk) &&
			(labelled.Empty() || labelled.Matches(o.texts("labels"))) && (annotated.Empty() || annotated.Matches(o.texts("annotations")))
	}, nil
}

// texts returns the labels or annotations of an object.
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

// empty reports whether kustomize has emptied an object.
func (o *member) empty() bool { return o.resource != nil && o.resource.IsNilOrEmpty() }

// thaw creates the resource of an object that has none yet, from its document and the pending changes.
func (o *member) thaw() error {
	if o.resource != nil {
		if !plainMetadata(o.resource.YNode()) {
			return errNotSimple
		}
		return nil
	}
	r := &resource.Resource{RNode: *kyaml.NewRNode(inflated(o.document.Root()))}
	called := func(namespace, name string) error {
		if name != r.GetName() {
			if err := r.SetMapField(kyaml.NewStringRNode(name), "metadata", "name"); err != nil {
				return err
			}
		}
		if o.id.IsClusterScoped() {
			return nil
		}
		return r.SetNamespace(namespace)
	}
	for _, was := range o.was {
		if err := called(was.namespace, was.name); err != nil {
			return err
		}
		r.StorePreviousId()
	}
	if len(o.was) > 0 {
		namespace, _ := o.metadata()["namespace"].(string)
		if err := called(namespace, o.Name); err != nil {
			return err
		}
	}
	own := o.texts("labels")
	o.resource, o.Value, o.document = r, nil, nil
	for _, again := range o.pending {
		if err := again(o); err != nil {
			return err
		}
	}
	if o.pending = nil; len(own) > 0 {
		return r.SetLabels(own)
	}
	return nil
}

// remembered are the annotations in which kustomize stores the former ids of an object.
var remembered = setOf("internal.config.kubernetes.io/previousKinds", "internal.config.kubernetes.io/previousNames",
	"internal.config.kubernetes.io/previousNamespaces")

// refresh updates an object after a patch changed its resource. It returns errNotSimple if the patch changed the identity
// of the object or an annotation that is meant for kustomize.
func (o *member) refresh() error {
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
		o.was = append(o.was, former{id.Namespace, id.Name})
	}
	return nil
}
