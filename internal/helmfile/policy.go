package helmfile

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/helmfile/state"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/templates"
)

var (
	topLevelKey = regexp.MustCompile(`^([a-zA-Z]+):`)
	separator   = regexp.MustCompile(`^--- *$`)
)

// againstPolicy says why helmfile refuses the order of a file's top-level keys,
// and at which line (pkg/policy, v1.8.0); "" where it doesn't.
func againstPolicy(content string) (string, int) {
	type key struct {
		name string
		line int
	}
	var keys []key
	for i, line := range strings.Split(content, "\n") {
		line = strings.TrimRight(line, " \t\r\f\v")
		if separator.MatchString(line) {
			keys = append(keys, key{"---", i + 1})
		} else if m := topLevelKey.FindStringSubmatch(line); m != nil {
			keys = append(keys, key{m[1], i + 1})
		}
	}
	releases := false
	for _, k := range keys {
		switch {
		case k.name == "releases":
			releases = true
		case (k.name == "bases" || k.name == "environments") && releases:
			return fmt.Sprintf("top-level config key %s must be defined before releases", k.name), k.line
		}
	}
	if !slices.ContainsFunc(keys, func(k key) bool { return k.name != "---" }) {
		return "no top-level config keys are found", 1
	}
	last := key{name: "---"}
	seen := map[string]bool{}
	for _, k := range keys {
		if k.name != "---" && (k.name != "environments" && k.name != "releases" || seen[k.name]) {
			continue
		}
		seen[k.name] = true
		if last.name != "---" && k.name != "---" {
			return "environments and releases cannot be defined within the same YAML part. Use --- to extract the environments into a dedicated part", k.line
		}
		last = k
	}
	return "", 0
}

// checkFields notes what helmfile's strict decoding refuses of a part: a field
// that it doesn't know, a type that doesn't fit. What stands for an unknown value
// has no type.
func (r *reader) checkFields(h *helmfile, source string, offset int, original func(int) int) {
	if strings.Contains(source, templates.MarkOpen) {
		return
	}
	if strings.Count(source, ":") > limits.HelmfileFields {
		bounds.Refuse(r.Unit, fmt.Sprintf("a part of it has more than %d fields", limits.HelmfileFields))
		return
	}
	// Worlds often render the same text.
	digest := sha256.Sum256([]byte(source))
	err, known := r.checked[digest]
	if !known {
		err = state.Check([]byte(source))
		r.checked[digest] = err
	}
	if err == nil {
		return
	}
	reason := located.Shorten(err.Error())
	line := offset + 1
	if m := yamlLine.FindStringSubmatch(reason); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = original(n)
		}
	}
	if strings.HasPrefix(reason, "yaml: invalid map key") {
		nodes, _ := located.Parse(h.file, source)
		line = original(max(lineOfMapKey(nodes), 1))
	}
	h.refuse(located.At(h.file, line), reason)
}

// lineOfMapKey is the line of the first key that is a map or a list, 0 where there is none.
func lineOfMapKey(nodes []*yaml.Node) int {
	for _, n := range nodes {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Kind == yaml.MappingNode || n.Content[i].Kind == yaml.SequenceNode {
				return n.Content[i].Line
			}
		}
		if line := lineOfMapKey(n.Content); line > 0 {
			return line
		}
	}
	return 0
}

var yamlLine = regexp.MustCompile(`line (\d+):`)
