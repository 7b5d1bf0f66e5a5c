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

// environment holds the values of helmfile's environment "default", which a bootstrap uses unless it names another, or of an
// unknown environment, where a helmfile defines only others. The values are the environment's own, and all
// environments share the defaults.
type environment struct {
	values, defaults map[string]any
	// name is a mark if the name is unknown, "" for the default.
	name string
	// unknown are the reasons why values could not be read.
	unknown []located.Unknown
}

func newEnvironment() environment {
	return environment{values: map[string]any{}, defaults: map[string]any{}}
}

// open reports whether templates may read unknown values.
func (e *environment) open() bool {
	return e != nil && (len(e.unknown) > 0 || templates.HoldsMark(e.values) || templates.HoldsMark(e.defaults))
}

// lacks reports whether a template fails for a key that may be among the values that could not be read.
func (e *environment) lacks(err error) bool {
	return e != nil && len(e.unknown) > 0 && strings.Contains(err.Error(), "map has no entry for key")
}

// over returns an environment merged over this one, nil if both are nil.
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

// merged returns the values that templates read: new maps each time, since a template may change them.
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

// mergedMaps merges over into base, changing neither: maps merge, and a null doesn't replace a value.
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
	// unread are fields whose values are not known offline.
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

// mergeEnvironments merges the environments of a later file over those of a base: their lists are appended, so that the later
// file's values win.
func mergeEnvironments(base, over map[string]environmentSpec) {
	for name, from := range over {
		both := base[name]
		base[name] = environmentSpec{slices.Concat(both.values, from.values), cmp.Or(from.missingFiles, both.missingFiles), slices.Concat(both.unread, from.unread)}
	}
}
