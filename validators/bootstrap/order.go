package bootstrap

import (
	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Order is bootstrap-order.
var Order = rule.Rule{
	ID:       bootstrap.RuleOrder,
	Title:    "bootstrap releases that cannot be installed in order, or in another order than in Git",
	Severity: finding.Error,
	Why: `helmfile installs releases in parallel unless one needs another. It fails if needs form a cycle, or name a release that
the file does not define: then no new cluster can be built. It also stops at a hook that runs a missing script, or whose
kubectl command applies a missing file. The rule reads the commands of a shell up to the first with a variable, a redirection,
a condition or a subshell, or that may write files. It follows several lines, cd, and kustomize build DIR | kubectl apply -f -. A
file that .gitignore excludes, that a script writes, or whose name or folder a hook of the helmfile or a script of one names, is not
reported, nor is one that a command uses after a script.

Under Flux, a HelmRelease waits for the HelmReleases of its spec.dependsOn. If both releases are bootstrapped,
but one does not need the other, helmfile may install them in the wrong order. If a release needs another one, but the
Kustomization that applies the other depends on its own, one of the two orders is wrong, also where the needs lead through others.
Both are warnings.

A release also needs the releases of the file that install its prerequisites: the definitions of the objects that its chart
contains and that its hooks apply or wait for, the cluster's network if it has pods, and the cluster's DNS if its pods call
servers by name, as Flux does. Without such a need, the prerequisite may be installed later: a warning. The same is reported
for a hook that runs before its release is installed (presync) and needs a definition or a workload of the release itself.
It is an error only if the chart is available and contains that workload.

Charts that are available are rendered. For others, the rule knows only well-known ones: their definitions, that they have
pods, and which are the network or the DNS. Nothing is reported if the definitions may come from elsewhere: from the stage
of definitions or another helmfile, from CustomResourceDefinitions in the repository, from a URL in the helmfile, or from
a script or another file that mentions the definition's group or the chart.`,
	Fix: `In needs, name a release of the same file as NAMESPACE/NAME, and remove cycles. Name the release with the network,
the DNS or the definitions, unless the release already needs it through another one. A path in the arguments of a hook is
relative to the folder of the helmfile. Change a hook that uses objects of its own release to a postsync hook.`,
	Run: func(p *rule.Pass) { orders(p, bootstrap.RuleOrder) },
}

// orders reports the problems of one rule about the order of releases or about the objects that hooks apply.
func orders(p *rule.Pass, id string) {
	in := &sources{repo: p.Repo}
	for _, o := range orderProblems(p) {
		severity := finding.Error
		switch {
		case o.Rule != id:
			continue
		case o.Unresolved:
			open(p, o.File, o.Line, o.Message)
			continue
		case !o.Refused:
			severity = finding.Warning
		}
		p.Report(finding.Finding{Place: finding.Place{File: o.File, Line: o.Line, Column: in.column(o.File, o.Line, o.Release)}, Severity: severity,
			Cluster: o.Cluster, Message: o.Message, Hint: o.Hint})
	}
}
