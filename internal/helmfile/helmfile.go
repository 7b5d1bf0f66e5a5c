package helmfile

import (
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/located"
)

// helmfile is a helmfile with its parts and bases merged, its releases not yet
// evaluated. The fields, and how they merge, are those of helmfile's own state
// (pkg/state, v1.8.0).
type helmfile struct {
	file, dir      string
	releases       []*rawRelease
	templates      map[string]*rawRelease
	repositories   []chartRepository
	defaultInherit []located.Text
	commonLabels   map[string]located.Text
	helmDefaults   map[string][]string // args, templateArgs, postRendererArgs, devel, plainHttp
	namespace      located.Text        // overrides that of all releases
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
	// refusals say why helmfile itself stops at the file, and where.
	refusals []Refusal
	// guessed says that a template of the file was not evaluated as a whole: then nothing about
	// the file is certain.
	guessed bool
	// inheritances is how many templates the releases may inherit from yet.
	inheritances int
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

// brokenPart is where a helmfile is neither YAML nor a template of it.
type brokenPart struct {
	line   int
	reason string
}
