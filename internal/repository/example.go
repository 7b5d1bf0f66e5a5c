package repository

import (
	"path"
	"slices"
	"strings"
)

// exampleFolders are names of folders that show how something is used, or try it.
var exampleFolders = []string{"example", "examples", "sample", "samples", "test", "tests", "testdata", "fixtures", "e2e", "demo", "snippets", "doc", "docs", "documentation"}

// IsExampleFolder says whether a folder is named as those are that hold examples and tests, and
// not what a cluster applies. Nothing but the name is looked at.
func IsExampleFolder(name string) bool {
	return slices.Contains(exampleFolders, strings.ToLower(name))
}

// putAway are names of folders whose files are no longer, or not yet, what a cluster applies,
// beside those of examples.
var putAway = []string{"template", "templates", "archive", ".archive", "_archive", "archived", "node_modules", "site-packages", "vendor", "hack", ".github"}

// IsSetAside says whether a folder of a file's path is named as those are that hold examples and
// tests, or what is kept and not applied. Nothing but the names is looked at.
func IsSetAside(file string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(file), "/"), func(name string) bool {
		return IsExampleFolder(name) || slices.Contains(putAway, strings.ToLower(name))
	})
}

// IsExample says whether a file's path names it an example, a test's or a template, or one that is
// set aside. Nothing but the path is looked at.
func IsExample(file string) bool { return isExample(file) || IsTemplate(file) }

func isExample(file string) bool {
	dir := "/" + strings.ToLower(path.Dir(file))
	return IsSetAside(file) || strings.Contains(dir, "/test") || strings.Contains(dir, "testdata") || isNamed(file, "example", "sample", "_test.")
}

// IsTemplate says whether a file's name names it a template.
func IsTemplate(file string) bool { return isNamed(file, "template") || hasTemplateEnd(file) }

func hasTemplateEnd(file string) bool { return isNamed(file, ".tmpl", ".tpl", ".j2", ".tftpl") }

// IsCalledTemplate says whether the word template in its name is all that makes a file an example.
func IsCalledTemplate(file string) bool {
	return isNamed(file, "template") && !hasTemplateEnd(file) && !isExample(file)
}

// isNamed says whether a file's name holds one of some words.
func isNamed(file string, words ...string) bool {
	base := strings.ToLower(path.Base(file))
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(base, word) })
}
