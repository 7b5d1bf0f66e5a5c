package schemas

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *_v1alpha1.json
var specification embed.FS

// SpecificationKinds are the kinds of a specification that have a JSON Schema,
// sorted, in lower case.
func SpecificationKinds() []string {
	entries, err := specification.ReadDir(".")
	if err != nil { // embedded when the command was built
		panic(err)
	}
	var kinds []string
	for _, e := range entries {
		if kind, ok := strings.CutSuffix(e.Name(), "_v1alpha1.json"); ok && !strings.Contains(kind, ".") {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return kinds
}

// Specification returns the JSON Schema of a kind of a specification, whatever
// the kind's case, and whether there is one.
func Specification(kind string) ([]byte, bool) {
	kind = strings.ToLower(kind)
	if !slices.Contains(SpecificationKinds(), kind) {
		return nil, false
	}
	content, err := specification.ReadFile(kind + "_v1alpha1.json")
	return content, err == nil
}
