package schemas

import (
	_ "embed" // the schemas
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
)

// packedSpecification contains the schemas of all kinds of a specification, which tools/specschema writes next to the files
// that editors read.
//
//go:embed specification.json.gz
var packedSpecification []byte

// specification returns the JSON Schemas by kind in lower case.
var specification = sync.OnceValue(func() map[string]string {
	text, err := unpack(packedSpecification)
	var all map[string]string
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil { // embedded at build time
		panic(err)
	}
	return all
})

// SpecificationKinds returns the kinds of a specification that have a JSON Schema,
// sorted, in lower case.
func SpecificationKinds() []string { return slices.Sorted(maps.Keys(specification())) }

// Specification returns the JSON Schema of a kind of a specification, in any case, and whether
// there is one.
func Specification(kind string) ([]byte, bool) {
	content, known := specification()[strings.ToLower(kind)]
	return []byte(content), known
}
