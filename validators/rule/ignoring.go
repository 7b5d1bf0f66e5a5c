package rule

import (
	"cmp"
	"fmt"
	"path"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Ignoring holds the ignores of a repository and its configuration, and whether they had an effect.
type Ignoring struct {
	// Decisions are the ignores in the order of their places.
	Decisions []*Decision
	// Gone are the entries of the baseline for the rules that ran whose finding no longer exists.
	Gone         []finding.Known
	BaselineFile string
	// Known are the IDs of all rules. Judging are the IDs of the rules that check the ignores.
	Known, Judging []string

	repo       *repository.Repository
	comments   map[string][]*Decision             // by file
	annotated  map[*repository.Object][]*Decision // by object
	identities map[finding.Object][]*Decision     // by group, kind, name
	// unlined are the objects in files without line numbers, by group, kind, namespace and name.
	unlined   map[*repository.File]map[finding.Object]*repository.Object
	selectors []*Decision
}

// Decision is one ignore, of one or several rules.
type Decision struct {
	// Ignore is the parsed annotation or comment.
	finding.Ignore
	// Selector is the entry of the configuration; nil for annotations and comments.
	Selector *finding.Selector
	// Place is the place of the ignore.
	finding.Place
	// Object has the annotation or comment; it is the zero value if there is none.
	Object finding.Object
	// Used reports whether the ignore had an effect. Judged reports whether all rules that it names ran. If it
	// is judged and not used, it can be removed.
	Used, Judged bool

	covers func(line int) bool
}

// By returns the place of an ignore, as FILE:LINE.
func (d *Decision) By() string {
	if d.Line == 0 {
		return cmp.Or(d.File, "the configuration")
	}
	return fmt.Sprintf("%s:%d", d.File, d.Line)
}

// reason returns the reason of the ignore.
func (d *Decision) reason() string {
	if d.Selector != nil {
		return d.Selector.Reason
	}
	return d.Reason
}

// collect finds the ignores of a repository and of its configuration.
func collect(repo *repository.Repository, o Options) *Ignoring {
	ig := &Ignoring{repo: repo, BaselineFile: o.BaselineFile, Known: o.Known, comments: map[string][]*Decision{},
		annotated: map[*repository.Object][]*Decision{}, identities: map[finding.Object][]*Decision{},
		unlined: map[*repository.File]map[finding.Object]*repository.Object{}}
	for _, f := range repo.Files() {
		for _, d := range f.Documents {
			for _, object := range d.Objects {
				ig.annotations(object)
			}
			if f.FromItems {
				ig.itemComments(f.Path, d)
			}
		}
		if !f.FromItems {
			ig.fileComments(f.Path)
		}
	}
	for _, p := range repo.Paths() {
		if path.Ext(p) == ".gotmpl" {
			ig.fileComments(p)
		}
	}
	for i := range o.Ignore {
		s := &o.Ignore[i]
		ig.selectors = append(ig.selectors, &Decision{Selector: s, Place: s.Place})
	}
	ig.Decisions = append(ig.Decisions, ig.selectors...)
	return ig
}

func (ig *Ignoring) annotations(o *repository.Object) {
	value, ok := o.Text("metadata", "annotations", finding.Annotation)
	if !ok {
		return
	}
	line, column := o.KeyPosition("metadata", "annotations", finding.Annotation)
	for n, i := range finding.ParseAnnotation(value) {
		if n == limits.Ignores {
			i.Mistake = fmt.Sprintf("the annotation has more than %d", limits.Ignores)
		}
		d := &Decision{Ignore: i, Place: finding.Place{File: o.File(), Line: line, Column: column}, Object: ObjectOf(o)}
		ig.Decisions = append(ig.Decisions, d)
		if n == limits.Ignores {
			return
		}
		ig.annotated[o] = append(ig.annotated[o], d)
		id := identity(d.Object)
		ig.identities[id] = append(ig.identities[id], d)
	}
}

// identity returns an object without its version and namespace; a kustomization may set the namespace.
func identity(o finding.Object) finding.Object {
	group, _, grouped := strings.Cut(o.APIVersion, "/")
	if !grouped {
		group = ""
	}
	return finding.Object{APIVersion: group, Kind: o.Kind, Name: o.Name}
}

func (ig *Ignoring) fileComments(file string) {
	if _, done := ig.comments[file]; done {
		return
	}
	ig.comments[file] = nil
	if f, parsed := ig.repo.File(file); parsed && !f.Marked {
		return
	}
	text, err := ig.repo.ReadFile(file)
	if err != nil {
		return // a file that cannot be read has no findings for a comment
	}
	for i, c := range finding.Comments(text) {
		if i == limits.Ignores {
			c.Mistake = fmt.Sprintf("the file has more than %d", limits.Ignores)
		}
		d := &Decision{Ignore: c.Ignore, Place: finding.Place{File: file, Line: c.Line, Column: c.Column}, covers: c.Covers}
		if o := ig.objectAt(finding.Place{File: file, Line: c.Last}, finding.Object{}); o != nil {
			d.Object = ObjectOf(o)
		}
		ig.Decisions = append(ig.Decisions, d)
		if i == limits.Ignores {
			return
		}
		ig.comments[file] = append(ig.comments[file], d)
	}
}

// itemComments finds the comments of an item of a ResourceList. An item has no line numbers, so a comment
// counts for the whole object.
func (ig *Ignoring) itemComments(file string, doc *repository.Document) {
	if len(doc.Objects) == 0 {
		return
	}
	object := doc.Objects[0]
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for _, text := range []string{n.HeadComment, n.LineComment, n.FootComment} {
			for _, c := range finding.Comments([]byte(text)) {
				d := &Decision{Ignore: c.Ignore, Place: finding.Place{File: file}, Object: ObjectOf(object)}
				if len(ig.annotated[object]) < limits.Ignores {
					ig.Decisions = append(ig.Decisions, d)
					ig.annotated[object] = append(ig.annotated[object], d)
				}
			}
		}
		for _, child := range n.Content {
			walk(child)
		}
	}
	walk(doc.Root())
}

