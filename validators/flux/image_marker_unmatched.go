package flux

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/roots"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ImageMarkerUnmatched is flux-image-marker-unmatched.
var ImageMarkerUnmatched = rule.Rule{
	ID:       "flux-image-marker-unmatched",
	Title:    "a marker of image automation that updates nothing",
	Severity: finding.Warning,
	Why: `image-automation-controller replaces the values that are followed by a comment such as
{"$imagepolicy": "flux-system:podinfo"}. It reads only the policies of the ImageUpdateAutomation's own namespace, and only
the comments of objects: a marker in a JSON patch, or in a patch that is a string in a kustomization.yaml, is never read.
The controller reports none of these mistakes: the image stays at its version.

The rule checks the files that the update.path of an ImageUpdateAutomation of a cluster contains, if its source is this
repository. A policy that may exist although it is not in Git is unresolved.`,
	Fix: `Correct the namespace and name of the policy, or move it to the namespace of the ImageUpdateAutomation. Write a patch
as an object (a strategic merge patch) in a file of its own, or use images in the kustomization.yaml with a marker.`,
	Run: func(p *rule.Pass) {
		var all []automation
		each(p, func(w *world) { all = append(all, w.automations(p.Repo)...) })
		if len(all) == 0 {
			return
		}
		var open questions
		for _, f := range p.Repo.Files() {
			if data, err := p.Repo.ReadFile(f.Path); err == nil && f.Err == nil && !f.Excluded && strings.Contains(string(data), markerKey) {
				checkMarkers(p, &open, all, f, string(data))
			}
		}
		open.report(p)
	},
}

const markerKey = `"$imagepolicy"`

// marker matches a comment that names a policy. Source: github.com/fluxcd/image-automation-controller v1.0,
// docs/spec/v1/imageupdateautomations.md.
var marker = regexp.MustCompile(`#\s*\{\s*"\$imagepolicy":\s*"([^":]+):([^":]+)(?::[a-z]+)?"\s*\}`)

// automation is an ImageUpdateAutomation that updates files of the repository.
type automation struct {
	w    *world
	of   *reconcile.Object
	path string
}

// automations returns the ImageUpdateAutomations of a cluster whose source is the repository, by its name or its address,
// including suspended ones.
func (w *world) automations(repo *repository.Repository) []automation {
	own := map[string]bool{}
	for _, k := range w.cluster.Kustomizations {
		if k.Repo == repo {
			own[idText(sourceOf(k))] = true
			own[w.address(sourceOf(k))] = true
		}
	}
	delete(own, "")
	var all []automation
	for _, o := range w.applied {
		source := reconcile.Identity{Group: fluxapi.SourceGroup, Kind: o.Text("spec", "sourceRef", "kind"),
			Namespace: cmp.Or(o.Text("spec", "sourceRef", "namespace"), o.Namespace), Name: o.Text("spec", "sourceRef", "name")}
		if o.Group == fluxapi.ImageGroup && o.Kind == "ImageUpdateAutomation" && (own[idText(source)] || own[w.address(source)]) {
			all = append(all, automation{w, o, repository.Clean(o.Text("spec", "update", "path"))})
		}
	}
	return all
}

// address returns the address of a source's repository, "" if it is unknown.
func (w *world) address(source reconcile.Identity) string {
	if o := w.find(source); o != nil {
		return roots.RepositoryAddress(o.Text("spec", "url"))
	}
	return ""
}

