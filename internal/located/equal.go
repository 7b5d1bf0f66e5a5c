package located

import (
	"fmt"
	"regexp"
)

// sameScalar reports whether scalars are equal for Helm: all numbers have one type, so that 1 and
// 1.0 are equal; the string "1" differs from the number 1.
func sameScalar(a, b any) bool {
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && x == y
	}
	if _, ok := number(b); ok {
		return false
	}
	return a == b
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	case int:
		return float64(v), true
	}
	return 0, false
}

// Variable matches a variable that Flux substitutes.
var Variable = regexp.MustCompile(`\$\{[A-Za-z_]`)

// IsNull reports whether a value is null, and not just absent.
func IsNull(v *Value) bool {
	return v != nil && !v.IsMap && !v.IsList && v.Scalar == nil && v.Unknown == nil
}

// IsMap reports whether a value is a mapping.
func IsMap(v *Value) bool { return v != nil && v.IsMap }

// IsList reports whether a value is a list.
func IsList(v *Value) bool { return v != nil && v.IsList }

// UnknownIn returns the first unknown value in a value, nil if all of it is known.
func UnknownIn(v *Value) (found *Unknown) {
	if v == nil {
		return nil
	}
	v.Walk("", func(_ string, s *Value) {
		if s.Unknown != nil && found == nil {
			found = s.Unknown
		}
	})
	return found
}

// ContainsVariable reports whether a string in a value contains a variable that Flux substitutes.
func ContainsVariable(v *Value) (found bool) {
	v.Walk("", func(_ string, s *Value) {
		if t, ok := s.Scalar.(string); ok && Variable.MatchString(t) {
			found = true
		}
	})
	return found
}

// Equal reports whether values are equal for Helm.
func Equal(a, b *Value) bool {
	switch {
	case a == nil || b == nil:
		return a == b
	case a.IsMap != b.IsMap || a.IsList != b.IsList || len(a.Items) != len(b.Items) || len(a.Fields) != len(b.Fields):
		return false
	}
	for k, v := range a.Fields {
		if other, ok := b.Fields[k]; !ok || !Equal(v, other) {
			return false
		}
	}
	for i := range a.Items {
		if !Equal(a.Items[i], b.Items[i]) {
			return false
		}
	}
	if a.IsMap || a.IsList {
		return true
	}
	if b.Substituted && b.Unknown == nil && fmt.Sprint(a.Scalar) == b.Spelled {
		return true
	}
	return sameScalar(a.Scalar, b.Scalar)
}

// AnyPart reports whether is returns true for a value or one of its parts.
func AnyPart(v *Value, is func(*Value) bool) (found bool) {
	v.Each(func(part *Value) { found = found || is(part) })
	return found
}
