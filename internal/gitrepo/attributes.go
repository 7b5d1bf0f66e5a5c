package gitrepo

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitattributes"

	"github.com/fleetwright/fleetwright/internal/advice"
)

// byteAttributes are the attributes because of which git stores other bytes than a file contains.
var byteAttributes = []string{"filter", "working-tree-encoding"}

// checkFilters returns an error for changes to a branch that is not checked out, so that git cannot convert them, if its
// attributes set a filter, such as Git LFS, or another encoding.
func (b *Branch) checkFilters(changes []Change) error {
	known := map[string][]gitattributes.MatchAttribute{}
	for _, c := range changes {
		if c.Delete {
			continue
		}
		var all []gitattributes.MatchAttribute
		for dir := path.Dir(c.Path); ; dir = path.Dir(dir) {
			own, read := known[dir]
			if !read {
				own = b.attributesIn(dir, changes)
				known[dir] = own
			}
			all = append(slices.Clone(own), all...)
			if dir == "." {
				break
			}
		}
		for _, name := range byteAttributes {
			if value := valueOf(all, c.Path, name); value != "" && !isUTF8(name, value) {
				return advice.New(
					fmt.Errorf("%w: %q has the attribute %s=%s, and branch %q is not checked out, so that git cannot convert the file", ErrFilter, c.Path, name, value, b.Name()),
					`check the branch out in a work tree, and commit there; or exclude the path, with a later line "`+c.Path+" -"+name+`" in .gitattributes`,
				)
			}
		}
	}
	return nil
}

// valueOf returns the value of an attribute of a path, "" without one. The last line that sets the attribute counts.
func valueOf(lines []gitattributes.MatchAttribute, file, name string) string {
	macros := map[string]string{}
	for _, l := range lines {
		if a := lastOf(l, name); l.Pattern == nil && a != nil {
			macros[l.Name] = a.Value()
		}
	}
	for _, l := range slices.Backward(lines) {
		if l.Pattern == nil || !l.Pattern.Match(strings.Split(file, "/")) {
			continue
		}
		if a := lastOf(l, name); a != nil {
			return a.Value()
		}
		for _, a := range l.Attributes {
			if value, ok := macros[a.Name()]; ok && a.IsSet() {
				return value
			}
		}
	}
	return ""
}

// lastOf returns the last setting of an attribute in a line; nil if the line does not set it.
func lastOf(l gitattributes.MatchAttribute, name string) gitattributes.Attribute {
	for _, a := range slices.Backward(l.Attributes) {
		if a.Name() == name {
			return a
		}
	}
	return nil
}

func isUTF8(name, value string) bool {
	return name == "working-tree-encoding" && strings.EqualFold(strings.ReplaceAll(value, "-", ""), "utf8")
}

// attributesIn returns the lines of a folder's .gitattributes after the changes.
func (b *Branch) attributesIn(dir string, changes []Change) []gitattributes.MatchAttribute {
	file := path.Join(dir, ".gitattributes")
	var data []byte
	if i := slices.IndexFunc(changes, func(c Change) bool { return c.Path == file }); i >= 0 {
		data = changes[i].Content
	} else if data, _ = b.ReadFile(file); data == nil {
		return nil
	}
	var domain []string
	if dir != "." {
		domain = strings.Split(dir, "/")
	}
	var all []gitattributes.MatchAttribute
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, `""`) {
			continue // go-git's parser panics
		}
		a, err := gitattributes.ParseAttributesLine(line, domain, dir == ".")
		if err == nil && a.Name != "" && !strings.HasSuffix(a.Name, "/") { // go-git's pattern for a folder panics
			all = append(all, a)
		}
	}
	return all
}
