package bootstrap

import "cmp"

// FluxReport says whether a bootstrap installs the Flux that its cluster then keeps: the version of
// the manifests, or the FluxInstance.
type FluxReport struct {
	// File and Line of what is installed.
	File    string `json:"file"`
	Line    int    `json:"line"`
	Cluster string `json:"cluster"`
	// Installs describes what is installed, such as "Flux's manifests"; Version is "" if nothing pins
	// it.
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
