package bootstrap

import "github.com/fleetwright/fleetwright/internal/located"

// pair is one side's value at a path: its known value, its certain value, and whether an unknown layer may change the
// uncertain rest.
type pair struct {
	value, sure *located.Value
	open        bool
	// written is the value in the HelmRelease's file, and path leads to it.
	written *located.Value
	path    []any
}

func (p pair) field(key string) pair {
	return pair{p.value.At(key), p.sure.At(key), p.open, p.written.At(key), append(p.path[:len(p.path):len(p.path)], key)}
}

// certain reports whether the side's value is certain.
func (p pair) certain() bool { return !p.open || p.sure != nil && !p.sure.IsMap }
