// Package state says which documents helmfile's strict decoding refuses, in its own
// words: the types have the names, fields and types of those in pkg/state of
// helmfile v1.8.0, and the YAML library is the one that helmfile uses. Nothing is
// done with what is decoded.
package state

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Check decodes a part of a helmfile, which may hold several documents. The error
// is helmfile's; nil where helmfile accepts the fields.
func Check(data []byte) (err error) {
	// The parser has panicked on hostile input before.
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("the YAML parser failed")
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	for {
		var s HelmState
		err := decoder.Decode(&s)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return errors.New(strings.ReplaceAll(err.Error(), "state.Hook", "event.Hook"))
		}
	}
}

// HelmState are the fields of a document.
type HelmState struct {
	FilePath       string
	ReleaseSetSpec `yaml:",inline"`
	RenderedValues map[string]any
}

type helmStateAlias HelmState

// UnmarshalYAML decodes as helmfile does: as any map first, so that it says what
// is no map before what it doesn't know.
func (s *HelmState) UnmarshalYAML(unmarshal func(any) error) error {
	all := map[string]any{}
	if err := unmarshal(&all); err != nil {
		return err
	}
	return unmarshal((*helmStateAlias)(s))
}

// ReleaseSetSpec are the fields of a helmfile.
type ReleaseSetSpec struct {
	DefaultHelmBinary        string                     `yaml:"helmBinary"`
	DefaultKustomizeBinary   string                     `yaml:"kustomizeBinary"`
	DefaultValues            []any                      `yaml:"values"`
	Environments             map[string]EnvironmentSpec `yaml:"environments"`
	Bases                    []string                   `yaml:"bases"`
	HelmDefaults             HelmSpec                   `yaml:"helmDefaults"`
	Helmfiles                []SubHelmfileSpec          `yaml:"helmfiles"`
	OverrideKubeContext      string                     `yaml:"kubeContext"`
	OverrideNamespace        string                     `yaml:"namespace"`
	OverrideChart            string                     `yaml:"chart"`
	Repositories             []RepositorySpec           `yaml:"repositories"`
	CommonLabels             map[string]string          `yaml:"commonLabels"`
	Releases                 []ReleaseSpec              `yaml:"releases"`
	LLM                      map[string]any             `yaml:"llm"`
	APIVersions              []string                   `yaml:"apiVersions"`
	KubeVersion              string                     `yaml:"kubeVersion"`
	Hooks                    []Hook                     `yaml:"hooks"`
	Templates                map[string]TemplateSpec    `yaml:"templates"`
	DefaultInherit           DefaultInherits            `yaml:"defaultInherit"`
	MissingFileHandler       *string                    `yaml:"missingFileHandler"`
	MissingFileHandlerConfig *MissingFileHandlerConfig  `yaml:"missingFileHandlerConfig"`
	LockFile                 string                     `yaml:"lockFilePath"`
}

// HelmSpec are the fields of helmDefaults.
type HelmSpec struct {
	KubeContext                           string   `yaml:"kubeContext"`
	Args                                  []string `yaml:"args"`
	DiffArgs                              []string `yaml:"diffArgs"`
	SyncArgs                              []string `yaml:"syncArgs"`
	TemplateArgs                          []string `yaml:"templateArgs"`
	Verify                                bool     `yaml:"verify"`
	Keyring                               string   `yaml:"keyring"`
	EnableDNS                             bool     `yaml:"enableDNS"`
	SkipSchemaValidation                  *bool    `yaml:"skipSchemaValidation"`
	Devel                                 bool     `yaml:"devel"`
	Wait                                  bool     `yaml:"wait"`
	WaitRetries                           int      `yaml:"waitRetries"`
	WaitForJobs                           bool     `yaml:"waitForJobs"`
	Timeout                               int      `yaml:"timeout"`
	RecreatePods                          bool     `yaml:"recreatePods"`
	Force                                 bool     `yaml:"force"`
	Atomic                                bool     `yaml:"atomic"`
	RollbackOnFailure                     bool     `yaml:"rollbackOnFailure"`
	CleanupOnFail                         bool     `yaml:"cleanupOnFail"`
	ForceConflicts                        bool     `yaml:"forceConflicts"`
	HistoryMax                            *int     `yaml:"historyMax"`
	CreateNamespace                       *bool    `yaml:"createNamespace"`
	SkipCRDs                              bool     `yaml:"skipCRDs"`
	SkipDeps                              bool     `yaml:"skipDeps"`
	SkipRefresh                           bool     `yaml:"skipRefresh"`
	ResolveOCIVersions                    *bool    `yaml:"resolveOCIVersions"`
	ReuseValues                           bool     `yaml:"reuseValues"`
	PostRenderer                          *string  `yaml:"postRenderer"`
	PostRendererArgs                      []string `yaml:"postRendererArgs"`
	Cascade                               *string  `yaml:"cascade"`
	SuppressOutputLineRegex               []string `yaml:"suppressOutputLineRegex"`
	DisableAutoDetectedKubeVersionForDiff *bool    `yaml:"disableAutoDetectedKubeVersionForDiff"`
	DisableValidation                     *bool    `yaml:"disableValidation"`
	DisableOpenAPIValidation              *bool    `yaml:"disableOpenAPIValidation"`
	InsecureSkipTLSVerify                 bool     `yaml:"insecureSkipTLSVerify"`
	PlainHTTP                             bool     `yaml:"plainHttp"`
	DeleteWait                            bool     `yaml:"deleteWait"`
	DeleteTimeout                         int      `yaml:"deleteTimeout"`
	SyncReleaseLabels                     *bool    `yaml:"syncReleaseLabels"`
	TakeOwnership                         *bool    `yaml:"takeOwnership"`
	ServerSide                            *string  `yaml:"serverSide"`
	TrackMode                             string   `yaml:"trackMode"`
	HelmStuckGrace                        int      `yaml:"helmStuckGrace"`
}

