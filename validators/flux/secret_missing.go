package flux

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/otherfiles"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// SecretMissing is flux-secret-missing.
var SecretMissing = rule.Rule{
	ID:       "flux-secret-missing",
	Title:    "a Secret that does not exist",
	Severity: finding.Warning,
	Why: `A source, Provider, Receiver or ImageRepository whose Secret does not exist is never ready, and neither is a
Kustomization without its decryption key: nothing is fetched, sent or applied. A Secret may be created by hand or by a
controller, so a Secret that is not in Git is not a mistake by itself. It is an error if the name is a typo of a Secret that
exists or that others name, or if Git creates all other Secrets that Flux reads, at least ten. It is a warning if these are
at least three, or if no Kustomization applies the file that defines it. Others are unresolved, except for the Secret of
the root's source and for decryption keys, which never belong in Git.

A GitRepository or FluxInstance with an ssh:// URL that names no Secret is an error: Flux reads nothing over SSH without a
key, whatever the provider.

The rule checks secretRef, certSecretRef and proxySecretRef of sources, ImageRepositories, Providers and Receivers, the
verify keys of sources, and the decryption and kubeConfig keys of Kustomizations and HelmReleases.`,
	Fix: `Correct the name, or add the Secret (encrypted), or the object that creates it, to the cluster in Git. References
cannot name another namespace. For an ssh:// URL, name a Secret with identity (a deploy key) and known_hosts.`,
	Run: func(p *rule.Pass) {
		var open questions
		names, files := map[string]bool{}, map[string]bool{}
		each(p, func(w *world) {
			for _, n := range w.namesIn(secretFields) {
				if !w.has(n.id) {
					names[n.id.Name] = true
				}
			}
		})
		for _, o := range p.Repo.ByKind("", "Secret") {
			if names[o.Name] {
				files[path.Base(o.File())] = true
			}
		}
		spoken := otherfiles.Mentions(p.Repo, names, true)
		applied := applyingFiles(p.Repo, files)
		habits := secretPractices(p)
		reportUnnamed(p)
		each(p, func(w *world) { w.secretsMissing(p, &open, otherFiles{spoken, applied}, habits[w.cluster]) })
		open.report(p)
	},
}

// secretFields are the fields in which objects of Flux name Secrets.
var secretFields = func() []nameField {
	var all []nameField
	secret := kind{"", "Secret"}
	add := func(group string, kinds []string, paths ...[]any) {
		for _, path := range paths {
			all = append(all, nameField{group: group, kinds: kinds, path: path, to: secret})
		}
	}
	own := [][]any{{"spec", "secretRef"}, {"spec", "certSecretRef"}, {"spec", "proxySecretRef"}}
	add(fluxapi.SourceGroup, sourceKinds, append(own, []any{"spec", "verify", "secretRef"})...)
	add(fluxapi.ImageGroup, []string{"ImageRepository"}, own...)
	add(fluxapi.NotificationGroup, []string{"Provider", "Receiver"}, own...)
	add(fluxapi.KustomizeGroup, []string{kustomizationKind}, []any{"spec", "decryption", "secretRef"}, []any{"spec", "kubeConfig", "secretRef"})
	add(fluxapi.HelmGroup, []string{helmReleaseKind}, []any{"spec", "kubeConfig", "secretRef"}, []any{"spec", "chart", "spec", "verify", "secretRef"})
	return all
}()

// otherFiles holds the first file that Flux does not read and that mentions the name of a Secret (spoken), or that
// applies a file, by that file's base name (applied).
type otherFiles struct{ spoken, applied map[string]string }

func (w *world) secretsMissing(p *rule.Pass, open *questions, by otherFiles, habit practice) {
	spoken := by.spoken
	all, created := w.namesIn(secretFields), w.createdSecrets()
	known := w.knownNames(all, created)
	others := w.operators()
	inFiles := slices.Sorted(maps.Keys(w.written[kind{"", "Secret"}]))
	for _, n := range all {
		anywhere := reconcile.Identity{Kind: "Secret", Namespace: "*", Name: n.id.Name}
		if w.has(n.id) || created[n.id] || created[anywhere] {
			continue
		}
		near, typo := w.typoOf(n.id, known[n.id.Namespace])
		if !typo {
			near, typo = w.typoOf(n.id, inFiles)
		}
		if !typo && n.path[1] == "decryption" && !w.written[kind{"", "Secret"}][n.id.Name] {
			near, typo = schemas.NearlySame(n.id.Name, known[n.id.Namespace]) // a cluster has few keys
		}
		var file *repository.Object
		if w.budget.reads--; w.budget.reads > 0 {
			file = w.inFiles(n.id)
		}
		switch {
		case typo && spoken[n.id.Name] == "":
			n.report(p, w, finding.Error, fmt.Sprintf("did you mean %q?", near))
		case file != nil && path.Base(path.Dir(w.cluster.Root.File)) == "flux-system" && repository.Within(path.Dir(w.cluster.Root.File), file.File()):
			n.ask(w, open, fmt.Sprintf("%s defines it in the folder that flux bootstrap applies", file.File()))
		case file != nil && by.applied[path.Base(file.File())] != "":
			n.ask(w, open, fmt.Sprintf("%s may apply %s, which defines it", by.applied[path.Base(file.File())], file.File()))
		case file != nil && !w.read[file.File()] && !w.isOutsideOfGit(n) && w.doubt(n.id) == "":
			line, _ := file.Position()
			n.report(p, w, finding.Warning, fmt.Sprintf("%s:%d defines it, but no Kustomization applies that file", file.File(), line))
		case w.isOutsideOfGit(n):
		case spoken[n.id.Name] != "":
			n.ask(w, open, spoken[n.id.Name]+" mentions it, and may create it")
		default:
			if why := habit.whyExpected(n.id, others); why != "" && w.doubt(n.id) == "" {
				n.report(p, w, habit.severity(), why)
				continue
			}
			n.ask(w, open, byHand)
		}
	}
}

// isOutsideOfGit reports whether a Secret must not be in Git: the Secret of the root's source, and decryption keys.
func (w *world) isOutsideOfGit(n mention) bool {
	return n.path[1] == "decryption" || n.of.Identity == sourceOf(w.cluster.Kustomizations[0])
}
