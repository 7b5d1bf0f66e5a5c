package builds

// Failure is why Flux could not build a Kustomization.
type Failure struct {
	Reason Reason
	// File, Line and Column of what is to be mended.
	File         string
	Line, Column int
	Message      string
	// LeftOut is the path of a file that is missed and in the repository: source-controller
	// leaves it out, unless spec.ignore of the source says otherwise.
	LeftOut string
	// Malformed says that the file is no YAML, has a key twice, a kind that there is not, or a field
	// of a kustomization that is of another type: whatever reads it fails.
	Malformed bool

	// Component is an entry of the Flux Kustomization's spec.components that it is about, "" where it is
	// about none, and Added a part of its spec.patches, nil where it is about none.
	Component string
	Added     *AddedPart
}

// Reason sorts failures.
type Reason string

// The reasons.
const (
	// PathMissing is a spec.path that is no folder of the source.
	PathMissing Reason = "path missing"
	// Refused is a Kustomization that the API server refuses, since a field that says what to
	// build is not of its type. It is not built.
	Refused Reason = "refused"
	// BuildFailed is what kustomize refuses.
	BuildFailed Reason = "build failed"
	// SubstitutionFailed is what the substitution of variables refuses.
	SubstitutionFailed Reason = "substitution failed"
)

// GapKind sorts gaps.
type GapKind string

// The kinds.
const (
	// RemoteBase is a base, resource or file that kustomize would fetch.
	RemoteBase GapKind = "remote base"
	// OtherSource is a source that is not at hand.
	OtherSource GapKind = "other source"
	// UnknownPath is a spec.path with a variable whose value is not known.
	UnknownPath GapKind = "unknown path"
	// NotGiven is a file that is not at hand: those that are no objects are not among the
	// items of a ResourceList. Objects that it may change are not among a Kustomization's.
	NotGiven GapKind = "not given"
	// Limit is what goes beyond a limit of Fleetwright's, not of Flux's.
	Limit GapKind = "limit"
	// Exceeded is a build that takes more time or memory than it may: bounds.Exceeded names it.
	Exceeded GapKind = "exceeded"
)

// Gap is a part of what a Kustomization applies that cannot be known offline.
type Gap struct {
	Kind         GapKind
	File         string
	Line, Column int
	Message      string

	hides hidden
}

// AddedPart is a part of an entry of a Flux Kustomization's own patches: one of the text's at Path (field names
// and list indexes), or Target of its target.
type AddedPart struct {
	Entry  int
	Path   []any
	Target string
}

// hidden are the objects of a build that a file which is not given may change: those of a kind
// whose names hold a text, "" for any; the zero value is none.
type hidden struct {
	some       bool
	kind, name string
}
