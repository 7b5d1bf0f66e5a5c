package schemas

import (
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Edition returns the schema of a kind as an earlier release had it, such as
// AccessManagement in "1.11" of k0rdent, and whether it differs from the newest.
func Edition(gvk schema.GroupVersionKind, release string) (*Schema, bool) {
	compiled, ok := editions()[edition{gvk, release}]
	if !ok {
		return nil, false
	}
	s, err := compiled()
	if err != nil {
		// The embedded files are generated, and a test compiles each of them.
		panic(fmt.Sprintf("schemas: %s of %s: %v", gvk, release, err))
	}
	return s, true
}

type edition struct {
	gvk     schema.GroupVersionKind
	release string
}

// editions are the schemas of earlier releases, each compiled once.
var editions = sync.OnceValue(func() map[edition]entry {
	files, err := data.ReadDir("data")
	if err != nil {
		return nil
	}
	all := map[edition]entry{}
	for _, f := range files {
		parts := strings.Split(strings.TrimSuffix(f.Name(), ".json.gz"), "_")
		if len(parts) != 4 {
			continue
		}
		of := edition{schema.GroupVersionKind{Group: parts[0], Version: parts[1], Kind: parts[2]}, parts[3]}
		all[of] = sync.OnceValues(func() (*Schema, error) {
			s, err := loadFile("data/"+f.Name(), of.gvk)
			if err != nil {
				return nil, err
			}
			s.meta, err = metadata()
			return s, err
		})
	}
	return all
})
