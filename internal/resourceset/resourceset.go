package resourceset

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// ResourceSet is a ResourceSet of the Flux Operator, as it is applied to a cluster.
type ResourceSet struct {
	Namespace, Name string
	// Whole is the object with the places of its parts.
	Whole *located.Value
	// Unknown says why a string of the object is not known as Flux applies it, nil where it is.
	Unknown func(text string) *located.Unknown
}

// Result is what a ResourceSet comes to.
type Result struct {
	// Objects that it creates, each once, with the places of its parts: those of the template.
	Objects []*located.Value
	// Because says why not all of them are known, "" where they are.
	Because string
}

// Evaluator evaluates ResourceSets: their resources are templates over their inputs. The inputs that are written
// in a ResourceSet are known, and those of input providers are not.
//
// Source: internal/builder/resourceset.go and internal/inputs of
// github.com/controlplaneio-fluxcd/flux-operator v0.58.0, which cannot be imported.
type Evaluator struct{ engine *templates.Engine }

// NewEvaluator returns an evaluator for the ResourceSets of a repository, one after the other.
func NewEvaluator(ctx context.Context) *Evaluator {
	return &Evaluator{templates.NewForResourceSets(ctx)}
}

// Bounds of what the ResourceSets of a repository make.
const (
	maxInputs = 1000
	maxMade   = 5000
)

// The annotations of the operator that matter here: one switches an object off, the other has
// the operator copy data from elsewhere.
const (
	reconcileAnnotation = fluxapi.OperatorGroup + "/reconcile"
	copyFromAnnotation  = fluxapi.OperatorGroup + "/copyFrom"
)

// Evaluate computes the objects that a ResourceSet creates. One that an annotation switches off creates none.
func (e *Evaluator) Evaluate(set ResourceSet) Result {
	x := &expansion{engine: e.engine, set: set, seen: map[[4]string]bool{}}
	if strings.EqualFold(located.TextAt(set.Whole, "metadata", "annotations", reconcileAnnotation).Value, "disabled") {
		return x.result
	}
	e.engine.Unit = bounds.Unit{Kind: "document", File: set.Whole.File, Line: set.Whole.Line, Name: fmt.Sprintf("ResourceSet %s/%s", set.Namespace, set.Name)}
	if err := bounds.Do(e.engine.Unit, func() error { x.run(); return nil }); err != nil {
		x.fail(err)
	}
	return x.result
}

// expansion is the evaluation of one ResourceSet.
type expansion struct {
	engine *templates.Engine
	set    ResourceSet
	result Result
	seen   map[[4]string]bool // the group, kind, namespace and name of each object
}

func (x *expansion) run() {
	spec := x.set.Whole.At("spec")
	if !located.IsMap(spec) {
		return
	}
	inputs, because := x.inputs(spec)
	if because != "" {
		x.result.Because = because
		return
	}
	steps := []*located.Value{spec}
	if list := spec.At("steps"); located.IsList(list) {
		steps = list.Items
	}
	for _, step := range steps {
		if resources := step.At("resources"); located.IsList(resources) {
			for _, resource := range resources.Items {
				for _, input := range inputs {
					x.resource(resource, input, len(inputs) > 1 || input != nil)
				}
			}
		}
		if text := step.At("resourcesTemplate"); text != nil && !located.IsMap(text) && !located.IsList(text) {
			for _, input := range inputs {
				x.template(text, input)
			}
		}
	}
}

// inputs are the sets of inputs, one that is nil where there are none: a template without inputs is
// evaluated once.
func (x *expansion) inputs(spec *located.Value) ([]map[string]any, string) {
	if from := spec.At("inputsFrom"); located.IsList(from) && len(from.Items) > 0 {
		return nil, "its inputs come from input providers (inputsFrom)"
	}
	if name := located.TextAt(spec, "inputStrategy", "name").Value; name != "" && name != "Flatten" {
		return nil, fmt.Sprintf("the input strategy %q is not evaluated", name)
	}
	list := spec.At("inputs")
	if !located.IsList(list) || len(list.Items) == 0 {
		return []map[string]any{nil}, ""
	}
	if len(list.Items) > maxInputs {
		because := fmt.Sprintf("it has more than %d inputs", maxInputs)
		bounds.Refuse(x.engine.Unit, because)
		return nil, because
	}
	var all []map[string]any
	for _, item := range list.Items {
		if m := located.UnknownIn(item); m != nil {
			return nil, m.Reason
		}
		// The operator reads them as JSON: all numbers are floating-point there.
		input, err := jsonMap(item.Plain())
		if err != nil {
			return nil, located.Shorten(err.Error())
		}
		input["provider"] = map[string]any{"apiVersion": located.TextAt(x.set.Whole, "apiVersion").Value, "kind": located.TextAt(x.set.Whole, "kind").Value,
			"name": x.set.Name, "namespace": x.set.Namespace}
		all = append(all, input)
	}
	return all, ""
}

func jsonMap(v any) (map[string]any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	err = json.Unmarshal(text, &out)
	return out, err
}

