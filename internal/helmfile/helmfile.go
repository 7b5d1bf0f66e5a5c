package helmfile

import (
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/located"
)

// helmfile is a helmfile with its parts and bases merged, and its releases not yet evaluated. The fields, and how they merge,
// follow helmfile's own state (pkg/state, v1.8.0).
type helmfile struct {
	file, dir      string
	releases       []*rawRelease
	templates      map[string]*rawRelease
	repositories   []chartRepository
	defaultInherit []located.Text
	commonLabels   map[string]located.Text
	helmDefaults   map[string][]string // args, templateArgs, postRendererArgs, devel, plainHttp
	namespace      located.Text        // overrides the namespace of all releases
	hooks          []Hook              // of the whole helmfile
	missingFiles   located.Text        // missingFileHandler
	defaults       []entry             // values
	environments   map[string]environmentSpec
	bases          []located.Text
	calls          []call // helmfiles

	env environment
	// values are .Values in the templates of releases.
	values map[string]any

	broken *brokenPart // the first part that can't be read
	// refusals are the reasons why helmfile itself refuses the file, with positions.
	refusals []Refusal
	// guessed says that a template of the file could only be evaluated in parts: nothing about the file is certain then.
	guessed bool
	// inheritances is how many more templates the releases may inherit from.
	inheritances int
	// mentions are what its hooks mention, nil before the first use.
	mentions *mentions
}

type chartRepository struct {
	name located.Text
	url  located.Text
	oci  bool
	// plainHTTP says that the registry is reached over plain HTTP.
	plainHTTP bool
}

func newHelmfile(file, dir string) *helmfile {
	return &helmfile{file: file, dir: dir, templates: map[string]*rawRelease{}, commonLabels: map[string]located.Text{},
		helmDefaults: map[string][]string{}, environments: map[string]environmentSpec{}, env: newEnvironment(),
		inheritances: limits.Inherited}
}

// brokenPart is the position at which a helmfile is neither YAML nor a template of YAML.
type brokenPart struct {
	line   int
	reason string
}
