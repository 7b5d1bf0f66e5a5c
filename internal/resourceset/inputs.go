package resourceset

import (
	"cmp"
	"fmt"
	"hash/adler32"
	"maps"
	"slices"
	"strings"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/located"
)

// ProviderKind is the kind of input providers.
const ProviderKind = "ResourceSetInputProvider"

// Provider is an input provider as it is applied to a cluster.
type Provider struct {
	namespace, name string
	whole           *located.Value
	labels          labels.Set
}

// NewProvider returns the input provider in an object with the places of its parts.
func NewProvider(namespace, name string, whole *located.Value) Provider {
	return Provider{namespace, name, whole, labelsOf(whole)}
}

// group contains the inputs of the ResourceSet itself or of a provider.
type group struct {
	name   string
	inputs []map[string]any
}

// inputs returns the sets of inputs, combined by the input strategy. Without inputs it returns a single nil set: a template
// without inputs is evaluated once. The second result is why the inputs are unknown, "" if they are known.
func (x *expansion) inputs(spec *located.Value) ([]map[string]any, string) {
	strategy := cmp.Or(located.TextAt(spec, "inputStrategy", "name").Value, "Flatten")
	if strategy != "Flatten" && strategy != "Permute" {
		return nil, fmt.Sprintf("the input strategy %q does not exist", strategy)
	}
	own, because := x.ownInputs(spec)
	if because != "" {
		return nil, because
	}
	groups := []group{{x.set.Name, own}}
	from := spec.At("inputsFrom")
	some := located.IsList(from) && len(from.Items) > 0
	if some {
		provided, because := x.provided(from)
		if because != "" {
			return nil, because
		}
		groups = append(groups, provided...)
	}
	all, because := combine(groups, strategy == "Permute", located.TextAt(spec, "inputStrategy", "includeEmptyProviders").Value == "true")
	if len(all) > limits.SetInputs || because != "" {
		because = cmp.Or(because, fmt.Sprintf("it has more than %d inputs", limits.SetInputs))
		bounds.Refuse(x.engine.Unit, because)
		return nil, because
	}
	if len(all) == 0 && !some {
		return []map[string]any{nil}, ""
	}
	return all, ""
}

