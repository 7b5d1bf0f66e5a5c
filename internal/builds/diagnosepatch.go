package builds

import (
	"encoding/json"
	"fmt"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/patches"
	fluxkustomize "github.com/fluxcd/pkg/apis/kustomize"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
)

// patchEntry is a patch of a kustomization, or one that the Flux Kustomization adds.
type patchEntry struct {
	field string
	text  string
	// file contains the patch, "" for an inline patch.
	file   string
	target *types.Selector
	// fails returns a failure at the entry, or at a part of the patch: field names and list indexes.
	fails func(message string, part ...any) *Failure
	// failsTarget returns a failure at a field of the target.
	failsTarget func(message string, part string) *Failure
}

// leavesOut adds the string of the patch to the exclusion of a failure.
func (e *patchEntry) leavesOut(f *Failure) *Failure {
	if f.out != nil {
		f.out.text = e.text
	}
	return f
}

// addedEntries returns the patches that a Flux Kustomization adds.
func addedEntries(patches []fluxkustomize.Patch) []patchEntry {
	all := make([]patchEntry, len(patches))
	for i, p := range patches {
		fails := func(message string, part AddedPart) *Failure {
			part.Entry = i
			return &Failure{Reason: BuildFailed, Message: message, Added: &part, out: &exclusion{added: i + 1}}
		}
		all[i] = patchEntry{
			field: "patches", text: p.Patch, target: Selector(p.Target),
			fails:       func(message string, part ...any) *Failure { return fails(message, AddedPart{Path: part}) },
			failsTarget: func(message, part string) *Failure { return fails(message, AddedPart{Target: part}) },
		}
	}
	return all
}

// entries returns the patches of a kustomization.
func (v *diagnosis) entries(k *repository.Kustomize) []patchEntry {
	var all []patchEntry
	add := func(field string, i int, p types.Patch, key ...any) {
		at := append([]any{field, i}, key...)
		one := patchEntry{field: field, text: p.Patch, target: p.Target}
		one.fails = func(message string, _ ...any) *Failure { return one.leavesOut(failureAt(k, message, at...)) }
		one.failsTarget = func(message, part string) *Failure {
			return one.leavesOut(failureAt(k, message, field, i, "target", part))
		}
		documents := patches.Inline(patches.Text{Local: k.File.Path, Repo: v.Repo, Node: k.Document.Lookup(at...), Exact: true}, nil)
		if p.Path != "" {
			documents = nil
			file, _ := repository.Join(k.Dir, p.Path)
			data, err := v.ReadFile(absolute(file))
			if err != nil {
				return
			}
			one.text, one.file = string(data), file
			if f, ok := v.Repo.File(file); ok && len(f.Documents) == 1 {
				documents = []patches.Patch{{Text: patches.Text{Local: file, Node: f.Documents[0].Root()}}}
			}
		}
		if len(documents) == 1 {
			whole := one.fails
			one.fails = func(message string, part ...any) *Failure {
				if len(part) == 0 {
					return whole(message)
				}
				f := &Failure{Reason: BuildFailed, Place: finding.Place{File: documents[0].Local}, Message: message, out: whole("").out}
				f.Line, f.Column = repository.Position(documents[0].Node, part...)
				return f
			}
		}
		all = append(all, one)
	}
	if k.Document == nil {
		return nil
	}
	keyOf := func(p types.Patch) string {
		if p.Path != "" {
			return "path"
		}
		return "patch"
	}
	for i, p := range k.Spec.Patches {
		add("patches", i, p, keyOf(p))
	}
	for i, p := range k.Spec.PatchesJson6902 { //nolint:staticcheck // older repositories use it
		add("patchesJson6902", i, p, keyOf(p))
	}
	for i, p := range k.Spec.PatchesStrategicMerge { //nolint:staticcheck // older repositories use it
		one := types.Patch{Path: string(p)}
		if strings.Contains(string(p), "\n") {
			one = types.Patch{Patch: string(p)}
		}
		add("patchesStrategicMerge", i, one)
	}
	return all
}

// refused finds the patch that kustomize refuses.
func (v *diagnosis) refused(entries []patchEntry) *Failure {
	wanted := unmatchedIn(v.message)
	for _, e := range entries {
		out := e.fails("").out
		if v.out.has(out) {
			continue
		}
		switch {
		case strings.Contains(v.message, "PatchJson6902Transformer: decoding ") && e.field == "patchesJson6902" && !isList(e.text):
			return e.fails(e.field + ": this is not a list of JSON 6902 operations")
		case strings.Contains(v.message, "must specify one of patch and path"):
			if e.text == "" {
				return e.fails(e.field + ": the entry has no patch")
			}
		case strings.Contains(v.message, "unable to parse SM or JSON patch"):
			if strings.HasPrefix(e.text, "[") && !json.Valid([]byte(e.text)) {
				return e.fails(e.field + ": a patch that begins with [ is read as JSON, but this is not valid JSON; write one operation per line")
			}
			if !isPatch(e.text) {
				if f := v.malformed(e.file); f != nil {
					f.out = out
					return f
				}
				return e.fails(e.field + ": this is neither a list of JSON 6902 operations nor an object with apiVersion, kind and metadata.name")
			}
		case wanted != "":
			for _, o := range objectsIn(e.text) {
				if o.id().String() == wanted {
					f := v.unmatched(e, o)
					f.open, f.out = !f.Malformed, out
					return f
				}
			}
		default:
			if f := v.operation(e); f != nil {
				f.open = true
				return f
			}
			if f := v.selects(e); f != nil {
				return f
			}
		}
	}
	return nil
}