// RepositorySpec are the fields of a repository.
type RepositorySpec struct {
	Name            string `yaml:"name"`
	URL             string `yaml:"url"`
	CaFile          string `yaml:"caFile"`
	CertFile        string `yaml:"certFile"`
	KeyFile         string `yaml:"keyFile"`
	Username        string `yaml:"username"`
	Password        string `yaml:"password"`
	RegistryConfig  string `yaml:"registryConfig"`
	Managed         string `yaml:"managed"`
	OCI             bool   `yaml:"oci"`
	Verify          bool   `yaml:"verify"`
	Keyring         string `yaml:"keyring"`
	PassCredentials bool   `yaml:"passCredentials"`
	SkipTLSVerify   bool   `yaml:"skipTLSVerify"`
	PlainHTTP       bool   `yaml:"plainHttp"`
}

// Inherit is an item of inherit.
type Inherit struct {
	Template string   `yaml:"template"`
	Except   []string `yaml:"except"`
}

// ReleaseSpec are the fields of a release.
type ReleaseSpec struct {
	Chart                                 string                    `yaml:"chart"`
	ChartPath                             string                    `yaml:"chartPath"`
	Directory                             string                    `yaml:"directory"`
	Version                               string                    `yaml:"version"`
	Verify                                *bool                     `yaml:"verify"`
	Keyring                               string                    `yaml:"keyring"`
	EnableDNS                             *bool                     `yaml:"enableDNS"`
	Devel                                 *bool                     `yaml:"devel"`
	Wait                                  *bool                     `yaml:"wait"`
	WaitRetries                           *int                      `yaml:"waitRetries"`
	WaitForJobs                           *bool                     `yaml:"waitForJobs"`
	Timeout                               *int                      `yaml:"timeout"`
	RecreatePods                          *bool                     `yaml:"recreatePods"`
	Force                                 *bool                     `yaml:"force"`
	Installed                             *bool                     `yaml:"installed"`
	UpdateStrategy                        string                    `yaml:"updateStrategy"`
	Atomic                                *bool                     `yaml:"atomic"`
	RollbackOnFailure                     *bool                     `yaml:"rollbackOnFailure"`
	CleanupOnFail                         *bool                     `yaml:"cleanupOnFail"`
	ForceConflicts                        *bool                     `yaml:"forceConflicts"`
	HistoryMax                            *int                      `yaml:"historyMax"`
	Condition                             string                    `yaml:"condition"`
	CreateNamespace                       *bool                     `yaml:"createNamespace"`
	ReuseValues                           *bool                     `yaml:"reuseValues"`
	DisableOpenAPIValidation              *bool                     `yaml:"disableOpenAPIValidation"`
	DisableValidation                     *bool                     `yaml:"disableValidation"`
	DisableValidationOnInstall            *bool                     `yaml:"disableValidationOnInstall"`
	MissingFileHandler                    *string                   `yaml:"missingFileHandler"`
	MissingFileHandlerConfig              *MissingFileHandlerConfig `yaml:"missingFileHandlerConfig"`
	Needs                                 []string                  `yaml:"needs"`
	Hooks                                 []Hook                    `yaml:"hooks"`
	UnitTests                             []string                  `yaml:"unitTests"`
	Name                                  string                    `yaml:"name"`
	Description                           string                    `yaml:"description"`
	Namespace                             string                    `yaml:"namespace"`
	Labels                                map[string]string         `yaml:"labels"`
	Values                                []any                     `yaml:"values"`
	Secrets                               []any                     `yaml:"secrets"`
	SetValues                             []SetValue                `yaml:"set"`
	SetStringValues                       []SetValue                `yaml:"setString"`
	ValuesTemplate                        []any                     `yaml:"valuesTemplate"`
	SetValuesTemplate                     []SetValue                `yaml:"setTemplate"`
	APIVersions                           []string                  `yaml:"apiVersions"`
	KubeVersion                           string                    `yaml:"kubeVersion"`
	EnvValues                             []SetValue                `yaml:"env"`
	ValuesPathPrefix                      string                    `yaml:"valuesPathPrefix"`
	KubeContext                           string                    `yaml:"kubeContext"`
	InsecureSkipTLSVerify                 bool                      `yaml:"insecureSkipTLSVerify"`
	PlainHTTP                             bool                      `yaml:"plainHttp"`
	VerifyTemplate                        *string                   `yaml:"verifyTemplate"`
	WaitTemplate                          *string                   `yaml:"waitTemplate"`
	InstalledTemplate                     *string                   `yaml:"installedTemplate"`
	ConditionTemplate                     *string                   `yaml:"conditionTemplate"`
	Dependencies                          []Dependency              `yaml:"dependencies"`
	JSONPatches                           []any                     `yaml:"jsonPatches"`
	StrategicMergePatches                 []any                     `yaml:"strategicMergePatches"`
	Transformers                          []any                     `yaml:"transformers"`
	Adopt                                 []string                  `yaml:"adopt"`
	ForceGoGetter                         bool                      `yaml:"forceGoGetter"`
	ForceNamespace                        string                    `yaml:"forceNamespace"`
	SkipDeps                              *bool                     `yaml:"skipDeps"`
	SkipRefresh                           *bool                     `yaml:"skipRefresh"`
	ResolveOCIVersions                    *bool                     `yaml:"resolveOCIVersions"`
	PostRenderer                          *string                   `yaml:"postRenderer"`
	SkipSchemaValidation                  *bool                     `yaml:"skipSchemaValidation"`
	PostRendererArgs                      []string                  `yaml:"postRendererArgs"`
	Cascade                               *string                   `yaml:"cascade"`
	SuppressOutputLineRegex               []string                  `yaml:"suppressOutputLineRegex"`
	DisableAutoDetectedKubeVersionForDiff *bool                     `yaml:"disableAutoDetectedKubeVersionForDiff"`
	Inherit                               Inherits                  `yaml:"inherit"`
	SuppressDiff                          *bool                     `yaml:"suppressDiff"`
	DeleteWait                            *bool                     `yaml:"deleteWait"`
	DeleteTimeout                         *int                      `yaml:"deleteTimeout"`
	SyncReleaseLabels                     *bool                     `yaml:"syncReleaseLabels"`
	TakeOwnership                         *bool                     `yaml:"takeOwnership"`
	ServerSide                            *string                   `yaml:"serverSide"`
	TrackMode                             string                    `yaml:"trackMode"`
	TrackTimeout                          *int                      `yaml:"trackTimeout"`
	TrackLogs                             *bool                     `yaml:"trackLogs"`
	TrackFailedLogs                       *bool                     `yaml:"trackFailedLogs"`
	HelmStuckGrace                        *int                      `yaml:"helmStuckGrace"`
	TrackKinds                            []string                  `yaml:"trackKinds"`
	SkipKinds                             []string                  `yaml:"skipKinds"`
	TrackResources                        []TrackResourceSpec       `yaml:"trackResources"`
	KubedogQPS                            *float32                  `yaml:"kubedogQPS"`
	KubedogBurst                          *int                      `yaml:"kubedogBurst"`
	TrackFailOnError                      *bool                     `yaml:"trackFailOnError"`
}

