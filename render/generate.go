package render

import (
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// Generate generates the targets of a specification. If the specification is a stream, it returns the targets in the
// stream.
func Generate(s *Specification, o GenerateOptions) (*Rendered, error) {
	if s.Stream != nil {
		return onlyPlatform(s.Stream, o.PlatformOnly)
	}
	existing, err := readExisting(s, o)
	if err != nil {
		return nil, err
	}
	r := &Rendered{Specification: s, Guards: generators.Guards(s.Spec), Absent: absentSecrets(s.Spec, existing.Secrets)}
	for _, t := range s.Spec.Tenants {
		r.Tenants = append(r.Tenants, tree.TenantState{Name: t.Metadata.Name, State: string(t.Spec.State)})
	}
	r.Targets, err = bounds.Whole(bounds.Unit{Kind: "rendering", Name: "the specification"}, func() ([]tree.Target, error) {
		if o.PlatformOnly {
			t, err := generators.Platform(s.Spec, existing)
			return []tree.Target{t}, err
		}
		return generators.Render(s.Spec, existing)
	})
	return r, err
}

// onlyPlatform returns the targets of a stream, or with only just the platform's target.
func onlyPlatform(stream *Rendered, only bool) (*Rendered, error) {
	if !only {
		return stream, nil
	}
	at := slices.IndexFunc(stream.Targets, func(t tree.Target) bool { return t.Name == generators.PlatformTarget })
	if at < 0 {
		return nil, advice.Input(
			fmt.Errorf("the stream contains no target %q", generators.PlatformTarget),
			"write the other targets with --out OUT",
		)
	}
	one := *stream
	one.Targets = stream.Targets[at : at+1]
	return &one, nil
}
