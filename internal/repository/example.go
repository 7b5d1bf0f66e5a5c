package repository

import (
	"slices"
	"strings"
)

// exampleFolders are names of folders that show how something is used, or try it.
var exampleFolders = []string{"example", "examples", "sample", "samples", "test", "tests", "testdata", "fixtures", "e2e", "demo", "doc", "docs", "documentation"}

// IsExampleFolder says whether a folder is named as those are that hold examples and tests, and
// not what a cluster applies. Nothing but the name is looked at.
func IsExampleFolder(name string) bool {
	return slices.Contains(exampleFolders, strings.ToLower(name))
}
