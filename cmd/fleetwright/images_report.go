package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/images"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/schemas"
)

// imageReport is the JSON output of images. Fields may be added and are never renamed; lists are never null.
type imageReport struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// From is the revision that the folder is compared with; "" without a comparison.
	From     string          `json:"from"`
	Clusters []clusterImages `json:"clusters"`
	unresolvedParts
	Summary imageSummary `json:"summary"`
}

// imageSummary counts each image once, even if several clusters use it.
type imageSummary struct {
	Images     int `json:"images"`
	Added      int `json:"added"`
	Removed    int `json:"removed"`
	Unresolved int `json:"unresolved"`
}

// clusterImages are the images of a cluster. With --from, only Added and Removed are set, and otherwise only Images is.
type clusterImages struct {
	Cluster string       `json:"cluster"`
	Images  []imageEntry `json:"images"`
	Added   []imageEntry `json:"added"`
	Removed []imageEntry `json:"removed"`
}

type imageEntry struct {
	Image  string     `json:"image"`
	UsedBy []imageUse `json:"usedBy"`
}

type imageUse struct {
	Object finding.Object `json:"object"`
	Field  string         `json:"field"`
	Column int            `json:"column"`
	Origin origin         `json:"origin"`
}

func newImageReport(from string) *imageReport {
	return &imageReport{APIVersion: "fleetwright.dev/v1alpha1", Kind: "ImageReport", From: from, Clusters: []clusterImages{}}
}

func (r *imageReport) addCluster(name string, all []images.Image) {
	r.Clusters = append(r.Clusters, clusterImages{name, imageEntries(all), []imageEntry{}, []imageEntry{}})
	r.count()
}

func (r *imageReport) addChange(c images.Change) {
	r.Clusters = append(r.Clusters, clusterImages{c.Cluster, []imageEntry{}, imageEntries(c.Added), imageEntries(c.Removed)})
	r.count()
}

func (r *imageReport) count() {
	r.Summary.Images = len(r.names(func(c clusterImages) []imageEntry { return c.Images }))
	r.Summary.Added = len(r.names(func(c clusterImages) []imageEntry { return c.Added }))
	r.Summary.Removed = len(r.names(func(c clusterImages) []imageEntry { return c.Removed }))
}

// names returns, each once, the names of the images that of selects from the clusters.
func (r *imageReport) names(of func(clusterImages) []imageEntry) []string {
	names := map[string]bool{}
	for _, c := range r.Clusters {
		for _, i := range of(c) {
			names[i.Image] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func imageEntries(all []images.Image) []imageEntry {
	entries := []imageEntry{}
	for _, i := range all {
		entry := imageEntry{Image: i.Name, UsedBy: []imageUse{}}
		for _, use := range i.Uses {
			o := use.Object
			from := originOf(o)
			at := o.Position(use.Path...)
			from.File, from.Line = at.File, at.Line
			entry.UsedBy = append(entry.UsedBy, imageUse{
				finding.Object{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}, schemas.Field(use.Path), at.Column, from,
			})
		}
		entries = append(entries, entry)
	}
	return entries
}

// found reports whether the exit status is 1.
func (r *imageReport) found() bool {
	return r.Summary.Added+r.Summary.Removed > 0 || r.From == "" && r.failed()
}

func (r *imageReport) write(s streams, format string) error {
	if format == formatJSON {
		return writeJSON(s.out, r)
	}
	if format == formatList {
		listed := r.names(func(c clusterImages) []imageEntry { return append(slices.Clone(c.Images), c.Added...) })
		for _, name := range listed {
			if err := output.Printf(s.out, "%s\n", name); err != nil {
				return err
			}
		}
	} else if err := r.writeText(s); err != nil {
		return err
	}
	return r.printUnresolved(s)
}

// writeText prints the images as text.
func (r *imageReport) writeText(s streams) error {
	w := output.NewText(output.Raw(s.out), s.colour())
	for _, c := range r.Clusters {
		if r.From == "" {
			_ = output.Printf(w, "%s: %s\n", output.Paint(output.Bold, c.Cluster), finding.Count(len(c.Images), "image"))
		} else if len(c.Added)+len(c.Removed) > 0 {
			_ = output.Printf(w, "%s: %d added, %d removed\n", output.Paint(output.Bold, c.Cluster), len(c.Added), len(c.Removed))
		}
		for _, i := range c.Images {
			_ = output.Printf(w, "  %s\n", i.Image)
			i.writeUses(w)
		}
		for _, i := range c.Added {
			_ = output.Printf(w, "  %s\n", output.Paint(output.Green, "+ "+i.Image))
			i.writeUses(w)
		}
		for _, i := range c.Removed {
			_ = output.Printf(w, "  %s\n", output.Paint(output.Red, "- "+i.Image))
			i.writeUses(w)
		}
	}
	if r.From != "" && r.Summary.Added+r.Summary.Removed == 0 {
		_ = output.Printf(w, "no image changes on any cluster\n")
	}
	return w.Flush()
}

func (e imageEntry) writeUses(w *output.Text) {
	for _, use := range e.UsedBy {
		name := use.Object.Kind + " " + strings.TrimPrefix(use.Object.Namespace+"/"+use.Object.Name, "/")
		by := "Kustomization " + use.Origin.Kustomizations[len(use.Origin.Kustomizations)-1]
		if use.Origin.HelmRelease != "" {
			by = "HelmRelease " + use.Origin.HelmRelease
		}
		_ = output.Printf(w, "      %s  %s  %s\n", name, by, position(finding.Place{File: use.Origin.File, Line: use.Origin.Line, Column: use.Column}))
	}
}