// TrackResourceSpec is an item of trackResources.
type TrackResourceSpec struct {
	Kind      string `yaml:"kind"`
	Name      string `yaml:"name"`
	Namespace string `yaml:"namespace"`
}

// SetValue is an item of set, setString, setTemplate or env.
type SetValue struct {
	Name   string `yaml:"name"`
	Value  string `yaml:"value"`
	File   string `yaml:"file"`
	Values []any  `yaml:"values"`
}

// MissingFileHandlerConfig are the fields of missingFileHandlerConfig.
type MissingFileHandlerConfig struct {
	IgnoreMissingGitBranch bool `yaml:"ignoreMissingGitBranch"`
}

// EnvironmentSpec is an item of environments.
type EnvironmentSpec struct {
	Values                   []any                     `yaml:"values"`
	Secrets                  []string                  `yaml:"secrets"`
	KubeContext              string                    `yaml:"kubeContext"`
	MissingFileHandler       *string                   `yaml:"missingFileHandler"`
	MissingFileHandlerConfig *MissingFileHandlerConfig `yaml:"missingFileHandlerConfig"`
	MergeStrategy            string                    `yaml:"mergeStrategy"`
}

// TemplateSpec is an item of templates.
type TemplateSpec struct {
	ReleaseSpec `yaml:",inline"`
}

