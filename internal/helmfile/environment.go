package helmfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// environment are the values of helmfile's environment "default", the one that a
// bootstrap uses when nothing else is said, or of one that is not known, where a helmfile
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

// lacks says whether a template fails for a key that may be in values which could not be read.
func (e *environment) lacks(err error) bool {
	return e != nil && len(e.unknown) > 0 && strings.Contains(err.Error(), "map has no entry for key")
}

// over returns an environment laid over this one: nil and nil give nil.
func (e *environment) over(override *environment) *environment {
	switch {
	case e == nil:
		return override
	case override == nil:
		return e
	}
	return &environment{values: mergedMaps(e.values, override.values), defaults: mergedMaps(e.defaults, override.defaults), name: cmp.Or(override.name, e.name),
		unknown: slices.Concat(e.unknown, override.unknown)}
}

// merged are the values that templates see: fresh maps each time, since a
// template may change them.
func (e *environment) merged() map[string]any { return mergedMaps(e.defaults, e.values) }

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

// mergedMaps lays over upon base, changing neither: maps merge, and a null doesn't replace what is there.
func mergedMaps(base, over map[string]any) map[string]any {
	out := templates.Copied(base)
	for k, v := range over {
		before, has := out[k]
		below, isMap := before.(map[string]any)
		switch m, both := v.(map[string]any); {
		case both && isMap:
			out[k] = mergedMaps(below, m)
		case v != nil || !has:
			out[k] = templates.CopyValue(v)
		}
	}
	return out
}

// environmentSpec is an item of environments.
type environmentSpec struct {
	values       []entry
	missingFiles string
	// unread are fields whose values are not known here.
	unread []located.Unknown
}

func newEnvironmentSpec(file string, n *yaml.Node) environmentSpec {
	s := environmentSpec{values: entries(file, n, "values"), missingFiles: located.ScalarText(file, n, "missingFileHandler").Value}
	for _, secret := range located.Items(n, "secrets") {
		s.unread = append(s.unread, located.Unknown{Reason: "values come from the encrypted file " + secret.Value})
	}
	if strategy := located.ScalarText(file, n, "mergeStrategy").Value; strategy != "" && strategy != "override" {
		s.unread = append(s.unread, located.Unknown{Reason: fmt.Sprintf("the values of the environment are merged by the strategy %q, which is not evaluated", strategy)})
		s.values = nil
	}
	return s
}

// mergeEnvironments lays the environments of a later file over those of a base:
// their lists append, so that the later file's values win.
func mergeEnvironments(base, over map[string]environmentSpec) {
	for name, from := range over {
		both := base[name]
		base[name] = environmentSpec{slices.Concat(both.values, from.values), cmp.Or(from.missingFiles, both.missingFiles), slices.Concat(both.unread, from.unread)}
	}
}
