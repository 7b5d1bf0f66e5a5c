package render

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// message returns the commit message: the number of changed files, then the tenants, add-ons and clusters with
// changed files.
func (c *committer) message(j *commitJob) string {
	var counts tree.Summary
	names := map[string]bool{}
	for step := range j.Plan.Changes() {
		if step.Path == tree.InventoryPath {
			continue
		}
		switch step.Action {
		case tree.Create:
			counts.Created++
		case tree.Update:
			counts.Updated++
		case tree.Delete:
			counts.Deleted++
		}
		for part := range strings.SplitSeq(step.Path, "/") {
			names[strings.TrimSuffix(part, path.Ext(part))] = true
			names[part] = true
		}
	}
	subject := "Render " + strings.Replace(j.Target.Name, "tenant-", "tenant ", 1)
	switch {
	case counts != tree.Summary{}:
		subject += ": " + counts.String()
	case len(j.Specification) > 0:
		subject = "Update the specification"
	}
	body := c.changed(j, names)
	if len(j.Specification) > 0 {
		var files []string
		for _, s := range j.Specification {
			files = append(files, s.Path)
		}
		body = append(body, "Specification: "+output.List(files))
	}
	text := cmp.Or(strings.TrimSpace(c.options.Message), subject)
	if c.options.Message != "" {
		body = append([]string{subject}, body...)
	}
	if len(body) > 0 {
		text += "\n\n" + strings.Join(body, "\n")
	}
	return text
}

// changed lists the tenants, add-ons and clusters with changed files.
func (c *committer) changed(j *commitJob, names map[string]bool) []string {
	if j.Target.Name != generators.PlatformTarget {
		return nil
	}
	kinds := map[string][]string{}
	for _, t := range c.rendered.Tenants {
		kinds["Tenants"] = append(kinds["Tenants"], t.Name)
	}
	if spec := c.rendered.Spec; spec != nil {
		for _, a := range spec.Addons {
			kinds["Add-ons"] = append(kinds["Add-ons"], a.Metadata.Name)
		}
		for _, k := range spec.Clusters {
			kinds["Clusters"] = append(kinds["Clusters"], k.Metadata.Name)
		}
	}
	var lines []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		touched := slices.DeleteFunc(slices.Sorted(slices.Values(kinds[kind])), func(name string) bool { return !names[name] })
		if len(touched) > 0 {
			lines = append(lines, kind+": "+output.List(touched))
		}
	}
	return lines
}

// CountLines returns the number of lines added and removed between two versions of a file.
func CountLines(before, after []byte) (added, removed int) {
	_, hunks, _ := strings.Cut(string(diff.Diff("a", before, "b", after)), "\n@@")
	for line := range strings.Lines(hunks) {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return added, removed
}
