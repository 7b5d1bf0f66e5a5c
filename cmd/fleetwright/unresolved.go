package main

import (
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// unresolvedPart is an unresolved part of some clusters, in reports of images and schemas.
type unresolvedPart struct {
	Object   string   `json:"object"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Failed   bool     `json:"failed"`
	Clusters []string `json:"clusters"`
	Reason   string   `json:"reason"`
}

// unresolvedParts are the unresolved parts of a report, with the number of clusters.
type unresolvedParts struct {
	Unresolved []unresolvedPart `json:"unresolved"`
	clusters   int
}

func (p *unresolvedParts) addUnresolved(all []reconcile.Unknown, clusters int) {
	p.Unresolved, p.clusters = []unresolvedPart{}, clusters
	for _, u := range all {
		p.Unresolved = append(p.Unresolved, unresolvedPart{u.What, u.File, u.Line, u.Column, u.Failed, u.Clusters, u.Reason})
	}
}

// failed reports whether Flux itself would fail in one of the parts.
func (p *unresolvedParts) failed() bool {
	return slices.ContainsFunc(p.Unresolved, func(u unresolvedPart) bool { return u.Failed })
}

// printUnresolved prints each unresolved part once, with its clusters if there are several.
func (p *unresolvedParts) printUnresolved(s streams) error {
	for _, u := range p.Unresolved {
		what, in := "unresolved: ", ""
		if u.Failed {
			what = ""
		}
		if p.clusters > 1 {
			in = " (cluster " + strings.Join(u.Clusters, ", ") + ")"
		}
		if err := output.Printf(s.err, "%s: %s%s: %s%s\n", position(finding.Place{File: u.File, Line: u.Line, Column: u.Column}), what, u.Object, u.Reason, in); err != nil {
			return err
		}
	}
	return nil
}
