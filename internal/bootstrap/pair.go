package bootstrap

import "github.com/fleetwright/fleetwright/internal/located"

// pair is one side's value at a path: what is known, what is sure, and whether
// an unknown layer could change what isn't.
type pair struct {
	value, sure *located.Value
	open        bool
	// written is what the HelmRelease's file has there, and path leads to it.
	written *located.Value
	path    []any
}

func (p pair) field(key string) pair {
	return pair{p.value.At(key), p.sure.At(key), p.open, p.written.At(key), append(p.path[:len(p.path):len(p.path)], key)}
}

// settled says whether the side's value is certain.
func (p pair) settled() bool { return !p.open || p.sure != nil && !p.sure.IsMap }
