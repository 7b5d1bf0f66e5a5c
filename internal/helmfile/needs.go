package helmfile

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/output"
)

// NeedID returns the id of the release that a need names. A need is NAMESPACE/NAME, NAME in the release's own namespace, or
// either after a kube context.
func NeedID(r *Release, need string) string {
	if !strings.Contains(need, "/") {
		return r.Namespace.Value + "/" + need
	}
	if parts := strings.Split(need, "/"); len(parts) > 2 {
		return strings.Join(parts[len(parts)-2:], "/")
	}
	return need
}

// UnreadableError is about a bootstrap file that cannot be evaluated.
type UnreadableError struct {
	File   string
	Line   int
	Reason string
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("%s:%d: %s", output.Line(e.File), e.Line, e.Reason)
}

// Readable returns the releases of a file, and an error if the file cannot be evaluated. A file that exceeds a bound has no
// releases: the bound is returned, and other files are not affected.
func Readable(releases []*Release) (readable []*Release, exceeded *bounds.Error, err error) {
	for _, r := range releases {
		switch {
		case r.Exceeded != nil:
			exceeded = r.Exceeded
		case r.Unreadable != "":
			return nil, nil, &UnreadableError{File: r.File, Line: r.Line, Reason: r.Unreadable}
		default:
			readable = append(readable, r)
		}
	}
	return readable, exceeded, nil
}

// InOrder sorts releases by their needs, and otherwise keeps the order of the file. A need is NAMESPACE/NAME, or NAME in the
// release's own namespace.
func InOrder(releases []*Release) ([]*Release, error) {
	const open, done = 1, 2
	byID := map[string]*Release{}
	for _, r := range releases {
		byID[r.ID()] = r
	}
	state := map[*Release]int{}
	var ordered []*Release
	var visit func(*Release) error
	visit = func(r *Release) error {
		switch state[r] {
		case open:
			return fmt.Errorf("%s:%d: the release %q needs itself, through the needs of others", output.Line(r.File), r.Line, r.ID())
		case done:
			return nil
		}
		state[r] = open
		for _, need := range r.Needs {
			if needed := byID[NeedID(r, need.Value)]; needed != nil {
				if err := visit(needed); err != nil {
					return err
				}
			}
		}
		state[r] = done
		ordered = append(ordered, r)
		return nil
	}
	for _, r := range releases {
		if err := visit(r); err != nil {
			return nil, err
		}
	}
	return ordered, nil
}
