package ownership

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// OrphanFile is graph-orphan-file.
var OrphanFile = rule.Rule{
	ID:       "graph-orphan-file",
	Title:    "a manifest that its folder's kustomization does not list",
	Severity: finding.Info,
	Why: `A folder with a kustomization.yaml is applied exactly as that file lists it. A manifest in the folder that is
not listed is never applied. Usually somebody added the file and forgot the line.

Only files with objects count, in folders that a cluster builds. The rule skips a file that the kustomization
mentions in a comment or that another file names, and files that are not manifests for the cluster (encrypted
values, a template, a Component, an object with config.kubernetes.io/local-config). It also skips folders that
nothing references, which often contain applications that are switched off.`,
	Fix: `List the file in the kustomization.yaml, or remove it. To keep it unlisted, keep its line as a comment.`,
	Run: func(p *rule.Pass) {
		if len(p.Fleet().Clusters) == 0 {
			return
		}
		var orphans []*repository.File
		built := buildFolders(p.Fleet())
		read := isRead(p.Fleet())
		texts := map[string][]byte{}
		for _, f := range p.Repo.Files() {
			if k, ok := p.Repo.KustomizeAt(path.Dir(f.Path)); ok && built[k.Dir] && !read[f.Path] && isManifest(p.Repo, f) && !speaksOf(p.Repo, texts, k.File.Path, f.Path) {
				orphans = append(orphans, f)
			}
		}
		if len(orphans) == 0 {
			return
		}
		named := namedFiles(p.Repo, orphans)
		missing := map[string][]string{}
		for _, f := range orphans {
			if !named[f.Path] {
				reportOrphan(p, f, missing)
			}
		}
	},
}

// buildFolders returns the folders with a kustomization that a Kustomization builds successfully; a failed
// build may be the reason why a file was not read. If the cluster's root is a guess, folders of examples are
// left out, because they may look like a cluster.
func buildFolders(fleet *reconcile.Fleet) map[string]bool {
	built := map[string]bool{}
	for _, c := range fleet.Clusters {
		for _, k := range c.Kustomizations {
			for _, file := range k.Files {
				if repository.IsKustomization(file) && (!c.Root.Guessed() || !repository.IsSetAside(file)) {
					dir := path.Dir(file)
					failed, seen := built[dir]
					built[dir] = k.Failure == nil && !k.Unbuilt && (!seen || failed)
				}
			}
		}
	}
	return built
}

// isManifest reports whether a file holds objects that are intended for a cluster.
func isManifest(repo *repository.Repository, f *repository.File) bool {
	if f.Excluded || f.Err != nil || repository.IsKustomization(f.Path) || repo.Use(f.Path) != repository.Unlisted || !holdsObjects(f) {
		return false
	}
	if base := path.Base(f.Path); strings.HasPrefix(base, ".") || strings.Contains(base, "example") || strings.Contains(base, "template") || strings.Contains(base, ".sops.") {
		return false
	}
	return !slices.ContainsFunc(f.Documents, func(d *repository.Document) bool {
		return d.Encrypted || slices.ContainsFunc(d.Objects, func(o *repository.Object) bool { return !forCluster(o) })
	})
}

// forCluster reports whether an object is intended for a cluster, and not for kustomize or another tool that reads files.
func forCluster(o *repository.Object) bool {
	if o.Name == "" || strings.ContainsAny(o.Name, "{<") || !strings.Contains(o.APIVersion, "v") {
		return false
	}
	if local, ok := o.Text("metadata", "annotations", "config.kubernetes.io/local-config"); ok && local != "false" {
		return false
	}
	switch o.Group() {
	case "kustomize.config.k8s.io", "config.kubernetes.io", "kpt.dev", v1alpha1.Group, "builtin":
		return false
	}
	return true
}

// speaksOf reports whether a kustomization contains the name of a file, in a comment or elsewhere. texts caches the
// content of the kustomizations.
func speaksOf(repo *repository.Repository, texts map[string][]byte, kustomization, file string) bool {
	text, known := texts[kustomization]
	if !known {
		text, _ = repo.ReadFile(kustomization) // nil if it cannot be read
		texts[kustomization] = text
	}
	return text == nil || bytes.Contains(text, []byte(path.Base(file)))
}

// fileName matches a possible path of a manifest in a text.
var fileName = regexp.MustCompile(`[A-Za-z0-9._/@-]+\.ya?ml`)

// mostNaming is the size in bytes up to which files are searched for names of other files.
const mostNaming = 1 << 20

// namedFiles returns those of the files that another file mentions: by a path relative to its own folder, or by
// a path that ends in the folder and name of the file.
func namedFiles(repo *repository.Repository, files []*repository.File) map[string]bool {
	ends := map[string][]string{}
	named := map[string]bool{}
	orphan := map[string]bool{}
	for _, f := range files {
		orphan[f.Path] = true
		ends[lastTwo(f.Path)] = append(ends[lastTwo(f.Path)], f.Path)
	}
	for _, other := range repo.Paths() {
		data, err := repo.ReadFile(other)
		if err != nil || len(data) > mostNaming || finding.IsOwn(data) {
			continue
		}
		for _, match := range fileName.FindAll(data, -1) {
			name := string(match)
			if at := path.Join(path.Dir(other), name); at != other && orphan[at] {
				named[at] = true
			}
			for _, file := range ends[lastTwo(name)] {
				named[file] = true
			}
			delete(ends, lastTwo(name))
		}
	}
	return named
}

// lastTwo returns the last folder and the file name of a path.
func lastTwo(name string) string {
	name = path.Clean(name)
	return path.Join(path.Base(path.Dir(name)), path.Base(name))
}

// missingFrom returns the names that a kustomization lists and that do not exist.
func missingFrom(repo *repository.Repository, k *repository.Kustomize) []string {
	var missing []string
	if k.Spec == nil {
		return nil
	}
	for _, ref := range k.Spec.Resources {
		if at, ok := repository.Join(k.Dir, ref); ok && !repo.Exists(at) {
			missing = append(missing, path.Base(ref))
		}
	}
	return missing
}

// reportOrphan reports a file that is never applied. missing are the names that kustomizations list and that do
// not exist, by folder.
func reportOrphan(p *rule.Pass, f *repository.File, missing map[string][]string) {
	o := f.Documents[0].Objects[0]
	k, _ := p.Repo.KustomizeAt(path.Dir(f.Path))
	line, column := o.Position("apiVersion")
	found := finding.Finding{Place: finding.Place{File: f.Path, Line: line, Column: column}, Object: rule.ObjectOf(o),
		Message: fmt.Sprintf("%s is never applied: %s does not list the file", o, k.File.Path),
		Hint:    fmt.Sprintf("add %q to its resources, or remove the file", path.Base(f.Path))}
	if _, known := missing[k.Dir]; !known {
		missing[k.Dir] = missingFrom(p.Repo, k)
	}
	if near, ok := nearest.To(path.Base(f.Path), missing[k.Dir]); ok {
		found.Hint = fmt.Sprintf("it lists %q, which does not exist", near)
	}
	p.Report(found)
}