// ownInputs returns the inputs that are written in the ResourceSet.
func (x *expansion) ownInputs(spec *located.Value) ([]map[string]any, string) {
	list := spec.At("inputs")
	if !located.IsList(list) {
		return nil, ""
	}
	if len(list.Items) > limits.SetInputs {
		because := fmt.Sprintf("it has more than %d inputs", limits.SetInputs)
		bounds.Refuse(x.engine.Unit, because)
		return nil, because
	}
	var all []map[string]any
	for _, item := range list.Items {
		if m := located.UnknownIn(item); m != nil {
			return nil, m.Reason
		}
		// The operator reads inputs as JSON, in which all numbers are floating-point.
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

// provided returns the inputs of the providers that a ResourceSet names or selects in its namespace, sorted by name.
func (x *expansion) provided(from *located.Value) ([]group, string) {
	if len(from.Items) > limits.SetInputs {
		because := fmt.Sprintf("it has more than %d references to input providers", limits.SetInputs)
		bounds.Refuse(x.engine.Unit, because)
		return nil, because
	}
	chosen := map[string]Provider{}
	for _, item := range from.Items {
		name := located.TextAt(item, "name")
		selector := item.At("selector")
		switch {
		case located.UnknownIn(item) != nil:
			return nil, located.UnknownIn(item).Reason
		case name.Value != "":
			i := slices.IndexFunc(x.set.Providers, func(p Provider) bool { return p.namespace == x.set.Namespace && p.name == name.Value })
			if i < 0 {
				return nil, fmt.Sprintf("its input provider %s/%s is not among the cluster's objects", x.set.Namespace, name.Value)
			}
			chosen[name.Value] = x.set.Providers[i]
		case located.IsMap(selector):
			selects, err := selectorOf(selector)
			if err != nil {
				return nil, "the selector of its input providers cannot be read"
			}
			for _, p := range x.set.Providers {
				if p.namespace == x.set.Namespace && selects.Matches(p.labels) {
					chosen[p.name] = p
				}
			}
		}
	}
	var all []group
	for _, name := range slices.Sorted(maps.Keys(chosen)) {
		inputs, because := x.exported(chosen[name])
		if because != "" {
			return nil, because
		}
		all = append(all, group{name, inputs})
	}
	return all, ""
}

// exported returns the inputs of a provider: the default values of a provider of type Static. Its id depends on the cluster.
func (x *expansion) exported(p Provider) ([]map[string]any, string) {
	id := p.namespace + "/" + p.name
	if of := located.TextAt(p.whole, "spec", "type"); of.Value != "Static" {
		return nil, fmt.Sprintf("its inputs come from the input provider %s of type %s, which only the cluster can query", id, of.Value)
	}
	if strings.EqualFold(located.TextAt(p.whole, "metadata", "annotations", reconcileAnnotation).Value, "disabled") {
		return nil, fmt.Sprintf("its input provider %s is disabled by an annotation, and keeps its previous inputs", id)
	}
	input := map[string]any{}
	if values := p.whole.At("spec", "defaultValues"); located.IsMap(values) {
		if m := located.UnknownIn(values); m != nil {
			return nil, m.Reason
		}
		var err error
		if input, err = jsonMap(values.Plain()); err != nil {
			return nil, located.Shorten(err.Error())
		}
	}
	input["id"] = x.engine.Mark(located.Unknown{Reason: fmt.Sprintf("the id of the input provider %s depends on the cluster", id)})
	input["provider"] = map[string]any{"apiVersion": located.TextAt(p.whole, "apiVersion").Value, "kind": ProviderKind, "name": p.name, "namespace": p.namespace}
	return []map[string]any{input}, ""
}

func selectorOf(v *located.Value) (labels.Selector, error) {
	plain, err := jsonMap(v.Plain())
	if err != nil {
		return nil, err
	}
	var selector metav1.LabelSelector
	if err := fromJSON(plain, &selector); err != nil {
		return nil, err
	}
	return metav1.LabelSelectorAsSelector(&selector)
}

func labelsOf(v *located.Value) labels.Set {
	set := labels.Set{}
	if all := v.At("metadata", "labels"); located.IsMap(all) {
		for name, value := range all.Fields {
			if text, isText := value.Scalar.(string); isText {
				set[name] = text
			}
		}
	}
	return set
}

// combine returns the inputs of all groups, one after the other. If permute is set, it returns a set for each choice of one
// input from each group, under the names of the groups; then it skips groups without inputs unless empty is set.
func combine(groups []group, permute, empty bool) ([]map[string]any, string) {
	var all []map[string]any
	if !permute {
		for _, g := range groups {
			all = append(all, g.inputs...)
		}
		return all, ""
	}
	groups = slices.DeleteFunc(groups, func(g group) bool { return len(g.inputs) == 0 && !empty })
	count := 1
	for _, g := range groups {
		if count *= len(g.inputs); count > limits.SetInputs {
			return nil, fmt.Sprintf("it has more than %d inputs", limits.SetInputs)
		}
	}
	if len(groups) == 0 {
		return nil, ""
	}
	for n := range count {
		one := map[string]any{}
		parts := make([]string, len(groups))
		for i := len(groups) - 1; i >= 0; i-- {
			index := n % len(groups[i].inputs)
			n /= len(groups[i].inputs)
			parts[i] = fmt.Sprintf("%s=%d", keyOf(groups[i].name), index)
			if _, later := one[keyOf(groups[i].name)]; !later {
				one[keyOf(groups[i].name)] = groups[i].inputs[index]
			}
		}
		one["id"] = fmt.Sprint(adler32.Checksum([]byte(strings.Join(parts, "/"))))
		all = append(all, one)
	}
	return all, ""
}

// keyOf returns the name of a group in templates: lower-case letters and digits, and _ between words.
func keyOf(name string) string {
	name = strings.Map(func(r rune) rune {
		r = unicode.ToLower(r)
		switch {
		case unicode.IsSpace(r) || unicode.IsPunct(r):
			return '_'
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			return r
		}
		return -1
	}, name)
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == '_' }), "_")
}

// labelled returns an object with the labels of its owner and the common metadata, as the operator adds them.
func (x *expansion) labelled(v *located.Value) *located.Value {
	const owner = "resourceset." + fluxapi.OperatorGroup
	add := map[string]map[string]*located.Value{
		"labels": {
			owner + "/name":      {Place: v.Place, Scalar: x.set.Name},
			owner + "/namespace": {Place: v.Place, Scalar: x.set.Namespace},
		},
		"annotations": {},
	}
	for field, values := range add {
		if common := x.set.Whole.At("spec", "commonMetadata", field); located.IsMap(common) {
			maps.Copy(values, common.Fields)
		}
	}
	metadata := v.At("metadata")
	if !located.IsMap(metadata) {
		return v
	}
	copied, fields := *metadata, maps.Clone(metadata.Fields)
	for field, values := range add {
		if len(values) == 0 {
			continue
		}
		merged := &located.Value{Place: v.Place, IsMap: true, Fields: map[string]*located.Value{}}
		if known := metadata.At(field); located.IsMap(known) {
			merged.Place = known.Place
			maps.Copy(merged.Fields, known.Fields)
		}
		maps.Copy(merged.Fields, values)
		fields[field] = merged
	}
	copied.Fields = fields
	out := *v
	out.Fields = maps.Clone(v.Fields)
	out.Fields["metadata"] = &copied
	return &out
}
