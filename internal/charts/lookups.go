package charts

import (
	"path"
	"regexp"
	"slices"
	"strings"

	chart "helm.sh/helm/v4/pkg/chart/v2"
)

var (
	// defined matches the start of a named template, included the use of one, and looked a lookup of objects in the
	// cluster.
	defined  = regexp.MustCompile(`\{\{-?\s*define\s+"([^"\n]*)"`)
	included = regexp.MustCompile(`\b(?:include|template)\s+"([^"\n]*)"`)
	looked   = regexp.MustCompile(`\blookup\s+["(.$]`)
)

// lookers returns the paths of the templates of a chart and its dependencies that look up objects in the cluster, by
// themselves or in a named template that they include.
func lookers(c *chart.Chart) map[string]bool {
	sources := map[string]string{}
	collect(c, sources)
	bodies := map[string][]body{} // of named templates
	found := map[string]bool{}
	for _, text := range sources {
		at := defined.FindAllStringSubmatchIndex(text, -1)
		for i, m := range at {
			end := len(text)
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			name := text[m[2]:m[3]]
			bodies[name] = append(bodies[name], bodyOf(text[m[0]:end]))
		}
	}
	asks := map[string]bool{}
	for grown := true; grown; {
		grown = false
		for name, all := range bodies {
			if !asks[name] && slices.ContainsFunc(all, func(b body) bool { return b.asks(asks) }) {
				asks[name], grown = true, true
			}
		}
	}
	for file, text := range sources {
		if !strings.HasPrefix(path.Base(file), "_") && bodyOf(text).asks(asks) {
			found[file] = true
		}
	}
	return found
}

// body describes a text: whether it looks up objects itself, and the templates that it includes.
type body struct {
	looks    bool
	includes []string
}

func bodyOf(text string) body {
	b := body{looks: strings.Contains(text, "lookup") && looked.MatchString(text)}
	if b.looks {
		return b // the included templates add nothing
	}
	for _, m := range included.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(b.includes, m[1]) {
			b.includes = append(b.includes, m[1])
		}
	}
	return b
}

// asks reports whether the text looks up objects, or includes a template that does.
func (b body) asks(asking map[string]bool) bool {
	return b.looks || slices.ContainsFunc(b.includes, func(name string) bool { return asking[name] })
}
