package reconcile

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// What changes to objects take, in microseconds.
const (
	costPatched   = 300   // a patch on an object
	costRead      = 0.08  // a byte of the object, which a patch reads and writes anew
	costReadNode  = 4     // a value of it
	costSelect    = 0.7   // a patch that looks at an object
	costMerged    = 0.7   // two items of a list that a patch merges
	costOperation = 25    // an operation of a patch
	costMoved     = 0.006 // an operation on a list, and an item of it
	costField     = 3     // a path that a transformer looks at in an object
	costFields    = 0.015 // two paths of a configuration, which are compared
	costChange    = 150   // an image, replica or label that is set
	costImage     = 25    // an image that is compared with a container's
	costNoted     = 8     // a change that is noted on an object, and one that was before
	bytesNoted    = 200   // of such a note
)

// transform adds what the changes of a kustomization to its objects take.
func (e *estimator) transform(dir string, k *types.Kustomization, c *cost) {
	e.configurations(dir, k, c)
	e.names(k, c)
	changes := float64(len(k.Images) + len(k.Replicas) + len(k.Labels) + len(k.Vars)) //nolint:staticcheck // older repositories use it
	c.work += changes*(costChange+c.objects*costField) + float64(len(k.Images))*c.images*costImage
	patches := slices.Concat(k.Patches, k.PatchesJson6902) //nolint:staticcheck // older repositories use it
	for _, p := range patches {
		for _, edit := range e.edits(dir, p.Path, p.Patch) {
			e.patch(c, p.Target, edit)
		}
	}
	for _, p := range k.PatchesStrategicMerge { //nolint:staticcheck // older repositories use it
		for _, edit := range e.edits(dir, string(p), string(p)) {
			e.patch(c, nil, edit)
		}
	}
	for _, ref := range k.Transformers {
		e.transformer(dir, ref, c)
	}
	for _, r := range k.Replacements {
		e.replacement(dir, r, c)
	}
	e.variables(k, c)
	if slices.Contains(k.BuildMetadata, types.TransformerAnnotations) || c.noted > 0 {
		noted := float64(len(patches) + len(k.PatchesStrategicMerge) + len(k.Transformers) + 5) //nolint:staticcheck // older repositories use it
		c.noted += noted
		c.work += c.noted * c.noted * c.objects * costNoted
		c.grow(anyKind, c.objects, noted*bytesNoted, 0)
	}
}

// names adds what is put into names, labels and annotations.
func (e *estimator) names(k *types.Kustomization, c *cost) {
	length := len(k.Namespace) + len(k.NamePrefix) + len(k.NameSuffix)
	for _, pairs := range []map[string]string{k.CommonLabels, k.CommonAnnotations} { //nolint:staticcheck // older repositories use it
		length += 3 * lengthOf(pairs) // labels stand in selectors and templates too
	}
	fields := 0
	for _, label := range k.Labels {
		length += (3 + len(label.FieldSpecs)) * lengthOf(label.Pairs)
		fields += len(label.FieldSpecs)
	}
	for _, image := range k.Images {
		length += len(image.NewName) + len(image.NewTag) + len(image.Digest)
	}
	if length > 0 {
		each := float64(length) * (1 + c.fields)
		c.grow(anyKind, c.objects, each, 0)
		e.bring(&types.Selector{}, "", each, 0)
	}
	of := c.fields + float64(fields)
	c.work += c.objects*of*costField + of*of*costFields
}

func lengthOf(pairs map[string]string) int {
	length := 0
	for name, value := range pairs {
		length += len(name) + len(value) + around
	}
	return length
}

// configurations counts the paths in configurations of transformers, and in schemas that say
// where names of other objects stand.
func (e *estimator) configurations(dir string, k *types.Kustomization, c *cost) {
	for _, ref := range append(k.Configurations[:len(k.Configurations):len(k.Configurations)], k.Crds...) {
		data := e.read(dir, ref)
		c.fields += float64(bytes.Count(data, []byte("path")) + bytes.Count(data, []byte("x-kubernetes-object-ref")))
	}
}

