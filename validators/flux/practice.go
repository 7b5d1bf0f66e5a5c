package flux

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// A single Secret that Git does not create is reported only if Git creates at least fewInGit others: then the repository
// probably creates all of its Secrets. From manyInGit others on, the finding is an error instead of a warning.
const (
	fewInGit  = 3
	manyInGit = 10
)

// practice describes where the Secrets that the objects of a cluster reference come from. inGit are the Secrets that are
// in Git, or that a controller creates from objects in Git. elsewhere are all other Secrets that Flux reads on any
// cluster.
type practice struct {
	inGit, elsewhere map[reconcile.Identity]bool
}

// secretPractices returns the practice of each cluster, from all Secrets that its objects need.
func secretPractices(p *rule.Pass) map[*reconcile.Cluster]practice {
	all, elsewhere := map[*reconcile.Cluster]practice{}, map[reconcile.Identity]bool{}
	each(p, func(w *world) {
		all[w.cluster] = practice{map[reconcile.Identity]bool{}, elsewhere}
		w.readPractice(all[w.cluster])
	})
	return all
}

func (w *world) readPractice(all practice) {
	created, others := w.createdSecrets(), w.operators()
	add := func(id reconcile.Identity, ofFlux bool) {
		anywhere := reconcile.Identity{Kind: "Secret", Namespace: "*", Name: id.Name}
		switch {
		case w.has(id) || created[id] || created[anywhere]:
			all.inGit[id] = true
		case ofFlux && !others.mention(id):
			all.elsewhere[id] = true
		}
	}
	for _, n := range w.namesIn(secretFields) {
		if !w.isOutsideOfGit(n) {
			add(n.id, true)
		}
	}
	for _, n := range w.namesIn(objectFields) {
		if n.id.Kind == "Secret" {
			add(n.id, false)
		}
	}
	for _, r := range w.references() {
		if r.id.Kind == "Secret" && !r.optional {
			add(r.id, true)
		}
	}
}

// whyExpected returns why Git is expected to create a Secret: it creates all other Secrets that Flux reads, and no operator or
// chart mentions this one. It returns "" if the Secret may come from elsewhere.
func (all practice) whyExpected(id reconcile.Identity, others operators) string {
	if len(all.inGit) < fewInGit || len(all.elsewhere) > 1 || others.mention(id) {
		return ""
	}
	return fmt.Sprintf("Git creates all other Secrets that Flux reads here, %d with those of pods: add this one, or the object that creates it", len(all.inGit))
}

// severity returns the severity of the finding about a Secret that Git is expected to create.
func (all practice) severity() finding.Severity {
	if len(all.inGit) < manyInGit {
		return finding.Warning
	}
	return finding.Error
}
