package helmfile

import (
	"cmp"

	"dario.cat/mergo"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// environment are the values of helmfile's environment "default", the one that a
// bootstrap uses when nothing else is said (pkg/environment, v1.8.0), or of one that is not known, where a helmfile
// defines others only: values are
// the environment's, defaults those that all environments share.
type environment struct {
	values, defaults map[string]any
	// name is the mark of a name that is not known, "" for the default.
	name string
	// unknown says which values could not be read.
	unknown []located.Unknown
}

func newEnvironment() environment {
	return environment{values: map[string]any{}, defaults: map[string]any{}}
}

// open says whether templates may see values that are not known.
func (e *environment) open() bool {
	return e != nil && (len(e.unknown) > 0 || templates.HoldsMark(e.values) || templates.HoldsMark(e.defaults))
}

// merge lays another environment over this one, as helmfile merges parts.
func (e *environment) merge(from environment) {
	e.values, e.defaults = templates.Copied(e.values), templates.Copied(e.defaults)
	_ = mergo.Merge(&e.values, templates.Copied(from.values), mergo.WithOverride)
	_ = mergo.Merge(&e.defaults, templates.Copied(from.defaults), mergo.WithOverride)
	e.name = cmp.Or(from.name, e.name)
	e.unknown = append(e.unknown, from.unknown...)
}

// over returns the environment that a caller gives laid over one: nil and nil
// give nil.
func (e *environment) over(override *environment) *environment {
	switch {
	case e == nil && override == nil:
		return nil
	case e == nil:
		return override
	case override == nil:
		return e
	}
	return &environment{values: mergedMaps(e.values, override.values), defaults: mergedMaps(e.defaults, override.defaults), name: cmp.Or(override.name, e.name),
		unknown: append(e.unknown[:len(e.unknown):len(e.unknown)], override.unknown...)}
}

// merged are the values that templates see: fresh maps each time, since a
// template may change them.
func (e *environment) merged() map[string]any {
	return mergedMaps(mergedMaps(map[string]any{}, e.defaults), e.values)
}

const environmentName = "default"

func (e *environment) data() templates.EnvironmentData {
	return templates.EnvironmentData{Name: cmp.Or(e.name, environmentName), Values: templates.Copied(e.values), Defaults: templates.Copied(e.defaults),
		CLIOverrides: map[string]any{}}
}

func (e *environment) stateData() templates.StateData {
	if e == nil {
		empty := newEnvironment()
		e = &empty
	}
	d := templates.StateData{Environment: e.data(), Values: e.merged()}
	d.StateValues = &d.Values
	return d
}

// environmentSpec is an item of environments.
type environmentSpec struct {
	located.Place
	values        []entry
	secrets       []located.Text
	missingFiles  located.Text
	mergeStrategy located.Text
}
