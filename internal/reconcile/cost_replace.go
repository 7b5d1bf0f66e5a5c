package reconcile

import (
	"math"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/utils"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// replacement adds a replacement, or those of a file.
func (e *estimator) replacement(dir string, r types.ReplacementField, c *cost) {
	if r.Path == "" {
		e.replace(r.Replacement, c)
		return
	}
	data := e.read(dir, r.Path)
	var several []types.Replacement
	if yaml.Unmarshal(data, &several) != nil {
		several = make([]types.Replacement, 1)
		if yaml.Unmarshal(data, &several[0]) != nil {
			return // kustomize says why
		}
	}
	for _, one := range several {
		e.replace(one, c)
	}
}

// replace adds a replacement: a target with a delimiter keeps its text and adds to it.
func (e *estimator) replace(r types.Replacement, c *cost) {
	var size, nodes float64
	switch {
	case r.SourceValue != nil:
		size = float64(len(*r.SourceValue))
	case r.Source != nil:
		size, nodes = e.length(c, r.Source.Kind, r.Source.Name, r.Source.FieldPath)
		nodes = max(0, nodes-1) // one takes the place of what was there
	}
	for _, target := range r.Targets {
		if target == nil || target.Select == nil {
			continue
		}
		g, match := e.selected(c, target.Select)
		paths := target.FieldPaths
		if len(paths) == 0 {
			paths = []string{types.DefaultReplacementFieldPath}
		}
		places := 0.0 // in an object
		for _, path := range paths {
			at := placesAt(path, g)
			places += at
			e.bring(target.Select, path, at*size, at*nodes)
		}
		c.work += c.objects*costSelect*float64(1+len(target.Reject)) + g.objects*costPatched/4 + g.objects*places*costField
		c.grow(match, g.objects, places*size, places*nodes)
		if r.Source == nil || target.Options == nil || target.Options.Delimiter == "" {
			continue
		}
		same := func(a, b string) bool { return a == "" || b == "" || a == b || !isLiteral(b) }
		if same(r.Source.Kind, target.Select.Kind) && same(r.Source.Name, target.Select.Name) {
			e.feedback++
		}
	}
}

// brought is what a change brings to a place of the objects that a selector selects: so many
// bytes and values.
type brought struct {
	target       *types.Selector
	path         string
	bytes, nodes float64
}

func (e *estimator) bring(target *types.Selector, path string, bytes, nodes float64) {
	if target == nil {
		target = &types.Selector{}
	}
	if len(e.brought) <= mostChanges {
		e.brought = append(e.brought, brought{target, path, bytes, nodes})
	}
}

// touches says whether a change may be about a place of an object. A name may have got a prefix
// since.
func (b *brought) touches(kind, name, path string) bool {
	if kind != "" && !matcher(b.target.Kind)(kind) {
		return false
	}
	if other := b.target.Name; isLiteral(other) && !strings.Contains(name, other) && !strings.Contains(other, name) {
		return false
	}
	mine, its := literalPath(b.path), literalPath(path)
	return strings.HasPrefix(mine, its) || strings.HasPrefix(its, mine)
}

// literalPath is the beginning of a path that leads to one place.
func literalPath(path string) string {
	if i := strings.IndexAny(path, "*["); i >= 0 {
		return path[:i]
	}
	return path
}

// placesAt is how many places of an object a path may lead to: a * and a condition lead to all
// items or fields.
func placesAt(path string, g group) float64 {
	if strings.ContainsAny(path, "*[") && g.objects > 0 {
		return math.Ceil(g.fullest / 2)
	}
	return 1
}

// length is that of the value at a path of an object, in bytes, and the number of values in it:
// at most that of the largest object which may be meant, and what changes have brought there.
func (e *estimator) length(c *cost, kind, name, path string) (bytes, nodes float64) {
	found := false
	longest := func(g group) { bytes, nodes = max(bytes, g.largest), max(nodes, g.fullest) }
	for _, o := range e.named[name] {
		if kind != "" && o.kind != kind {
			continue
		}
		found = true
		if o.node == nil {
			longest(o.group)
		} else if node := repository.Lookup(o.node, stepsOf(path)...); node != nil {
			longest(sizeOf(node))
		}
	}
	if !found {
		g, _ := e.selected(c, selectorOf(kind, name))
		longest(g)
	}
	for _, b := range e.brought {
		if b.touches(kind, name, path) {
			bytes += b.bytes
			nodes += b.nodes
		}
	}
	return bytes, nodes
}

func selectorOf(kind, name string) *types.Selector {
	s := &types.Selector{}
	s.Kind, s.Name = kind, name
	return s
}

// stepsOf are the fields and list indexes of a path.
func stepsOf(path string) []any {
	if path == "" {
		path = types.DefaultReplacementFieldPath
	}
	var steps []any
	for _, step := range utils.SmarterPathSplitter(path, ".") {
		step = strings.Trim(step, "[]")
		if i, err := strconv.Atoi(step); err == nil {
			steps = append(steps, i)
			continue
		}
		steps = append(steps, step)
	}
	return steps
}

// variables adds what the vars of a kustomization may make of references to them, which are
// as long as a var's name at least.
func (e *estimator) variables(k *types.Kustomization, c *cost) {
	if len(k.Vars) == 0 || c.objects == 0 { //nolint:staticcheck // older repositories use it
		return
	}
	c.work += c.objects * costObject
	most := 0.0
	for _, v := range k.Vars { //nolint:staticcheck // older repositories use it
		size, _ := e.length(c, v.ObjRef.Kind, v.ObjRef.Name, v.FieldRef.FieldPath)
		most = max(most, size/float64(len("$()")+len(v.Name)))
	}
	c.bytes += c.bytes * most
	c.largest += c.largest * most
}
