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
	Why: `helmfile installs releases in parallel unless one needs another. It fails if needs form a cycle, or name a
release that the file does not define: then no new cluster can be built. It also stops at a hook that runs a script which does
not exist, or whose kubectl applies such a file. The commands of a shell are read up to the first that has a variable, a redirection,
a condition or a subshell, or may write files: several lines, cd, and kustomize build DIR | kubectl apply -f - are read. A file that
.gitignore leaves out, or that another hook of the release or its script names, is not reported.

Under Flux, a HelmRelease waits for the HelmReleases of its spec.dependsOn. If both releases are bootstrapped,
but one does not need the other, helmfile may install them in the wrong order. If a release needs another one, but the
Kustomization that applies the other depends on its own, one of the two orders is wrong, also where the needs lead through others.
Both are warnings.

A release also needs those of the file that bring what it uses: the definitions of the objects in its chart and of those
that its hooks apply or wait for, the cluster's network if it has pods, and the cluster's DNS if its pods call servers by
name, as Flux does. Without such a need, that one may be installed later: a warning. The same is reported for a hook that runs
before its release is installed (presync) and needs a definition or a workload that the release itself brings. It is an
error only if the chart is available and contains that workload.

Charts that are available are rendered. Of the others, only well-known ones are known: what they define, that they have
pods, and which are the network or the DNS. Nothing is reported if the definitions may come from elsewhere: from the stage
of definitions or another helmfile, from CustomResourceDefinitions in the repository, from a URL in the helmfile, or from
a script or another file that mentions the definition's group or the chart.`,
	Fix: `In needs, name a release of the same file as NAMESPACE/NAME, and remove cycles. Name the release with the network,
the DNS or the definitions, unless another one that is needed needs it. A path in the arguments of a hook is relative to
the folder of the helmfile. A hook that uses what its release brings is a postsync hook.`,
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
