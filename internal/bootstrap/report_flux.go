package bootstrap

import "cmp"

// FluxReport says whether a bootstrap installs the Flux that its cluster keeps then: the
// version of the manifests, or the FluxInstance.
type FluxReport struct {
	// File and Line of what is installed.
	File    string `json:"file"`
	Line    int    `json:"line"`
	Cluster string `json:"cluster"`
	// Installs is what stands there, such as "Flux's manifests"; Version is "" where nothing pins it.
	Installs string  `json:"installs"`
	Version  string  `json:"version"`
	Verdict  Verdict `json:"verdict"`
	// Git is FILE:LINE of what says which Flux the cluster runs, "" where nothing does.
	Git         string       `json:"git"`
	Differences []Difference `json:"differences"`
	Reason      string       `json:"reason"`
}

// Hint says what to do about a Flux that drifts, "" where there is nothing to add.
func (r FluxReport) Hint() string {
	for _, d := range r.Differences {
		if !d.Ignored {
			return r.HintFor(d)
		}
	}
	return ""
}

// HintFor says what is likely the cause of one difference, and what to do about it.
func (FluxReport) HintFor(d Difference) string { return cmp.Or(d.Cause, "install what Git says") }