// Dependency is an item of dependencies.
type Dependency struct {
	Chart   string `yaml:"chart"`
	Version string `yaml:"version"`
	Alias   string `yaml:"alias"`
}

// Hook is an item of hooks.
type Hook struct {
	Name     string            `yaml:"name"`
	Events   []string          `yaml:"events"`
	Command  string            `yaml:"command"`
	Kubectl  map[string]string `yaml:"kubectlApply"`
	Args     []string          `yaml:"args"`
	ShowLogs bool              `yaml:"showlogs"`
}

// Inherits are the templates of a release: a list, or one map.
type Inherits []Inherit

// UnmarshalYAML accepts both forms.
func (r *Inherits) UnmarshalYAML(unmarshal func(any) error) error {
	var list []Inherit
	if err := unmarshal(&list); err == nil {
		*r = list
		return nil
	}
	var one Inherit
	if err := unmarshal(&one); err != nil {
		return err
	}
	*r = []Inherit{one}
	return nil
}

// DefaultInherits are the templates that all releases inherit: a list, or one name.
type DefaultInherits []string

// UnmarshalYAML accepts both forms.
func (r *DefaultInherits) UnmarshalYAML(unmarshal func(any) error) error {
	if err := unmarshal((*[]string)(r)); err == nil {
		return nil
	}
	var one string
	if err := unmarshal(&one); err != nil {
		return err
	}
	*r = []string{one}
	return nil
}

// SubHelmfileSpec is an item of helmfiles: a path, or a map with one.
type SubHelmfileSpec struct {
	Path               string
	Selectors          []string
	SelectorsInherited bool
	Inherits           []string
}

// SubhelmfileEnvironmentSpec are the values of an item of helmfiles.
type SubhelmfileEnvironmentSpec struct {
	OverrideValues []any `yaml:"values,omitempty"`
}

var allowedInherits = []string{"repositories", "helmDefaults", "commonLabels", "apiVersions", "kubeVersion",
	"templates", "environments"}

// UnmarshalYAML accepts both forms, and refuses the combinations that helmfile
// refuses.
func (hf *SubHelmfileSpec) UnmarshalYAML(unmarshal func(any) error) error {
	var v any
	if err := unmarshal(&v); err != nil {
		return err
	}
	switch v := v.(type) {
	case string:
		hf.Path = v
	case map[string]any:
		// The type has no name in helmfile, and its fields stand in the message.
		var fields struct {
			Path               string   `yaml:"path"`
			Selectors          []string `yaml:"selectors"`
			SelectorsInherited bool     `yaml:"selectorsInherited"`
			Inherits           []string `yaml:"inherits"`

			Environment SubhelmfileEnvironmentSpec `yaml:",inline"`
		}
		if err := unmarshal(&fields); err != nil {
			return err
		}
		hf.Path, hf.Selectors, hf.SelectorsInherited, hf.Inherits = fields.Path, fields.Selectors, fields.SelectorsInherited, fields.Inherits
	}
	switch {
	case hf.Selectors != nil && hf.Path == "":
		return fmt.Errorf("found 'selectors' definition without path: %v", hf.Selectors)
	case hf.SelectorsInherited && len(hf.Selectors) > 0:
		return fmt.Errorf("you cannot use 'SelectorsInherited: true' along with and explicit selector for path: %v", hf.Path)
	case len(hf.Inherits) > 0 && hf.Path == "":
		return fmt.Errorf("found 'inherits' definition without path: %v", hf.Inherits)
	}
	for _, key := range hf.Inherits {
		if !slices.Contains(allowedInherits, key) {
			return fmt.Errorf("invalid inherits entry %q for path %q: allowed values are %v", key, hf.Path, allowedInherits)
		}
	}
	return nil
}
