package flux

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// overSSH has, for each kind that reads Git, the path of the object that holds the URL, and the name of its field for the
// Secret. The Flux Operator copies its pullSecret to the secretRef of the GitRepository.
var overSSH = map[kind]struct {
	in     []string
	secret string
}{
	{fluxapi.SourceGroup, "GitRepository"}:  {[]string{"spec"}, "secretRef"},
	{fluxapi.OperatorGroup, "FluxInstance"}: {[]string{"spec", "sync"}, "pullSecret"},
	{fluxapi.HelmGroup, helmReleaseKind}:    {[]string{"spec", "values", "instance", "sync"}, "pullSecret"}, // of the chart flux-instance
}

// reportUnnamed reports the Git repositories that are read over SSH without a Secret. source-controller refuses them before
// it connects, whatever their provider: "invalid 'ssh' auth option: 'identity' is required" (NewAuthOptions of
// fluxcd/pkg/git).
func reportUnnamed(p *rule.Pass) {
	applied := map[*repository.Object]bool{}
	for _, o := range p.Applied() {
		applied[o.Source] = true
		value, known := withInstanceValues(p, o)
		if f, ok := unnamed(kind{o.Group, o.Kind}, value, o.String()); ok && known && !suspended(o) {
			path := addressOf(kind{o.Group, o.Kind})
			if o.Field(path...) == nil {
				path = []any{"spec", "valuesFrom"}
			}
			p.ReportBuilt(o, f, path...)
		}
	}
	for _, c := range p.Clusters() {
		o := c.Root.Object // a FluxInstance is often applied by hand, so it may be missing among the applied objects
		if o == nil || applied[o] {
			continue
		}
		value, err := o.Value()
		if err != nil {
			continue
		}
		if f, ok := unnamed(kind{o.Group(), o.Kind}, value, o.String()); ok {
			f.File = o.File()
			f.Line, f.Column = o.Position(addressOf(kind{o.Group(), o.Kind})...)
			p.ReportIn(c.Name, f)
		}
	}
}

func addressOf(k kind) []any { return append(steps(overSSH[k].in), "url") }

// unnamed returns the finding about an object that reads Git over SSH without a Secret. It returns false if the object
// has a Secret or another URL, or if patches may add the Secret.
func unnamed(k kind, value any, name string) (finding.Finding, bool) {
	reads := overSSH[k]
	source := field(value, reads.in...)
	over := strings.HasPrefix(text(source, "url"), "ssh://") && cmp.Or(text(source, "kind"), "GitRepository") == "GitRepository"
	if !over || field(source, reads.secret) != nil {
		return finding.Finding{}, false
	}
	if n := len(reads.in) - 1; n > 0 && strings.Contains(fmt.Sprint(field(value, reads.in[:n]...)), "secretRef") {
		return finding.Finding{}, false // a patch of the FluxInstance
	}
	return finding.Finding{
		Severity: finding.Error,
		Message:  fmt.Sprintf("%s reads Git over SSH without a %s, and Flux reads nothing over SSH without a key", name, reads.secret),
		Hint: fmt.Sprintf("set %s.%s to a Secret with identity (the private half of a deploy key) and known_hosts, or write an https:// URL",
			strings.Join(reads.in, "."), reads.secret),
	}, true
}
