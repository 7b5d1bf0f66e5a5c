package bootstrap

// helmfile has the fields of a helmfile.yaml that are generated
// (https://helmfile.readthedocs.io/en/latest/#configuration).
type helmfile struct {
	HelmDefaults helmDefaults        `json:"helmDefaults"`
	Repositories []repository        `json:"repositories,omitempty"`
	Templates    map[string]template `json:"templates"`
	Releases     []release           `json:"releases"`
}

type helmDefaults struct {
	Args          []string `json:"args,omitempty"`
	CleanupOnFail bool     `json:"cleanupOnFail,omitempty"`
	Wait          bool     `json:"wait,omitempty"`
	WaitForJobs   bool     `json:"waitForJobs,omitempty"`
}

type repository struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

type template struct {
	Chart   string   `json:"chart"`
	Version string   `json:"version"`
	Values  []string `json:"values"`
}

type release struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels"`
	Inherit   []inherit         `json:"inherit"`
	Needs     []string          `json:"needs,omitempty"`
	// TakeOwnership of existing objects that belong to no release (Helm 3.17).
	TakeOwnership bool   `json:"takeOwnership,omitempty"`
	Hooks         []hook `json:"hooks,omitempty"`
}

type inherit struct {
	Template string `json:"template"`
}

type hook struct {
	Events   []string `json:"events"`
	Command  string   `json:"command"`
	Args     []string `json:"args"`
	ShowLogs bool     `json:"showlogs"`
}
