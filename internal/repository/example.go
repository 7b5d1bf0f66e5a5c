package repository

import (
	"path"
	"slices"
	"strings"
)

// exampleFolders are common names of folders with examples or tests.
var exampleFolders = []string{"example", "examples", "sample", "samples", "test", "tests", "testdata", "fixtures", "e2e", "demo", "snippets", "doc", "docs", "documentation"}

// IsExampleFolder reports whether a folder has a common name for examples and tests, which no
// cluster applies. It checks only the name.
func IsExampleFolder(name string) bool {
	return slices.Contains(exampleFolders, strings.ToLower(name))
}

// putAway are common names of folders with templates or archived files, which no cluster applies.
// exampleFolders are not among them.
var putAway = []string{"template", "templates", "tmpl", "boilerplate", "skeleton", "skeletons", "cookiecutter", "archive", "archived",
	"node_modules", "site-packages", "vendor", "hack", ".github"}

// IsSetAside reports whether a file is in a folder with a common name for examples, tests, archives or
// templates. It checks only the names.
func IsSetAside(file string) bool {
	return IsPutAway(file) || slices.ContainsFunc(strings.Split(path.Dir(file), "/"), IsExampleFolder)
}

// IsPutAway reports whether a file is in such a folder with another name than that of examples and tests: a cluster may
// be called test or demo. The name may have a dot or underscore in front, as in .templates. A generator of repositories
// fills a folder such as {{cookiecutter.name}}.
func IsPutAway(file string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(file), "/"), func(name string) bool {
		name = strings.ToLower(name)
		return slices.Contains(putAway, name) || slices.Contains(putAway, strings.TrimLeft(name, "._")) || strings.Contains(name, "{{")
	})
}

// archives are further common names of folders with files that no cluster applies any more.
var archives = []string{"attic", "backup", "backups", "deferred", "deprecated", "disabled", "graveyard", "old", "retired", "unused"}

// IsArchived reports whether a file is in a folder with one of the names in archives.
func IsArchived(file string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(file), "/"), func(name string) bool {
		return slices.Contains(archives, strings.TrimLeft(strings.ToLower(name), "._-"))
	})
}

// attics are common names of folders with unused files that are never names of applications.
var attics = []string{"archive", "archived", "archives", "attic", "deprecated", "disabled", "graveyard", "old", "trash", "unused"}

// Attic returns the innermost folder of a file's path with one of the names in attics, "" if there is none.
func Attic(file string) string {
	for dir := path.Dir(file); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if slices.Contains(attics, strings.ToLower(strings.TrimLeft(path.Base(dir), "._-"))) {
			return dir
		}
	}
	return ""
}

// IsExample reports whether the path of a file is that of an example, a test, a template or an archived file.
// It checks only the path.
func IsExample(file string) bool { return isExample(file) || IsTemplate(file) }

func isExample(file string) bool {
	dir := "/" + strings.ToLower(path.Dir(file))
	return IsSetAside(file) || strings.Contains(dir, "/test") || strings.Contains(dir, "testdata") || isNamed(file, "example", "sample", "_test.", ".env.test")
}

// IsTemplate reports whether the name of a file is that of a template.
func IsTemplate(file string) bool { return isNamed(file, "template") || hasTemplateEnd(file) }

func hasTemplateEnd(file string) bool { return isNamed(file, ".tmpl", ".tpl", ".j2", ".tftpl") }

// IsCalledTemplate reports whether a file counts as an example only because its name contains the word template.
func IsCalledTemplate(file string) bool {
	return isNamed(file, "template") && !hasTemplateEnd(file) && !isExample(file)
}

// isNamed reports whether a file's name contains one of the words.
func isNamed(file string, words ...string) bool {
	base := strings.ToLower(path.Base(file))
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(base, word) })
}
