package count

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	// MostDigits is the length of a number in characters. A float64 needs 24 of them, an int64 20.
	MostDigits = 400
	// MostExponent is the largest exponent of ten, of either sign. A float64 goes up to 308.
	MostExponent = 400
)

// Number returns an *Error for a text that is a number whose digits take more room and time than any
// number of a repository needs, once a library computes with all of them (math/big, gopkg.in/inf.v0):
// 1e-999999999 has a billion. It says nothing of a text that is no number.
func Number(text string) error {
	suffix := strings.TrimLeft(text, "+-0123456789.")
	switch digits := len(text) - len(suffix); {
	case digits > MostDigits:
		return Errorf("a number of %d digits is not evaluated; up to %d are", digits, MostDigits)
	case digits > 0 && suffix != "" && (suffix[0] == 'e' || suffix[0] == 'E') && beyond(suffix[1:]):
		return Errorf("a number with the exponent %.20s is not evaluated; up to %d are", suffix[1:], MostExponent)
	}
	return nil
}

// beyond says whether a text is an exponent above the limit.
func beyond(exponent string) bool {
	if exponent != "" && (exponent[0] == '-' || exponent[0] == '+') {
		exponent = exponent[1:]
	}
	value := 0
	for _, c := range []byte(exponent) {
		if c < '0' || c > '9' {
			return false
		}
		value = min(10*value+int(c-'0'), 10*MostExponent)
	}
	return value > MostExponent
}

// Numbers returns the error of Number for the first such number in a decoded JSON document.
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

// Quantity is resource.ParseQuantity for a text of a repository: an *Error where it would compute with
// more digits than Number allows.
func Quantity(text string) (resource.Quantity, error) {
	if err := Number(text); err != nil {
		return resource.Quantity{}, err
	}
	return resource.ParseQuantity(text)
}

// HoldsNumber says whether some part of a text is a number that Number refuses: what a rule that cuts
// the text may make of it.
func HoldsNumber(text string) bool {
	digits := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= '0' && c <= '9' || c == '.':
			if digits++; digits > MostDigits {
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

// exponentOf is the sign and the digits at the start of a text.
func exponentOf(text string) string {
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || end == 0 && (text[end] == '-' || text[end] == '+')) {
		end++
	}
	return text[:end]
}
