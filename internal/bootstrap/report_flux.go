package bootstrap

import "cmp"

// FluxReport compares the Flux that a bootstrap installs (the version of the manifests, or the FluxInstance) with the one
// that its cluster then keeps.
type FluxReport struct {
	// File and Line of the installation.
	File    string `json:"file"`
	Line    int    `json:"line"`
	Cluster string `json:"cluster"`
	// Installs describes the installation, such as "Flux's manifests"; Version is "" if it pins none.
	Installs string  `json:"installs"`
	Version  string  `json:"version"`
	Verdict  Verdict `json:"verdict"`
	// Git is FILE:LINE of the declaration of the cluster's Flux, "" if there is none.
	Git         string       `json:"git"`
	Differences []Difference `json:"differences"`
	Reason      string       `json:"reason"`
}

// Hint returns the advice for a Flux that drifts, "" if there is none.
func (r FluxReport) Hint() string {
	for _, d := range r.Differences {
		if !d.Ignored {
			return r.HintFor(d)
		}
	}
	return ""
}

// HintFor returns the likely cause of one difference, and how to fix it.
func (FluxReport) HintFor(d Difference) string {
	return cmp.Or(d.Cause, "install the Flux that Git declares")
}
