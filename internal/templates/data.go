package templates

// EnvironmentData is .Environment in a template.
type EnvironmentData struct {
	Name         string
	KubeContext  string
	Values       map[string]any
	Defaults     map[string]any
	CLIOverrides map[string]any
}

// StateData is what the template of a helmfile sees.
type StateData struct {
	Environment EnvironmentData
	Namespace   string
	Values      map[string]any
	StateValues *map[string]any
}

// ReleaseData is what the templates of a release see.
type ReleaseData struct {
	Environment EnvironmentData
	Release     ReleaseInfo
	Values      map[string]any
	StateValues *map[string]any
	KubeContext string
	Namespace   string
	Chart       string
}

// ReleaseInfo is .Release in the templates of a release.
type ReleaseInfo struct {
	Name, Namespace, Chart, ChartVersion, KubeContext string
	Labels                                            map[string]string
}
