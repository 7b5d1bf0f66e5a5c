package schemas

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/fleetwright/fleetwright/internal/count"
)

// quickNode accepts, in one walk and without a copy, most values that the API server's code accepts. It never refuses a
// value: if it does not accept one, or is unsure, the API server's code decides. A test compares every accepted value
// with that code.
type quickNode struct {
	// unsure is set if the schema contains something that is not checked here.
	unsure bool

	kind                    string // the JSON type, "" for any
	anything                bool   // unknown fields are preserved
	intOrString, isQuantity bool

	properties map[string]*quickNode
	additional *quickNode
	items      *quickNode
	required   []string
	// hasDefault is set if the value may be missing even if it is required.
	hasDefault   bool
	defaultValue any

	enum                 map[string]bool
	pattern              *regexp.Regexp
	format               string
	minLength, maxLength *int64
	minItems, maxItems   *int64
	minProps, maxProps   *int64
	minimum, maximum     *float64
	isSet                bool
	keys                 []string
}

func newQuickNode(s *structural.Structural) *quickNode {
	if s == nil {
		return &quickNode{anything: true}
	}
	n := &quickNode{
		kind: s.Type, anything: s.XPreserveUnknownFields, intOrString: s.XIntOrString,
		unsure: s.XEmbeddedResource || s.Nullable,
	}
	if s.Properties != nil {
		n.properties = make(map[string]*quickNode, len(s.Properties))
		for name, p := range s.Properties {
			n.properties[name] = newQuickNode(&p)
		}
	}
	if s.AdditionalProperties != nil {
		n.additional = newQuickNode(s.AdditionalProperties.Structural)
	}
	if s.Items != nil {
		n.items = newQuickNode(s.Items)
	}
	if s.XListType != nil {
		n.isSet = *s.XListType == "set"
		if *s.XListType == "map" {
			n.keys = s.XListMapKeys
		}
	}
	n.addValidation(s.ValueValidation)
	if s.Default.Object != nil {
		n.hasDefault, n.defaultValue = true, copyValue(s.Default.Object)
		n.unsure = n.unsure || !n.accepts(n.defaultValue)
	}
	return n
}

func (n *quickNode) addValidation(v *structural.ValueValidation) {
	if v == nil {
		return
	}
	n.required = v.Required
	n.minLength, n.maxLength = v.MinLength, v.MaxLength
	n.minItems, n.maxItems = v.MinItems, v.MaxItems
	n.minProps, n.maxProps = v.MinProperties, v.MaxProperties
	n.minimum, n.maximum = v.Minimum, v.Maximum
	n.format = v.Format
	if n.format == quantityFormat {
		n.isQuantity = true
	}
	n.unsure = n.unsure || v.UniqueItems || v.ExclusiveMinimum || v.ExclusiveMaximum || v.MultipleOf != nil ||
		v.Not != nil || len(v.AllOf) > 0 || len(v.OneOf) > 0 || len(v.AnyOf) > 0 && !n.intOrString
	for _, alternative := range v.AnyOf {
		// The alternatives of an int-or-string: an integer and a string.
		n.unsure = n.unsure || alternative.ForbiddenGenerics.Type == ""
	}
	if v.Pattern != "" {
		pattern, err := count.Compile(v.Pattern)
		n.pattern, n.unsure = pattern, n.unsure || err != nil
	}
	if v.Enum != nil {
		n.enum = map[string]bool{}
		for _, value := range v.Enum {
			text, ok := value.Object.(string)
			n.enum[text], n.unsure = true, n.unsure || !ok
		}
	}
}

// accepts reports whether a value is certainly valid.
func (n *quickNode) accepts(value any) bool {
	if n.unsure {
		return false
	}
	switch v := value.(type) {
	case map[string]any:
		return n.is("object") && n.acceptsMap(v)
	case []any:
		return n.is("array") && n.acceptsList(v)
	case string:
		return n.acceptsText(v)
	case int64:
		return n.acceptsNumber(v)
	case float64:
		return n.isQuantity || n.is("number") && n.enum == nil && n.format == "" && n.minimum == nil && n.maximum == nil
	case bool:
		return n.is("boolean") && n.enum == nil && n.format == ""
	}
	return false
}

// is reports whether the schema has a type, or allows any.
func (n *quickNode) is(kind string) bool {
	return !n.isQuantity && !n.intOrString && (n.kind == kind || n.kind == "" && n.anything)
}

func (n *quickNode) acceptsMap(m map[string]any) bool {
	if n.enum != nil || n.format != "" || !within(len(m), n.minProps, n.maxProps) {
		return false
	}
	for k, v := range m {
		if p, ok := n.properties[k]; ok {
			if !p.accepts(v) {
				return false
			}
			continue
		}
		switch {
		case n.additional != nil:
			if !n.additional.accepts(v) {
				return false
			}
		case !n.anything:
			return false
		}
	}
	return n.hasRequired(m)
}

