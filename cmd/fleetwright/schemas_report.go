package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/schema"
)

// schemaReport is the JSON output of schemas. Fields may be added and are never renamed; lists are never null.
type schemaReport struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Kinds      []kindReport `json:"kinds"`
	unresolvedParts
	Summary schemaSummary `json:"summary"`
}

type schemaSummary struct {
	Kinds          int `json:"kinds"`
	Objects        int `json:"objects"`
	MissingKinds   int `json:"missingKinds"`
	MissingObjects int `json:"missingObjects"`
	Unresolved     int `json:"unresolved"`
}

// kindReport describes a kind. File and Line are the place of its first object.
type kindReport struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Objects    int    `json:"objects"`
	File       string `json:"file"`
	Line       int    `json:"line"`
	// Clusters are the clusters that apply objects of the kind. Missing are the clusters among them that have no schema for
	// it, with the reason.
	Clusters []string         `json:"clusters"`
	Missing  []string         `json:"missing"`
	Reason   string           `json:"reason"`
	Schemas  []schemaOfReport `json:"schemas"`
}

// schemaOfReport is a source of a kind's schema, with the clusters for which it is used.
type schemaOfReport struct {
	From        string   `json:"from"` // built-in, repository, chart or folder
	Product     string   `json:"product"`
	File        string   `json:"file"`
	Line        int      `json:"line"`
	HelmRelease string   `json:"helmRelease"`
	Chart       string   `json:"chart"`
	Clusters    []string `json:"clusters"`
}

func newSchemaReport(all []schema.Kind) *schemaReport {
	r := &schemaReport{APIVersion: "fleetwright.dev/v1alpha1", Kind: "SchemaReport", Kinds: []kindReport{}}
	for _, k := range all {
		apiVersion, kind := k.ToAPIVersionAndKind()
		one := kindReport{APIVersion: apiVersion, Kind: kind, Objects: k.Objects, File: k.File, Line: k.Line, Clusters: []string{}, Missing: []string{}, Reason: k.Missing(), Schemas: []schemaOfReport{}}
		for _, in := range k.Clusters {
			if in.Cluster != "" {
				one.Clusters = append(one.Clusters, in.Cluster)
			}
			if in.Missing != "" && in.Cluster != "" {
				one.Missing = append(one.Missing, in.Cluster)
			}
			for _, source := range in.Sources {
				one.add(newSchemaOfReport(source), in.Cluster)
			}
		}
		r.Kinds = append(r.Kinds, one)
		r.Summary.Objects += k.Objects
		if one.Reason != "" {
			r.Summary.MissingKinds++
			r.Summary.MissingObjects += k.Objects
		}
	}
	r.Summary.Kinds = len(all)
	return r
}

func newSchemaOfReport(s schemas.Source) schemaOfReport {
	switch d := s.Definition; {
	case d != nil && d.HelmRelease != "":
		return schemaOfReport{From: "chart", File: d.File, Line: d.Line, HelmRelease: d.HelmRelease, Chart: d.Chart}
	case d != nil:
		return schemaOfReport{From: "repository", File: d.File, Line: d.Line}
	case s.Folder != "":
		return schemaOfReport{From: "folder", File: s.Folder}
	}
	return schemaOfReport{From: "built-in", Product: s.Product}
}

// add adds a source for a cluster.
func (k *kindReport) add(s schemaOfReport, cluster string) {
	same := func(other schemaOfReport) bool {
		return s.From == other.From && s.File == other.File && s.Line == other.Line && s.HelmRelease == other.HelmRelease && s.Chart == other.Chart
	}
	i := slices.IndexFunc(k.Schemas, same)
	if i < 0 {
		i, s.Clusters = len(k.Schemas), []string{}
		k.Schemas = append(k.Schemas, s)
	}
	if known := &k.Schemas[i]; cluster != "" && !slices.Contains(known.Clusters, cluster) {
		known.Clusters = append(known.Clusters, cluster)
	}
}

func (r *schemaReport) write(s streams, format string) error {
	r.Summary.Unresolved = len(r.Unresolved)
	if format == formatJSON {
		return writeJSON(s.out, r)
	}
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, k := range r.Kinds {
		_ = output.Printf(t, "%s %s\t%d\t%s\n", k.APIVersion, k.Kind, k.Objects, k.from()) // Flush returns the first error
	}
	if err := t.Flush(); err != nil {
		return err
	}
	sum, missing := r.Summary, "all have a schema"
	if sum.MissingKinds > 0 {
		missing = fmt.Sprintf("no schema for %s, %s", finding.Count(sum.MissingKinds, "kind"), finding.Count(sum.MissingObjects, "object"))
	}
	return cmp.Or(
		output.Printf(s.out, "%s\n%s, %s: %s\n", output.Lines(strings.TrimSuffix(text.String(), "\n")), finding.Count(sum.Kinds, "kind"), finding.Count(sum.Objects, "object"), missing),
		r.printUnresolved(s))
}

// from describes the sources of the kind's schemas. If the clusters differ, it names the clusters of each source.
func (k *kindReport) from() string {
	var all []string
	for _, s := range k.Schemas {
		text := s.String()
		if len(s.Clusters) < len(k.Clusters) {
			text += " (cluster " + strings.Join(s.Clusters, ", ") + ")"
		}
		all = append(all, text)
	}
	if k.Reason != "" {
		text := "missing: " + k.Reason
		if len(k.Missing) < len(k.Clusters) {
			text += " (cluster " + strings.Join(k.Missing, ", ") + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

func (s schemaOfReport) String() string {
	switch s.From {
	case "chart":
		return fmt.Sprintf("chart %s of HelmRelease %s", s.Chart, s.HelmRelease)
	case "built-in":
		return "built in (" + s.Product + ")"
	}
	return position(finding.Place{File: s.File, Line: s.Line})
}
