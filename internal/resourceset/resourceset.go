package resourceset

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// ResourceSet is a ResourceSet of the Flux Operator as it is applied to a cluster.
type ResourceSet struct {
	Namespace, Name string
	// Whole is the object with the places of its parts.
	Whole *located.Value
	// Unknown returns why a string of the object is unknown as Flux applies it, nil if it is known.
	Unknown func(text string) *located.Unknown
	// Providers are the input providers among the objects of the cluster.
	Providers []Provider
}

// Result is the result of evaluating a ResourceSet.
type Result struct {
	// Objects are the objects that the ResourceSet creates, without duplicates. The places of their parts are in the template.
	Objects []*located.Value
	// Copies are objects that the operator fills with the data of another object, which [CopyOf] returns.
	Copies []*located.Value
	// Because is why some objects are unknown, "" if all are known.
	Because string
	// Refused reports whether the operator refuses the ResourceSet, too: the template is wrong, whatever objects a
	// cluster has.
	Refused bool
}

// Evaluator evaluates ResourceSets: their resources are templates over their inputs. The inputs
// in a ResourceSet and in input providers of type Static are known, those of other providers are not.
// Source: internal/builder/resourceset.go and internal/inputs of
// github.com/controlplaneio-fluxcd/flux-operator v0.58.0, which cannot be imported.
type Evaluator struct{ engine *templates.Engine }

// NewEvaluator returns an evaluator for the ResourceSets of a repository, one after the other.
func NewEvaluator(ctx context.Context) *Evaluator {
	return &Evaluator{templates.NewForResourceSets(ctx)}
}

// Annotations of the operator: one disables an object, the other requests that the operator copy data from another
// object.
const (
	reconcileAnnotation = fluxapi.OperatorGroup + "/reconcile"
	copyFromAnnotation  = fluxapi.OperatorGroup + "/copyFrom"
)

// Evaluate computes the objects that a ResourceSet creates. A ResourceSet that an annotation disables creates none.
func (e *Evaluator) Evaluate(set ResourceSet) Result {
	x := &expansion{engine: e.engine, set: set, seen: map[[4]string]bool{}}
	if strings.EqualFold(located.TextAt(set.Whole, "metadata", "annotations", reconcileAnnotation).Value, "disabled") {
		return x.result
	}
	e.engine.Unit = bounds.Unit{Kind: "document", File: set.Whole.File, Line: set.Whole.Line, Name: fmt.Sprintf("ResourceSet %s/%s", set.Namespace, set.Name)}
	result, err := bounds.Do(e.engine.Unit, func() (Result, error) { x.run(); return x.result, nil })
	if err != nil {
		e.engine = templates.NewForResourceSets(e.engine.Ctx) // the other one is still in use
		return Result{Because: err.Error()}
	}
	return result
}

// expansion is the evaluation of one ResourceSet.
type expansion struct {
	engine *templates.Engine
	set    ResourceSet
	result Result
	seen   map[[4]string]bool // the group, kind, namespace and name of each created object
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

func jsonMap(v any) (map[string]any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	err = json.Unmarshal(text, &out)
	return out, err
}

// fromJSON encodes a value as JSON and decodes it into another one.
func fromJSON(v, into any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// resource evaluates an item of resources with a set of inputs. As the operator does, it encodes the item as YAML and
// evaluates that as a template.
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

// template evaluates resourcesTemplate with a set of inputs.
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

// comparable returns a template with the delimiters that [templates.AlignLines] knows.
func (x *expansion) comparable(source string) string {
	return strings.NewReplacer(templates.SetLeft, "{{", templates.SetRight, "}}").Replace(source)
}

// refuses reports whether the Flux Operator fails with this error, too: the template reads an undefined input, or cannot be parsed.
// It returns false for an error about a function, because the operator may have functions that Fleetwright does not have.
func refuses(err error) bool {
	message := err.Error()
	if strings.Contains(message, "function ") {
		return false
	}
	return strings.Contains(message, "map has no entry for key") || strings.Contains(message, "unclosed action") ||
		strings.Contains(message, "unexpected ") && strings.Contains(message, "template: ")
}

// fail records why objects of the ResourceSet are unknown.
func (x *expansion) fail(err error) {
	if x.result.Because == "" {
		x.result.Refused = refuses(err)
		x.result.Because = "it was not evaluated: " + strings.ReplaceAll(templates.Reason(err), "stringTemplate", "resourceset")
	}
}

// read returns the objects in rendered YAML; line converts its line numbers.
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

// placedLike returns a value whose parts have the places of the same parts of another value.
func placedLike(v, written *located.Value, at finding.Place) *located.Value {
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

// add adds an object, unless one of the same name was added before. If exclude is set, an annotation can exclude it.
func (x *expansion) add(v *located.Value, exclude bool) {
	if !located.IsMap(v) {
		return
	}
	if len(x.result.Objects) >= limits.SetObjects {
		x.result.Because = fmt.Sprintf("it creates more than %d objects", limits.SetObjects)
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
		x.fail(fmt.Errorf("the name of a %s depends on a part that is not evaluated", id[1]))
		return
	}
	if x.seen[id] {
		return
	}
	x.seen[id] = true
	if annotation(copyFromAnnotation) != nil {
		x.result.Copies = append(x.result.Copies, x.labelled(x.markUnknown(v)))
		return
	}
	x.result.Objects = append(x.result.Objects, x.labelled(x.markUnknown(v)))
}

// CopyOf returns the namespace and name of the object from which the operator copies the data of a ConfigMap
// or Secret, "" if it copies none.
// Source: internal/controller/resourceset_controller_configs.go of
// github.com/controlplaneio-fluxcd/flux-operator v0.58.0, which cannot be imported.
func CopyOf(v *located.Value) (namespace, name string) {
	kind := located.TextAt(v, "kind").Value
	if located.TextAt(v, "apiVersion").Value != "v1" || kind != "ConfigMap" && kind != "Secret" {
		return "", ""
	}
	parts := strings.Split(located.TextAt(v, "metadata", "annotations", copyFromAnnotation).Value, "/")
	if len(parts) != 2 {
		return "", ""
	}
	return parts[0], parts[1]
}

// HasCopies reports whether a ResourceSet may contain an object whose data the operator copies.
func HasCopies(set map[string]any) bool { return mentions(set["spec"], copyFromAnnotation) }

// mentions reports whether a key or string of a value contains a text.
func mentions(value any, text string) bool {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			if strings.Contains(key, text) || mentions(field, text) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, func(item any) bool { return mentions(item, text) })
	case string:
		return strings.Contains(value, text)
	}
	return false
}

// markUnknown marks the unknown strings of a value: results that a template could not compute, and
// variables whose values are not in Git.
func (x *expansion) markUnknown(v *located.Value) *located.Value {
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