func (n *quickNode) hasRequired(m map[string]any) bool {
	for _, name := range n.required {
		if _, ok := m[name]; ok {
			continue
		}
		if p, ok := n.properties[name]; !ok || !p.hasDefault || p.unsure {
			return false
		}
	}
	return true
}

func (n *quickNode) acceptsList(list []any) bool {
	if n.enum != nil || n.format != "" || !within(len(list), n.minItems, n.maxItems) {
		return false
	}
	if n.items == nil {
		return n.anything
	}
	for _, item := range list {
		if !n.items.accepts(item) {
			return false
		}
	}
	return len(list) < 2 || !n.isSet && n.keys == nil || n.differ(list)
}

// differ reports whether the entries of a set, or the keys of a map-type list, are
// certainly different.
func (n *quickNode) differ(list []any) bool {
	seen := make(map[string]bool, len(list))
	for _, item := range list {
		var key string
		if n.isSet {
			text, ok := item.(string)
			if !ok {
				return false
			}
			key = text
		} else {
			m, ok := item.(map[string]any)
			if !ok {
				return false
			}
			if key, ok = n.keyOf(m); !ok {
				return false
			}
		}
		if seen[key] {
			return false
		}
		seen[key] = true
	}
	return true
}

func (n *quickNode) keyOf(m map[string]any) (string, bool) {
	var b strings.Builder
	for _, name := range n.keys {
		value, ok := m[name]
		if !ok && n.items.properties[name] != nil {
			value = n.items.properties[name].defaultValue
		}
		switch v := value.(type) {
		case string:
			b.WriteString(strconv.Quote(v))
		case int64:
			b.WriteString(strconv.FormatInt(v, 10))
		default:
			return "", false
		}
		b.WriteByte(',')
	}
	return b.String(), true
}

func (n *quickNode) acceptsText(text string) bool {
	if n.isQuantity {
		return isQuantity(text)
	}
	if !n.intOrString && n.kind != "string" && (n.kind != "" || !n.anything) {
		return false
	}
	if n.format != "" && (n.intOrString || !formats().ContainsName(n.format) || !formats().Validates(n.format, text)) {
		return false
	}
	if n.minLength != nil || n.maxLength != nil {
		if !within(utf8.RuneCountInString(text), n.minLength, n.maxLength) {
			return false
		}
	}
	return (n.enum == nil || n.enum[text]) && (n.pattern == nil || n.pattern.MatchString(text))
}

func (n *quickNode) acceptsNumber(v int64) bool {
	if n.isQuantity {
		return true
	}
	switch {
	case n.enum != nil:
		return false
	case n.intOrString:
		return n.format == "" && n.minimum == nil && n.maximum == nil
	case n.kind == "" && n.anything:
		return n.format == "" && n.minimum == nil && n.maximum == nil
	case n.kind != "integer" && n.kind != "number":
		return false
	}
	switch n.format {
	case "", "int64":
	case "int32":
		if n.kind != "integer" || v < math.MinInt32 || v > math.MaxInt32 {
			return false
		}
	default:
		return false
	}
	const exact = 1 << 53 // a float64 represents every integer up to here
	if n.minimum != nil || n.maximum != nil {
		f := float64(v)
		return v > -exact && v < exact && (n.minimum == nil || f >= *n.minimum) && (n.maximum == nil || f <= *n.maximum)
	}
	return true
}

// copyRoot copies an accepted object without the fields that an apply drops. It copies only
// parts in which defaults may be set; other parts are shared.
func (n *quickNode) copyRoot(object map[string]any) map[string]any {
	clean := make(map[string]any, len(object)+1)
	for k, v := range object {
		if k != "status" && k != "sops" {
			clean[k] = n.field(k).copy(v)
		}
	}
	return clean
}

// field returns the schema of a field, nil if anything is allowed.
func (n *quickNode) field(name string) *quickNode {
	if p, ok := n.properties[name]; ok {
		return p
	}
	return n.additional
}

func (n *quickNode) copy(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if n == nil || n.properties == nil && n.additional == nil {
			return v
		}
		m := make(map[string]any, len(v)+1)
		for k, item := range v {
			m[k] = n.field(k).copy(item)
		}
		return m
	case []any:
		if n == nil || n.items == nil {
			return v
		}
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = n.items.copy(item)
		}
		return list
	}
	return value
}

// within reports whether a count is within optional bounds.
func within(count int, least, most *int64) bool {
	return (least == nil || int64(count) >= *least) && (most == nil || int64(count) <= *most)
}

// copyValue returns a copy of a value, with numbers as the API server decodes them.
func copyValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, item := range v {
			m[k] = copyValue(item)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = copyValue(item)
		}
		return list
	case int:
		return int64(v)
	case uint64:
		if v <= math.MaxInt64 {
			return int64(v)
		}
		return float64(v)
	}
	return value
}
