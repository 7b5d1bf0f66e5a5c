package builds

import (
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
)

// Failure is why Flux could not build a Kustomization.
type Failure struct {
	Reason        Reason
	finding.Place // of the text to fix
	Message       string
	// LeftOut is the path of a missing file that is in the repository: source-controller
	// excludes it from the artifact, unless spec.ignore of the source says otherwise.
	LeftOut string
	// Malformed is set if the file is not YAML, has a duplicate key, an unknown kind, or a field of a
	// kustomization with the wrong type: every build that reads it fails.
	Malformed bool

	// Component is the entry of the Flux Kustomization's spec.components that fails, "" if none does,
	// and Added the part of its spec.patches that fails, nil if none does.
	Component string
	Added     *AddedPart

	// of is the field of the kustomization that lists a missing entry, otherwise "".
	of string
	// out is the part to exclude so that the rest builds, nil if unknown.
	out *exclusion
	// open is set if a part that is missing or not fetched may be the reason.
	open bool
}

// Reason is the category of a failure.
type Reason string

// The reasons.
const (
	// PathMissing is a spec.path that is not a folder of the source.
	PathMissing Reason = "path missing"
	// Refused is a Kustomization that the API server refuses, because a field that the build needs has
	// the wrong type. It is not built.
	Refused Reason = "refused"
	// BuildFailed is an error of kustomize.
	BuildFailed Reason = "build failed"
	// SubstitutionFailed is an error of the substitution of variables.
	SubstitutionFailed Reason = "substitution failed"
)

// GapKind is the category of a gap.
type GapKind string

// The kinds.
const (
	// RemoteBase is a base, resource or file that kustomize would fetch.
	RemoteBase GapKind = "remote base"
	// OtherSource is a source that is not available locally.
	OtherSource GapKind = "other source"
	// UnknownPath is a spec.path with a variable whose value is not known.
	UnknownPath GapKind = "unknown path"
	// FilesMissing is a file that is not available: files that are not objects are not among the items of
	// a ResourceList. Objects that the file may change are then omitted from the Kustomization's
	// objects.
	FilesMissing GapKind = "files missing"
	// Limit is a limit of Fleetwright, not of Flux, that was exceeded.
	Limit GapKind = "limit"
	// Unreadable is a file that the operating system does not let Fleetwright read.
	Unreadable GapKind = "unreadable"
	// Exceeded is a build that exceeds its time or memory; bounds.Exceeded returns the unit.
	Exceeded GapKind = "exceeded"
)

// Gap is a part of the objects of a Kustomization that cannot be known offline.
type Gap struct {
	Kind GapKind
	finding.Place
	Message string
	// Ref is the address of a RemoteBase, and Field the field of the kustomization that lists it.
	Ref, Field string

	hides hidden
}

// AddsObjects reports whether objects may be missing because of the gap. Without a file of a generator, only the data
// of its ConfigMap or Secret is incomplete; definitions and schemas only say how patches are merged.
func (g Gap) AddsObjects() bool {
	return g.Kind != RemoteBase || !slices.Contains([]string{"configMapGenerator", "secretGenerator", "crds", "openapi"}, g.Field)
}

// AddedPart is a part of an entry in a Flux Kustomization's own patches: the part of the patch at Path
// (field names and list indexes), or the field Target of the patch's target.
type AddedPart struct {
	Entry  int
	Path   []any
	Target string
}

// hidden selects the objects of a build that an unavailable file may change: those of a kind
// whose names contain a string, "" for any; the zero value selects none.
type hidden struct {
	some       bool
	kind, name string
}