// unmatchedIn returns the object of a patch that is not among the resources, as kustomize names it; "" for none. For
// patchesStrategicMerge, kustomize's message is another one.
func unmatchedIn(message string) string {
	if _, rest, found := strings.Cut(message, `no resource matches strategic merge patch "`); found {
		wanted, _, _ := strings.Cut(rest, `"`)
		return wanted
	}
	_, rest, _ := strings.Cut(message, "failed to find unique target for patch ")
	wanted, _, _ := strings.Cut(rest, "\n")
	return strings.TrimRight(wanted, "' ")
}

// unmatched returns the failure of a patch whose object is not among the resources. If a resource differs only in
// group or version, the failure is at the one whose version no release of Kubernetes has.
func (v *diagnosis) unmatched(e patchEntry, wanted head) *Failure {
	for _, file := range v.filesRead() {
		f, ok := v.Repo.File(file)
		if !ok || file == e.file || v.Repo.Use(file) == repository.Patch {
			continue
		}
		for _, d := range f.Documents {
			for _, o := range d.Objects {
				if o.Kind != wanted.Kind || o.Name != wanted.Metadata.Name || o.APIVersion == wanted.APIVersion ||
					o.Namespace != "" && wanted.Metadata.Namespace != "" && o.Namespace != wanted.Metadata.Namespace {
					continue
				}
				line, column := o.Position("apiVersion")
				if m := schemas.MistakeOf(schema.FromAPIVersionAndKind(o.APIVersion, o.Kind)); m != nil && !m.Newer {
					return &Failure{Reason: BuildFailed, Malformed: true, Place: finding.Place{File: file, Line: line, Column: column}, Message: m.Message}
				}
				message := fmt.Sprintf("%s: the %s among the resources has apiVersion %s (%s:%d), not %s", e.field, wanted, o.APIVersion, file, line, wanted.APIVersion)
				if line == 0 {
					message = fmt.Sprintf("%s: the %s among the resources has apiVersion %s, not %s", e.field, wanted, o.APIVersion, wanted.APIVersion)
				}
				return e.fails(message, "apiVersion")
			}
		}
	}
	return e.fails(fmt.Sprintf("%s: there is no %s among the resources to patch", e.field, wanted))
}

// selects finds a field of a patch's target that is not a valid regular expression or selector.
func (v *diagnosis) selects(e patchEntry) *Failure {
	t := e.target
	if t == nil {
		return nil
	}
	for _, one := range []struct{ name, text string }{
		{"group", t.Group}, {"version", t.Version}, {"kind", t.Kind}, {"name", t.Name}, {"namespace", t.Namespace},
	} {
		// As kustomize anchors them: sigs.k8s.io/kustomize/api/types.NewSelectorRegex.
		if patches.CountSelector(one.text) != nil {
			continue // it is not evaluated, which is reported elsewhere
		}
		if _, err := regexp.Compile("^(?:" + one.text + ")$"); err != nil {
			return e.failsTarget(fmt.Sprintf("%s: target.%s: %q is not a valid regular expression", e.field, one.name, one.text), one.name)
		}
	}
	for _, one := range []struct{ name, text string }{{"labelSelector", t.LabelSelector}, {"annotationSelector", t.AnnotationSelector}} {
		if _, err := labels.Parse(one.text); err != nil {
			return e.failsTarget(fmt.Sprintf("%s: target.%s: %q is not a valid selector: %v", e.field, one.name, one.text, err), one.name)
		}
	}
	return nil
}

// isPatch reports whether kustomize can read a string as a patch.
func isPatch(text string) bool {
	var doc yaml.Node
	if yaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) == 0 {
		return false
	}
	root := doc.Content[0]
	return root.Kind == yaml.SequenceNode ||
		repository.Lookup(root, "kind") != nil && repository.Lookup(root, "apiVersion") != nil && repository.Lookup(root, "metadata", "name") != nil
}

// isList reports whether a string is a YAML list.
func isList(text string) bool {
	var doc yaml.Node
	return yaml.Unmarshal([]byte(text), &doc) == nil && len(doc.Content) > 0 && doc.Content[0].Kind == yaml.SequenceNode
}

// operations are the operations of JSON 6902.
var operations = []string{"add", "remove", "replace", "move", "copy", "test"}

// operation finds the operation of a JSON patch that kustomize's message is about, nil if there is none.
// Source: gopkg.in/evanphx/json-patch.v4 patch.go.
func (v *diagnosis) operation(e patchEntry) *Failure {
	var list []struct{ Op, Path, From string }
	if yaml.Unmarshal([]byte(e.text), &list) != nil {
		return nil
	}
	for i, o := range list {
		if strings.HasSuffix(v.message, "Unexpected kind: "+o.Op) && !slices.Contains(operations, o.Op) {
			return e.fails(fmt.Sprintf("%s: operation %q does not exist; the operations are %s", e.field, o.Op, strings.Join(operations, ", ")), i, "op")
		}
		if o.Op == "" || o.Path == "" || !strings.Contains(v.message, o.Op) {
			continue
		}
		for _, pointer := range []string{o.Path, o.From} {
			for _, form := range []string{"path: %s: ", "path: %q: ", "path: '%s': ", "key: %s: ", "from: '%s': ", "testing value %s failed"} {
				if pointer != "" && strings.Contains(v.message, fmt.Sprintf(form, pointer)) {
					return e.fails(brief(v.message), i, "path")
				}
			}
		}
	}
	return nil
}
