package reconcile

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	fluxkustomize "github.com/fluxcd/pkg/apis/kustomize"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// patchEntry is a patch of a kustomization, or one that the Flux Kustomization adds.
type patchEntry struct {
	field string
	text  string
	// fails is a failure for the entry, or for one of its operations; -1 is the entry itself.
	fails func(message string, operation int) *Failure
}

// addedPart is a part of a patch of a Flux Kustomization's own.
type addedPart struct{ entry, operation int }

// addedEntries are the patches that a Flux Kustomization adds.
func addedEntries(patches []fluxkustomize.Patch) []patchEntry {
	all := make([]patchEntry, len(patches))
	for i, p := range patches {
		all[i] = patchEntry{"patches", p.Patch, func(message string, operation int) *Failure {
			return &Failure{Reason: BuildFailed, Message: message, added: &addedPart{i, operation}}
		}}
	}
	return all
}

// entries are the patches of a kustomization.
func (v *diagnosis) entries(k *repository.Kustomize) []patchEntry {
	var all []patchEntry
	add := func(field string, i int, p types.Patch, key ...any) {
		at := append([]any{field, i}, key...)
		one := patchEntry{field: field, text: p.Patch}
		one.fails = func(message string, _ int) *Failure { return failureAt(k, message, at...) }
		stands := inlinePatch(written{repo: v.repo, local: k.File.Path, node: k.Document.Lookup(at...), exact: true}, nil)
		if p.Path != "" {
			stands = nil
			file, _ := repository.Join(k.Dir, p.Path)
			data, err := v.ReadFile(absolute(file))
			if err != nil {
				return
			}
			one.text = string(data)
			if f, ok := v.repo.File(file); ok && len(f.Documents) == 1 {
				stands = []patch{{local: file, node: f.Documents[0].Node}}
			}
		}
		if len(stands) == 1 {
			whole := one.fails
			one.fails = func(message string, operation int) *Failure {
				if operation < 0 {
					return whole(message, operation)
				}
				f := &Failure{Reason: BuildFailed, File: stands[0].local, Message: message}
				f.Line, f.Column = repository.Position(stands[0].node, operation, "path")
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
	const unmatched = `no resource matches strategic merge patch "`
	_, rest, _ := strings.Cut(v.message, unmatched)
	wanted, _, _ := strings.Cut(rest, `"`)
	for _, e := range entries {
		switch {
		case strings.Contains(v.message, "must specify one of patch and path"):
			if e.text == "" {
				return e.fails(e.field+": the entry has no patch", -1)
			}
		case strings.Contains(v.message, "unable to parse SM or JSON patch"):
			if !isPatch(e.text) {
				return e.fails(e.field+": this is neither a list of JSON 6902 operations nor an object with apiVersion, kind and metadata.name", -1)
			}
		case wanted != "":
			for _, o := range objectsIn(e.text) {
				if o.id().String() == wanted {
					return e.fails(fmt.Sprintf("%s: among the resources is no %s to patch", e.field, o), -1)
				}
			}
		default:
			if i := v.operation(e.text); i >= 0 {
				return e.fails(brief(v.message), i)
			}
		}
	}
	return nil
}

// isPatch says whether kustomize can read a text as a patch.
func isPatch(text string) bool {
	var doc yaml.Node
	if yaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) == 0 {
		return false
	}
	root := doc.Content[0]
	return root.Kind == yaml.SequenceNode ||
		repository.Lookup(root, "kind") != nil && repository.Lookup(root, "apiVersion") != nil && repository.Lookup(root, "metadata", "name") != nil
}

// operation is the index of the operation of a JSON patch that the message is about, -1 for none.
// Source: gopkg.in/evanphx/json-patch.v4 patch.go.
func (v *diagnosis) operation(text string) int {
	var operations []struct{ Op, Path, From string }
	if yaml.Unmarshal([]byte(text), &operations) != nil {
		return -1
	}
	for i, o := range operations {
		if o.Op == "" || o.Path == "" || !strings.Contains(v.message, o.Op) {
			continue
		}
		for _, pointer := range []string{o.Path, o.From} {
			for _, form := range []string{"path: %s: ", "path: %q: ", "path: '%s': ", "key: %s: ", "from: '%s': ", "testing value %s failed"} {
				if pointer != "" && strings.Contains(v.message, fmt.Sprintf(form, pointer)) {
					return i
				}
			}
		}
	}
	return -1
}

// objectsIn are those of a text that kustomize has read.
func objectsIn(text string) []head {
	var heads []head
	for decoder := yaml.NewDecoder(strings.NewReader(text)); ; {
		var h head
		if decoder.Decode(&h) != nil {
			return heads
		}
		heads = append(heads, h)
	}
}