// judge sorts the ignores and sets Judged for each. It runs after apply, which may find more comments.
func (ig *Ignoring) judge(rules []Rule, o Options) {
	sorting.StableFunc(ig.Decisions, func(a, b *Decision) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	ran := map[string]bool{}
	judging := map[string]bool{}
	for _, r := range rules {
		ran[r.ID] = r.Ignoring == nil
		if r.Ignoring != nil {
			judging[r.ID] = true
			ig.Judging = append(ig.Judging, r.ID)
		}
	}
	if o.Cluster != "" || o.ReportIgnored {
		return
	}
	for _, d := range ig.Decisions {
		if d.Selector == nil {
			d.Judged = d.Mistake == "" && ran[d.Rule]
			continue
		}
		selected, missed := false, false
		for _, id := range o.Known {
			if !judging[id] && d.Selector.MatchesRule(id) {
				selected, missed = true, missed || !ran[id]
			}
		}
		d.Judged = selected && !missed
	}
}

// apply splits findings into those that no ignore covers and ignored ones.
func (ig *Ignoring) apply(findings []finding.Finding) (kept []finding.Finding, ignored []finding.Ignored) {
	return take(findings, func(f finding.Finding) *Decision {
		return ig.first(f.Rule, ig.about(f), f.File, ig.kindOf(f))
	})
}

// applySelectors is like apply, but uses only the ignores of the configuration.
func (ig *Ignoring) applySelectors(findings []finding.Finding) (kept []finding.Finding, ignored []finding.Ignored) {
	return take(findings, func(f finding.Finding) *Decision {
		return ig.first(f.Rule, nil, f.File, ig.kindOf(f))
	})
}

// applyUnresolved is like apply, for unresolved questions.
func (ig *Ignoring) applyUnresolved(all []finding.Unresolved) (kept []finding.Unresolved, ignored []finding.Ignored) {
	for _, u := range all {
		f := finding.Finding{Rule: u.Rule, Severity: "unresolved", Place: finding.Place{File: u.File, Line: u.Line}, Message: u.Reason}
		if d := ig.first(f.Rule, ig.about(f), f.File, ig.kindOf(f)); d != nil {
			ignored = append(ignored, finding.Ignored{Finding: f, Reason: d.reason(), By: d.By()})
		} else {
			kept = append(kept, u)
		}
	}
	return kept, ignored
}

func take(findings []finding.Finding, by func(finding.Finding) *Decision) (kept []finding.Finding, ignored []finding.Ignored) {
	for _, f := range findings {
		if d := by(f); d != nil {
			ignored = append(ignored, finding.Ignored{Finding: f, Reason: d.reason(), By: d.By()})
		} else {
			kept = append(kept, f)
		}
	}
	return kept, ignored
}

// first marks all ignores of a rule as used and returns the first one. The ignores in beside come before the ignores of
// the configuration.
func (ig *Ignoring) first(rule string, beside []*Decision, file, kind string) *Decision {
	var first *Decision
	use := func(d *Decision) {
		d.Used = true
		if first == nil {
			first = d
		}
	}
	for _, d := range beside {
		if d.Mistake == "" && d.Rule == rule {
			use(d)
		}
	}
	for _, d := range ig.selectors {
		if d.Selector.MatchesRule(rule) && d.Selector.MatchesKind(kind) && d.Selector.MatchesPath(file) {
			use(d)
		}
	}
	return first
}

// about returns the ignores next to a finding: comments at its line or at the declaration, and annotations of
// its object.
func (ig *Ignoring) about(f finding.Finding) []*Decision {
	var all []*Decision
	for _, at := range []finding.Place{{File: f.File, Line: f.Line}, f.Declared} {
		if at.File == "" {
			continue
		}
		ig.fileComments(at.File)
		for _, d := range ig.comments[at.File] {
			if d.covers(at.Line) {
				all = append(all, d)
			}
		}
	}
	certain := false
	for _, at := range []finding.Place{{File: f.File, Line: f.Line}, f.ObjectAt} {
		if o := ig.objectAt(at, f.Object); o != nil {
			all = append(all, ig.annotated[o]...)
			a, b := identity(ObjectOf(o)), identity(f.Object)
			certain = certain || a.Kind == b.Kind && a.APIVersion == b.APIVersion
		}
	}
	if !certain && !f.Several && f.Object.Name != "" {
		for _, d := range ig.identities[identity(f.Object)] {
			if d.Object.Namespace == "" || d.Object.Namespace == f.Object.Namespace {
				all = append(all, d)
			}
		}
	}
	return all
}

// objectAt returns the object at a line of a file. If the file has no line numbers, it returns the object with
// the name, or the only object in the file.
func (ig *Ignoring) objectAt(at finding.Place, named finding.Object) *repository.Object {
	f, ok := ig.repo.File(at.File)
	if !ok {
		return nil
	}
	if at.Line == 0 {
		return ig.withoutLine(f, named)
	}
	i := sort.Search(len(f.Documents), func(i int) bool { return f.Documents[i].Line > at.Line })
	if i == 0 {
		return nil
	}
	objects := f.Documents[i-1].Objects
	if i = sort.Search(len(objects), func(i int) bool { return objects[i].Node.Line > at.Line }); i == 0 {
		return nil
	}
	return objects[i-1]
}

// withoutLine returns the object with the name in a file without line numbers, or the only object in the file.
func (ig *Ignoring) withoutLine(f *repository.File, named finding.Object) *repository.Object {
	objects, known := ig.unlined[f]
	if !known {
		objects = map[finding.Object]*repository.Object{}
		for _, d := range f.Documents {
			for _, o := range d.Objects {
				key := identity(ObjectOf(o))
				if key.Namespace = o.Namespace; objects[key] == nil {
					objects[key] = o
				}
			}
		}
		ig.unlined[f] = objects
	}
	if named == (finding.Object{}) {
		var all []*repository.Object
		for _, d := range f.Documents {
			if all = append(all, d.Objects...); len(all) > 1 {
				return nil
			}
		}
		if len(all) == 0 {
			return nil
		}
		return all[0]
	}
	key := identity(named)
	key.Namespace = named.Namespace
	return objects[key]
}

// kindOf returns the kind of the object that a finding is about, "" if there is none.
func (ig *Ignoring) kindOf(f finding.Finding) string {
	if f.Object.Kind != "" {
		return f.Object.Kind
	}
	if o := ig.objectAt(finding.Place{File: f.File, Line: f.Line}, f.Object); o != nil {
		return o.Kind
	}
	return ""
}
