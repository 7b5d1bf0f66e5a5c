package finding

import (
	"fmt"
	"strings"
)

// Coverage counts how much of a repository was checked. Objects that were only parsed count as found.
type Coverage struct {
	// Covered is the coverage of the whole repository: a document counts once, however many clusters apply it.
	Covered
	// Causes are the reasons why objects were not reached, the most frequent first.
	Causes []CoverageCause `json:"causes"`
	// Clusters in the order of their names.
	Clusters []ClusterCoverage `json:"clusters"`
}

// Covered counts the objects that were found, and how many of them were checked.
type Covered struct {
	Kustomizations CoveredKustomizations `json:"kustomizations"`
	HelmReleases   CoveredHelmReleases   `json:"helmReleases"`
	Objects        CoveredObjects        `json:"objects"`
	// Unreached are the Kustomizations that are not built and the HelmReleases that are not rendered.
	Unreached []Unreached `json:"unreached"`
}

// CoveredKustomizations counts Flux Kustomizations in files or from builds: those found, those built (Incomplete: with an
// unresolved part), and those suspended. SwitchedOff are not counted as found: no build applies them, and a kustomization
// lists them, or a folder that contains them, in a comment.
type CoveredKustomizations struct {
	Found      int `json:"found"`
	Built      int `json:"built"`
	Incomplete int `json:"incomplete"`
	Suspended  int `json:"suspended"`

	SwitchedOff int `json:"switchedOff"`
}

// CoveredHelmReleases counts HelmReleases in files or from builds: those found, those that a build applies, and those
// whose chart was rendered. SwitchedOff are not counted as found.
type CoveredHelmReleases struct {
	Found    int `json:"found"`
	Applied  int `json:"applied"`
	Rendered int `json:"rendered"`

	SwitchedOff int `json:"switchedOff"`
}

// CoveredObjects counts the objects that builds and charts apply, once for each cluster, and how many of them were
// checked against a schema.
type CoveredObjects struct {
	Applied       int `json:"applied"`
	SchemaChecked int `json:"schemaChecked"`
}

// ClusterCoverage is the coverage of one cluster; Cluster is "" for objects of no cluster.
type ClusterCoverage struct {
	Cluster string `json:"cluster"`
	Covered
}

// Unreached is a Kustomization that is not built, or a HelmRelease that is not rendered.
type Unreached struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Object Object `json:"object"`
	// Cause is the Cause of a CoverageCause; Reason is a message about this object.
	Cause  string `json:"cause"`
	Reason string `json:"reason"`
}

// CoverageCause is a reason why objects were not reached, with the number of objects.
type CoverageCause struct {
	Cause          string `json:"cause"`
	Kustomizations int    `json:"kustomizations"`
	HelmReleases   int    `json:"helmReleases"`
	Objects        int    `json:"objects"`
	Message        string `json:"message"`
	Hint           string `json:"hint"`
}

// String returns the numbers of objects with the message of the cause.
func (c CoverageCause) String() string {
	return counted(counts{c.Kustomizations, "Kustomization"}, counts{c.HelmReleases, "HelmRelease"}, counts{c.Objects, "object"}) + ": " + c.Message
}

type counts struct {
	n    int
	name string
}

// counted returns the numbers that are not 0 in words, such as "2 Kustomizations and 1 HelmRelease".
func counted(all ...counts) string {
	var parts []string
	for _, c := range all {
		if c.n > 0 {
			parts = append(parts, Count(c.n, c.name))
		}
	}
	return strings.Join(parts, " and ")
}

// Percent returns the percentage of the found Kustomizations and HelmReleases that are built, or applied by
// a build, rounded down. If none are found, it is 100 if any object is applied, else 0.
func (c Covered) Percent() int {
	found := c.Kustomizations.Found + c.HelmReleases.Found
	switch {
	case found > 0:
		return 100 * (c.Kustomizations.Built + c.HelmReleases.Applied) / found
	case c.Objects.Applied > 0:
		return 100
	}
	return 0
}

// Below returns the message that the coverage is below a percentage.
func (c Covered) Below(percent int) string {
	return fmt.Sprintf("coverage is %d %% (%d of %d Kustomizations and HelmReleases are built, or applied by a build), below %d %%",
		c.Percent(), c.Kustomizations.Built+c.HelmReleases.Applied, c.Kustomizations.Found+c.HelmReleases.Found, percent)
}

