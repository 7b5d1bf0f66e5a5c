package count

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// Number returns an *Error for a number whose digits would take more memory and time than any real
// number when a library computes with all of them (math/big, gopkg.in/inf.v0): 1e-999999999 has a
// billion digits. It ignores strings that are not numbers.
func Number(text string) error {
	suffix := strings.TrimLeft(text, "+-0123456789.")
	switch digits := len(text) - len(suffix); {
	case digits > limits.Digits:
		return Errorf("a number of %d digits is not evaluated; up to %d are", digits, limits.Digits)
	case digits > 0 && suffix != "" && (suffix[0] == 'e' || suffix[0] == 'E') && beyond(suffix[1:]):
		return Errorf("a number with the exponent %.20s is not evaluated; up to %d are", suffix[1:], limits.Digits)
	}
	return nil
}

// beyond reports whether a string is an exponent above the limit.
func beyond(exponent string) bool {
	if exponent != "" && (exponent[0] == '-' || exponent[0] == '+') {
		exponent = exponent[1:]
	}
	value := 0
	for _, c := range []byte(exponent) {
		if c < '0' || c > '9' {
			return false
		}
		value = min(10*value+int(c-'0'), 10*limits.Digits)
	}
	return value > limits.Digits
}

// Numbers returns the error of Number for the first number in a decoded JSON document that Number refuses.
func Numbers(document any) error {
	switch v := document.(type) {
	case json.Number:
		return Number(v.String())
	case []any:
		for _, item := range v {
			if err := Numbers(item); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, item := range v {
			if err := Numbers(item); err != nil {
				return err
			}
		}
	}
	return nil
}

// Quantity is resource.ParseQuantity for a string of a repository: it returns an *Error if it would
// compute with more digits than Number allows.
func Quantity(text string) (resource.Quantity, error) {
	if err := Number(text); err != nil {
		return resource.Quantity{}, err
	}
	return resource.ParseQuantity(text)
}

// HoldsNumber reports whether a part of a string is a number that Number refuses. A rule that
// splits the string could produce it.
func HoldsNumber(text string) bool {
	digits := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= '0' && c <= '9' || c == '.':
			if digits++; digits > limits.Digits {
				return true
			}
			continue
		case (c == 'e' || c == 'E') && digits > 0 && beyond(exponentOf(text[i+1:])):
			return true
		}
		digits = 0
	}
	return false
}

// exponentOf returns the sign and the digits at the start of a string.
func exponentOf(text string) string {
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || end == 0 && (text[end] == '-' || text[end] == '+')) {
		end++
	}
	return text[:end]
}
