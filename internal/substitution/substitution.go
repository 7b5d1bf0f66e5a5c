// Package substitution finds the variables in strings that kustomize-controller substitutes.
package substitution

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/envsubst"
)

// Limits of one string with variables.
const (
	maxSubstituted = 1 << 20
	maxVariables   = 100
)

// Needed returns the variables that must be set to substitute a string: those without a default.
func Needed(s string) (names []string, err error) {
	if !strings.Contains(s, "${") {
		return nil, nil
	}
	if len(s) > maxSubstituted {
		return nil, errors.New("the string is too long to be substituted")
	}
	// The library panics on some lengths and positions.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the variable substitution failed: %v", p)
		}
	}()
	template, err := envsubst.Parse(s)
	if err != nil {
		return nil, err
	}
	for {
		// A run stops at the first required variable that is missing; the next run treats it as
		// set.
		asked := ""
		_, err := template.Execute(func(name string) (string, bool) {
			asked = name
			return "", slices.Contains(names, name)
		})
		if err == nil || slices.Contains(names, asked) {
			return names, nil
		}
		names = append(names, asked)
		if len(names) > maxVariables {
			return nil, errors.New("the string has too many variables")
		}
	}
}
