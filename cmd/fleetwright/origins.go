package main

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// origin is the place in the repository from which an object comes.
type origin struct {
	File           string   `json:"file"`
	Line           int      `json:"line"`
	Kustomizations []string `json:"kustomizations"`
	// HelmRelease whose chart renders the object, as NAMESPACE/NAME.
	HelmRelease string `json:"helmRelease,omitempty"`
	Template    string `json:"template,omitempty"`
	Cluster     string `json:"cluster"`
}

func originOf(o *reconcile.Object) origin {
	from := origin{File: o.File, Line: o.Line, Kustomizations: o.Kustomization.Chain(), Template: o.Template, Cluster: o.Kustomization.Cluster.Name}
	if r := o.HelmRelease; r != nil {
		from.HelmRelease = r.Namespace + "/" + r.Name
	}
	return from
}

// position returns file:line:column, without zero values.
func position(at finding.Place) string {
	if at.Line == 0 {
		return at.File
	}
	return fmt.Sprintf("%s:%d:%d", at.File, at.Line, max(at.Column, 1))
}