// resource evaluates an item of resources with some inputs: the operator writes it as YAML and
// evaluates that.
func (x *expansion) resource(written *located.Value, input map[string]any, exclude bool) {
	text, err := yaml.Marshal(written.Plain())
	if err != nil {
		x.fail(err)
		return
	}
	if !strings.Contains(string(text), templates.SetLeft) {
		x.add(written, exclude)
		return
	}
	rendered, err := x.engine.RenderInputs(string(text), input)
	if err != nil {
		x.fail(err)
		return
	}
	all, err := x.read(rendered, func(int) int { return written.Line })
	if err != nil {
		x.fail(err)
		return
	}
	for _, v := range all {
		x.add(placedLike(v, written, written.Place), exclude)
	}
}

// template evaluates resourcesTemplate with some inputs.
func (x *expansion) template(text *located.Value, input map[string]any) {
	source, _ := text.Scalar.(string)
	rendered, err := x.engine.RenderInputs(source, input)
	if err != nil {
		x.fail(err)
		return
	}
	lines := templates.AlignLines(x.comparable(source), rendered)
	all, err := x.read(rendered, func(line int) int { return text.Line + lines[min(max(line, 1), len(lines))-1] })
	if err != nil {
		x.fail(err)
		return
	}
	for _, v := range all {
		x.add(v, true)
	}
}

// comparable is a template with the delimiters that [alignLines] knows.
func (x *expansion) comparable(source string) string {
	return strings.NewReplacer(templates.SetLeft, "{{", templates.SetRight, "}}").Replace(source)
}

// fail notes why something of the ResourceSet is not known.
func (x *expansion) fail(err error) {
	if x.result.Because == "" {
		x.result.Because = "it is not evaluated: " + strings.ReplaceAll(templates.Reason(err), "stringTemplate", "resourceset")
	}
}

// read reads the objects of a text.
func (x *expansion) read(text string, line func(int) int) ([]*located.Value, error) {
	nodes, err := located.Parse(x.set.Whole.File, text)
	if err != nil {
		return nil, err
	}
	located.ShiftLines(nodes, line)
	var all []*located.Value
	for _, n := range nodes {
		v, err := located.ValueOf(x.set.Whole.File, n, located.AsHelm)
		if err != nil {
			return nil, err
		}
		if v.IsMap && len(v.Fields) > 0 {
			all = append(all, v)
		}
	}
	return all, nil
}

// placedLike gives the parts of a value the places of those of another one, where it has them.
func placedLike(v, written *located.Value, at located.Place) *located.Value {
	if written != nil {
		at = written.Place
	}
	out := *v
	out.Place = at
	if v.IsMap {
		out.Fields = make(map[string]*located.Value, len(v.Fields))
		for key, field := range v.Fields {
			out.Fields[key] = placedLike(field, written.At(key), at)
		}
	}
	out.Items = nil
	for i, item := range v.Items {
		out.Items = append(out.Items, placedLike(item, written.Item(i), at))
	}
	return &out
}

// add adds an object, the first of its name. Exclude says that an annotation can leave it out.
func (x *expansion) add(v *located.Value, exclude bool) {
	if !located.IsMap(v) {
		return
	}
	if len(x.result.Objects) >= maxMade {
		x.result.Because = fmt.Sprintf("it creates more than %d objects", maxMade)
		bounds.Refuse(x.engine.Unit, x.result.Because)
		return
	}
	annotation := func(name string) *located.Value { return v.At("metadata", "annotations", name) }
	if disabled := annotation(reconcileAnnotation); exclude && disabled != nil && disabled.Scalar == "disabled" {
		return
	}
	id := [4]string{located.TextAt(v, "apiVersion").Value, located.TextAt(v, "kind").Value, located.TextAt(v, "metadata", "namespace").Value, located.TextAt(v, "metadata", "name").Value}
	if group, _, grouped := strings.Cut(id[0], "/"); grouped {
		id[0] = group
	} else {
		id[0] = ""
	}
	if strings.Contains(id[1]+id[2]+id[3], templates.MarkOpen) {
		x.fail(fmt.Errorf("the name of a %s depends on what is not evaluated", id[1]))
		return
	}
	if x.seen[id] {
		return
	}
	x.seen[id] = true
	if annotation(copyFromAnnotation) != nil {
		return // what it holds is elsewhere
	}
	x.result.Objects = append(x.result.Objects, x.certain(v))
}

// certain marks the strings of a value that are not known: what a template could not compute, and
// variables that Flux has replaced by what isn't in Git.
func (x *expansion) certain(v *located.Value) *located.Value {
	return v.MapScalars(func(s *located.Value) *located.Value {
		text, isText := s.Scalar.(string)
		if !isText || s.Unknown != nil {
			return s
		}
		out := *s
		if m, bad := x.engine.Marked(text); bad {
			out.Unknown = &m
		} else {
			out.Unknown = x.set.Unknown(text)
		}
		return &out
	})
}