// Figure is a count with its name.
type Figure struct {
	Name  string
	Value int
}

// Figures returns the counts with the names of their JSON fields.
func (c Covered) Figures() []Figure {
	return []Figure{
		{"kustomizations.found", c.Kustomizations.Found}, {"kustomizations.built", c.Kustomizations.Built},
		{"kustomizations.incomplete", c.Kustomizations.Incomplete}, {"kustomizations.suspended", c.Kustomizations.Suspended},
		{"kustomizations.switchedOff", c.Kustomizations.SwitchedOff}, {"helmReleases.switchedOff", c.HelmReleases.SwitchedOff},
		{"helmReleases.found", c.HelmReleases.Found}, {"helmReleases.applied", c.HelmReleases.Applied}, {"helmReleases.rendered", c.HelmReleases.Rendered},
		{"objects.applied", c.Objects.Applied}, {"objects.schemaChecked", c.Objects.SchemaChecked},
	}
}

// String returns how much was checked, of how much, in one line.
func (c Covered) String() string {
	var parts []string
	for _, s := range []struct {
		n, of      int
		name, done string
	}{
		{c.Kustomizations.Built, c.Kustomizations.Found, "Kustomization", "built"}, {c.HelmReleases.Rendered, c.HelmReleases.Found, "HelmRelease", "rendered"},
		{c.Objects.SchemaChecked, c.Objects.Applied, "applied object", "checked against schemas"},
	} {
		if s.of > 0 {
			parts = append(parts, fmt.Sprintf("%d of %s %s", s.n, Count(s.of, s.name), s.done))
		}
	}
	if len(parts) == 0 {
		return "nothing is built"
	}
	return strings.Join(parts, ", ")
}

// Off returns how many objects are switched off, in words; "" if none are.
func (c Covered) Off() string {
	return counted(counts{c.Kustomizations.SwitchedOff, "Kustomization"}, counts{c.HelmReleases.SwitchedOff, "HelmRelease"})
}

// Nothing reports whether no Kustomization or HelmRelease was found and no object is applied.
func (c Covered) Nothing() bool {
	return c.Kustomizations.Found+c.HelmReleases.Found+c.Objects.Applied == 0
}

// listHint says how to list the objects that were not reached.
const listHint = "  hint: --coverage lists them"

// coverageLines returns the last lines of a text report: how much was checked, and what to do about
// the rest.
func (r Report) coverageLines() []string {
	if c := r.Summary.Coverage; c != nil && !c.Nothing() {
		return c.lines()
	}
	return nil
}

func (c *Coverage) lines() []string {
	lines := []string{"coverage: " + c.String()}
	if off := c.Off(); off != "" {
		lines = append(lines, "  "+off+": switched off, listed in comments only; not counted")
	}
	for _, cause := range c.Causes {
		lines = append(lines, "  "+cause.String())
		if cause.Hint != "" {
			lines = append(lines, "    hint: "+cause.Hint)
		}
	}
	if len(c.Unreached) > 0 {
		lines = append(lines, listHint)
	}
	return lines
}

// coverageList prints the objects that were not reached, by cluster and cause.
func (t text) coverageList(c *Coverage) {
	for _, cluster := range c.Clusters {
		if len(cluster.Unreached) == 0 {
			continue
		}
		name := "cluster " + cluster.Cluster
		if cluster.Cluster == "" {
			name = "no cluster"
		}
		t.printf("not reached (%s): %s\n", name, cluster.String())
		for _, cause := range c.Causes {
			t.coverageOf(cause, cluster.Unreached)
		}
	}
}

// coverageOf prints the objects that were not reached for one cause.
func (t text) coverageOf(cause CoverageCause, all []Unreached) {
	printed := false
	for _, u := range all {
		if u.Cause != cause.Cause {
			continue
		}
		if !printed {
			t.printf("  %s\n", cause.Message)
			printed = true
		}
		at := u.File
		if u.Line > 0 {
			at = fmt.Sprintf("%s:%d", at, u.Line)
		}
		line := fmt.Sprintf("    %s: %s", at, u.Object)
		if u.Reason != cause.Message {
			line += ": " + u.Reason
		}
		t.printf("%s\n", line)
	}
}
