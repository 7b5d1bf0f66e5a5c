package templates

// EnvironmentData is .Environment in a template.
type EnvironmentData struct {
	Name         string
	KubeContext  string
	Values       map[string]any
	Defaults     map[string]any
	CLIOverrides map[string]any
}

// StateData is the data of a helmfile's template.
type StateData struct {
	Environment EnvironmentData
	Namespace   string
	Values      map[string]any
	StateValues *map[string]any
}

// ReleaseData is the data of the templates in a release.
type ReleaseData struct {
	Environment EnvironmentData
	Release     ReleaseInfo
	Values      map[string]any
	StateValues *map[string]any
	KubeContext string
	Namespace   string
	Chart       string
}

// ReleaseInfo is .Release in the templates in a release.
type ReleaseInfo struct {
	Name, Namespace, Chart, ChartVersion, KubeContext string
	Labels                                            map[string]string
}