// read reads a file that a kustomization names, and nothing where there is none.
func (e *estimator) read(dir, ref string) []byte {
	at, inside := repository.Join(dir, ref)
	if !inside || !e.repo.Visible(at) {
		return nil
	}
	data, err := e.repo.ReadFile(at)
	if err != nil {
		return nil
	}
	return data
}

// edit is a patch: a list of operations, or a part of an object.
type edit struct {
	kind, name string
	group
	operations float64 // 0 for a part of an object
}

// edits are the patches in a file, or in a text.
func (e *estimator) edits(dir, ref, text string) []edit {
	at, _ := repository.Join(dir, ref)
	if known, ok := e.patches[at]; ok {
		return known
	}
	data := e.read(dir, ref)
	if data != nil {
		text = string(data)
	}
	var all []edit
	defer func() {
		if data != nil {
			e.patches[at] = all
		}
	}()
	for _, root := range e.documents(text) {
		one := edit{group: sizeOf(root)}
		if root.Kind == yaml.SequenceNode {
			one.operations = float64(len(root.Content))
		}
		one.kind = textOf(repository.Lookup(root, "kind"))
		one.name = textOf(repository.Lookup(root, "metadata", "name"))
		all = append(all, one)
	}
	return all
}

// documents parses a text, unless it goes beyond the repository's limits; kustomize says what
// is no YAML.
func (e *estimator) documents(text string) (roots []*yaml.Node) {
	if err := e.repo.Check(text); err != nil {
		e.limit = limited(err)
		return nil
	}
	defer func() { _ = recover() }() // the parser panics on some texts
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var doc yaml.Node
		if decoder.Decode(&doc) != nil {
			return roots
		}
		if len(doc.Content) > 0 {
			roots = append(roots, doc.Content[0])
		}
	}
}

func textOf(n *yaml.Node) string {
	if n == nil {
		return ""
	}
	return n.Value
}

// patch adds a patch of what a selector selects; one without is about the object that it
// names.
func (e *estimator) patch(c *cost, target *types.Selector, p edit) {
	if target == nil {
		target = &types.Selector{}
		target.Kind, target.Name = p.kind, p.name
	}
	g, match := e.selected(c, target)
	c.work += g.objects*costPatched + g.bytes*costRead + (g.nodes+p.nodes)*costReadNode + c.objects*costSelect
	if p.operations > 0 {
		c.work += p.operations * (g.objects*costOperation + math.Sqrt(g.lists*g.objects)*costMoved)
	} else {
		c.work += 2 * (g.lists + g.objects*p.lists) * costMerged
	}
	c.grow(match, g.objects, p.bytes, p.nodes)
	e.bring(target, "", p.bytes, p.nodes)
}

// selected are the objects that a selector may select.
func (e *estimator) selected(c *cost, target *types.Selector) (g group, match func(string) bool) {
	if target == nil {
		return group{}, anyKind
	}
	match = matcher(target.Kind)
	for kind, of := range c.kinds {
		if match(kind) {
			g.add(of)
		}
	}
	if e.copied || !isLiteral(target.Name) {
		return g, match
	}
	var named group
	for _, o := range e.named[target.Name] {
		if match(o.kind) {
			named.add(o.group)
		}
	}
	if named.objects > 0 && named.objects < g.objects {
		// What was added to objects may have been added to these.
		named.bytes = min(g.bytes, named.bytes+named.objects*c.carried)
		named.nodes = min(g.nodes, named.nodes+named.objects*c.carried/around)
		return named, match
	}
	return g, match
}

// matcher matches as kustomize matches the fields of a selector.
func matcher(pattern string) func(string) bool {
	if pattern == "" {
		return anyKind
	}
	if isLiteral(pattern) {
		return func(text string) bool { return text == pattern }
	}
	compiled, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return anyKind
	}
	return compiled.MatchString
}

func isLiteral(pattern string) bool { return pattern != "" && regexp.QuoteMeta(pattern) == pattern }
