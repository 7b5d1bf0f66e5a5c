package helmfile

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// known lists the top-level fields of a helmfile.
var known = []string{"helmBinary", "kustomizeBinary", "values", "environments", "bases", "helmDefaults",
	"helmfiles", "kubeContext", "namespace", "chart", "repositories", "commonLabels", "releases", "llm",
	"apiVersions", "kubeVersion", "hooks", "templates", "defaultInherit", "missingFileHandler",
	"missingFileHandlerConfig", "lockFilePath"}

// isHelmfile reports whether a document of a file is a helmfile: it has releases with a name and a chart, or calls helmfiles,
// and is not a Kubernetes object. In a file that helmfile reads by its name, any releases suffice, and bases, which may have them.
func isHelmfile(file string, d *repository.Document) bool {
	has := func(field string) bool { return d.Lookup(field) != nil }
	byName := path.Base(file) == "helmfile.yaml" || path.Base(path.Dir(file)) == "helmfile.d"
	releases := has("releases") || has("helmfiles")
	switch {
	case has("kind"):
		return false
	case byName:
		return releases || has("bases")
	case !releases:
		return false
	}
	n := d.Root()
	unknown, others := 0, 0
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		switch key := n.Content[i].Value; {
		case key == "releases" || key == "<<" || strings.HasPrefix(key, "x-") || strings.HasPrefix(key, "."):
		case slices.Contains(known, key):
			others++
		default:
			unknown++
		}
	}
	if unknown > 0 && others == 0 {
		return false
	}
	return hasReleases(n) || unknown == 0 && callsHelmfiles(n)
}

func hasReleases(n *yaml.Node) bool {
	for _, r := range located.Items(n, "releases") {
		if repository.Lookup(r, "name") != nil &&
			(repository.Lookup(r, "chart") != nil || repository.Lookup(r, "directory") != nil ||
				repository.Lookup(r, "inherit") != nil || repository.Lookup(n, "defaultInherit") != nil) {
			return true
		}
	}
	return false
}

func callsHelmfiles(n *yaml.Node) bool {
	for _, h := range located.Items(n, "helmfiles") {
		if h.Kind == yaml.ScalarNode || repository.Lookup(h, "path") != nil {
			return true
		}
	}
	return false
}

var (
	releasesLine = regexp.MustCompile(`(?m)^releases:`)
	chartLine    = regexp.MustCompile(`(?m)^[ \t-]+(\{(.*,)?[ \t]*)?(chart|inherit):`)
	nameLine     = regexp.MustCompile(`(?m)^[ \t-]+(\{(.*,)?[ \t]*)?name:`)
	callsLine    = regexp.MustCompile(`(?m)^helmfiles:`)
	basesLine    = regexp.MustCompile(`(?m)^bases:`)
	inheritsLine = regexp.MustCompile(`(?m)^(defaultInherit|bases):`)
	knownLine    = regexp.MustCompile(`(?m)^(` + strings.Join(known, "|") + `):`)
	bringsLine   = regexp.MustCompile(`(?m)^\{\{-? *(tpl|include|template|readFile) `)
)

// looksLikeHelmfile judges a file that is a template, or not YAML. Where a base or another template may contribute its releases,
// the file must have one of the names that helmfile looks for.
func looksLikeHelmfile(file string, data []byte) bool {
	name := path.Base(file)
	return strings.TrimSuffix(name, ".gotmpl") == "helmfile.yaml" && basesLine.Match(data) ||
		name == "helmfile.yaml.gotmpl" && knownLine.Match(data) && bringsLine.Match(data) ||
		callsLine.Match(data) ||
		releasesLine.Match(data) && nameLine.Match(data) && (chartLine.Match(data) || inheritsLine.Match(data))
}

// findHelmfiles returns the sorted paths of all helmfiles of a repository, except those in folders for disused files.
func findHelmfiles(repo *repository.Repository) []string {
	var found []string
	for _, f := range repo.Files() {
		if repo.Use(f.Path) == repository.Chart || repository.Attic(f.Path) != "" {
			continue
		}
		is := slices.ContainsFunc(f.Documents, func(d *repository.Document) bool { return isHelmfile(f.Path, d) })
		if !is && (f.Err != nil && f.Err.Reason == repository.NotYAML || inSeveralParts(f)) {
			data, err := repo.ReadFile(f.Path)
			is = err == nil && looksLikeHelmfile(f.Path, data)
		}
		if is {
			found = append(found, f.Path)
		}
	}
	for _, p := range repo.Paths() {
		if !strings.HasSuffix(p, ".gotmpl") || repo.Use(p) == repository.Chart || repository.Attic(p) != "" {
			continue
		}
		if data, err := repo.ReadFile(p); err == nil && looksLikeHelmfile(p, data) {
			found = append(found, p)
		}
	}
	slices.Sort(found)
	return found
}

// inSeveralParts reports whether the documents of a file form a helmfile together: one contains the templates that
// the releases of another inherit.
func inSeveralParts(f *repository.File) bool {
	if len(f.Documents) < 2 || !slices.ContainsFunc(f.Documents, func(d *repository.Document) bool { return d.Lookup("releases") != nil }) {
		return false
	}
	for _, d := range f.Documents {
		root := d.Root()
		if repository.Lookup(root, "kind") != nil || root.Kind != yaml.MappingNode {
			return false
		}
		for i := 0; i+1 < len(root.Content); i += 2 {
			if !slices.Contains(known, root.Content[i].Value) {
				return false
			}
		}
	}
	return true
}
