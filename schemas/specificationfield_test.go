package schemas

import (
	"strings"
	"testing"
)

// Every field of every kind has a meaning, and is found by its path.
func TestSpecificationFields(t *testing.T) {
	seen := 0
	var walk func(f SpecificationField)
	walk = func(f SpecificationField) {
		seen++
		if f.Meaning == "" || f.Type == "" {
			t.Errorf("%s has no meaning or no type: %+v", f.Path, f)
		}
		if found, err := SpecificationFieldAt(f.Path); err != nil || found.Meaning != f.Meaning {
			t.Errorf("%s is found as %q, %v", f.Path, found.Meaning, err)
		}
		for _, in := range f.Fields {
			walk(in)
		}
	}
	for _, kind := range SpecificationKinds() {
		f, err := SpecificationFieldAt(strings.ToUpper(kind))
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range f.Fields {
			walk(in)
		}
	}
	if seen < 300 {
		t.Errorf("only %d fields were found", seen)
	}
}