// checkMarkers reports the markers of a file that update nothing.
func checkMarkers(p *rule.Pass, open *questions, all []automation, f *repository.File, text string) {
	var by []automation
	for _, a := range all {
		if a.path == "." || repository.Within(a.path, f.Path) {
			by = append(by, a)
		}
	}
	if len(by) == 0 {
		return
	}
	read := markersIn(f, strings.Split(text, "\n"))
	number := 0
	for line := range strings.Lines(text) {
		number++
		m := marker.FindStringSubmatchIndex(line)
		if m == nil || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		at := finding.Place{File: f.Path, Line: number, Column: len([]rune(line[:m[0]])) + 1}
		switch comment := strings.TrimSpace(line[m[0]:]); {
		case read.other[comment]:
			p.Report(finding.Finding{Place: at, Message: "image automation never reads this marker: it follows a list, a mapping or an alias, not a value",
				Hint: "write the value on a line of its own, and the marker after it"})
			continue
		case !read.lines[number] && !read.folded[comment]:
			p.Report(finding.Finding{Place: at, Message: "image automation never reads this marker: it is not in an object, but in a JSON patch or a string",
				Hint: "write the patch as an object in a file of its own, or set images in the kustomization.yaml"})
			continue
		}
		checkPolicy(p, open, by, at, reconcile.Identity{Group: fluxapi.ImageGroup, Kind: "ImagePolicy", Namespace: line[m[2]:m[3]], Name: line[m[4]:m[5]]})
	}
}

// checkPolicy reports a marker whose policy no ImageUpdateAutomation sees.
func checkPolicy(p *rule.Pass, open *questions, by []automation, at finding.Place, policy reconcile.Identity) {
	why := ""
	for _, a := range by {
		switch {
		case a.of.Namespace != policy.Namespace:
		case a.w.has(policy):
			return
		case why == "":
			if why = a.w.doubtOf(policy, a.of); why == "" && !a.w.near(policy) {
				why = a.w.outside(policy)
			}
		}
	}
	if why != "" {
		open.add(at, fmt.Sprintf("whether %s, which a marker names, exists", idText(policy)), why)
		return
	}
	own := slices.IndexFunc(by, func(a automation) bool { return a.of.Namespace == policy.Namespace })
	first := by[max(0, own)]
	if own < 0 {
		// The name is unknown.
		automation := reconcile.Identity{Group: fluxapi.ImageGroup, Kind: "ImageUpdateAutomation", Namespace: policy.Namespace, Name: "${}"}
		if why := first.w.doubt(automation); why != "" || len(first.w.cluster.OpenSets) > 0 {
			open.add(at, fmt.Sprintf("whether an ImageUpdateAutomation in namespace %s updates the value with the marker", policy.Namespace), cmp.Or(why, "a ResourceSet may create it"))
			return
		}
	}
	f := finding.Finding{Message: fmt.Sprintf("%s, which the marker names, does not exist: the image is never updated", idText(policy)), Hint: first.w.hint(policy)}
	if first.of.Namespace != policy.Namespace {
		f.Message = fmt.Sprintf("the marker names %s, but %s reads only the policies of namespace %s", idText(policy), first.of, first.of.Namespace)
		f.Hint = fmt.Sprintf("move the policy to namespace %s, or add an ImageUpdateAutomation to namespace %s", first.of.Namespace, policy.Namespace)
	}
	p.Report(f.At(at))
}

// markers holds the comments with markers in the objects of a file.
type markers struct {
	lines         map[int]bool    // the lines of values that end in a marker
	folded, other map[string]bool // markers after a value of several lines, and markers after a list, a mapping or an alias
}

func markersIn(f *repository.File, text []string) markers {
	found := markers{map[int]bool{}, map[string]bool{}, map[string]bool{}}
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		switch {
		case !strings.Contains(n.LineComment, markerKey):
		case n.Kind != yaml.ScalarNode:
			found.other[n.LineComment] = true
		case n.Line <= len(text) && strings.Contains(text[n.Line-1], markerKey):
			found.lines[n.Line] = true
		default:
			found.folded[n.LineComment] = true
		}
		for _, item := range n.Content {
			walk(item)
		}
	}
	for _, d := range f.Documents {
		if root := d.Root(); root != nil && root.Kind == yaml.MappingNode {
			walk(root)
		}
	}
	return found
}
