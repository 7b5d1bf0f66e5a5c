package helmfile

import (
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/located"
)

// caller is a helmfile that calls another, and how.
type caller struct {
	*helmfile
	call
}

// give passes on what the call lets the called helmfile inherit: its own wins.
func (c *caller) give(h *helmfile) {
	if c == nil {
		return
	}
	for _, what := range c.inherits {
		switch what {
		case "repositories":
			h.repositories = append(slices.Clone(c.repositories), h.repositories...)
		case "commonLabels":
			fill(h.commonLabels, c.commonLabels)
		case "templates":
			fill(h.templates, c.templates)
		case "helmDefaults":
			for k, list := range c.helmDefaults {
				if len(h.helmDefaults[k]) == 0 {
					h.helmDefaults[k] = list
				}
			}
		}
	}
}

func fill[V any](into, from map[string]V) {
	for k, v := range from {
		if _, has := into[k]; !has {
			into[k] = v
		}
	}
}

// selected marks the releases that the selectors of a call leave out.
func selected(releases []*Release, c call) []*Release {
	if len(c.selectors) == 0 {
		return releases
	}
	for _, r := range releases {
		if !slices.ContainsFunc(c.selectors, r.matches) {
			r.Skipped = &located.Text{Place: c.path.Place, Value: "the selectors of the helmfile that calls this one leave it out"}
		}
	}
	return releases
}

// matches says whether a release has the labels of a selector: a=b,c!=d.
func (r *Release) matches(selector string) bool {
	for part := range strings.SplitSeq(selector, ",") {
		if key, value, negative := strings.Cut(part, "!="); negative {
			if r.labels[key] == value {
				return false
			}
		} else if key, value, _ := strings.Cut(part, "="); r.labels[key] != value {
			return false
		}
	}
	return true
}
