package reconcile

import (
	"slices"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/patches"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// patches returns the patches of the kustomization files that a build read and of the Kustomization itself, the one that
// is applied last first. They are computed at the first request for the position of a patched value.
func (k *Kustomization) patches() []patches.Patch {
	k.allPatches.Do(func() {
		if k.Repo != nil {
			own := k.ownPatches()
			slices.Reverse(own)
			k.allPatches.list = slices.Concat(own, k.readPatches())
		}
	})
	return k.allPatches.list
}

// readPatches returns the patches of the kustomization files that a build read, the one that is applied last first.
func (k *Kustomization) readPatches() []patches.Patch {
	k.builtPatches.Do(func() {
		var all []patches.Patch
		for _, kustomize := range k.kustomizes() {
			all = append(all, patches.Of(k.Repo, kustomize, k.origin)...)
		}
		slices.Reverse(all)
		k.builtPatches.list = all
	})
	return k.builtPatches.list
}

// kustomizes returns the kustomization files that a build read.
func (k *Kustomization) kustomizes() []*repository.Kustomize {
	var all []*repository.Kustomize
	for _, file := range k.read {
		if f, ok := k.Repo.File(file); ok {
			if kustomize, ok := k.Repo.KustomizeOf(f); ok {
				all = append(all, kustomize)
			}
		}
	}
	return all
}

// Patched reports whether a line of a file belongs to a patch that applies to the object, and maybe to others, too.
func (o *Object) Patched(file string, line int) bool {
	return o.Kustomization != nil && slices.ContainsFunc(o.Kustomization.patches(), func(p patches.Patch) bool { return p.Covers(file, line) })
}

// PatchPosition returns the position of the part of a patch that changes the value at a path of the object, or below it;
// ok is false if no patch does.
func (o *Object) PatchPosition(field ...any) (at finding.Place, ok bool) {
	if o.Kustomization == nil {
		return at, false
	}
	for _, p := range o.Kustomization.patches() {
		if at, ok := p.Touches(o.named(), field); ok {
			return p.Place(at, false), true
		}
	}
	return at, false
}

// named returns the kind and name by which patches select the object.
func (o *Object) named() patches.Named { return patches.Named{Kind: o.Kind, Name: o.Name} }

// patchOf returns the position where a patch has set the value at a path of the object, and whether one has: the document
// that the object was built from has no such value there.
func (o *Object) patchOf(field []any, key bool) (finding.Place, bool) {
	value := o.Field(field...)
	if o.Kustomization == nil || value == nil || len(field) == 0 {
		return finding.Place{}, false
	}
	if o.Source != nil {
		if n := o.Source.Lookup(field...); n != nil && patches.Same(n, value) {
			return finding.Place{}, false
		}
	}
	for _, p := range o.Kustomization.patches() {
		if at, ok := p.Sets(o.named(), field, value); ok {
			return p.Place(at, key), true
		}
	}
	return finding.Place{}, false
}

// ownPatches returns the patches in the spec of the Flux Kustomization itself.
func (k *Kustomization) ownPatches() []patches.Patch {
	var all []patches.Patch
	for i, p := range k.Spec.Patches {
		if text, ok := k.ownPatch(i); ok {
			all = append(all, patches.Inline(text, builds.Selector(p.Target))...)
		}
	}
	return all
}

// ownPatch returns the text of an entry of spec.patches where it is written: in the Kustomization's document, or in the
// patch that adds it.
func (k *Kustomization) ownPatch(i int) (patches.Text, bool) {
	if k.Object == nil || k.Object.Source == nil {
		return patches.Text{}, false
	}
	value, field := k.Spec.Patches[i].Patch, []any{"spec", "patches", i, "patch"}
	by := k.Object.Kustomization
	if n := k.Object.Source.Lookup(field...); n != nil && patches.Same(n, value) {
		text := patches.Text{File: k.Object.File, Local: k.Object.Source.File(), Node: n, Exact: true}
		if by != nil && by.Repo != nil {
			if file, ok := by.Repo.File(text.Local); ok && file == k.Object.Source.Document.File {
				text.Repo = by.Repo
			}
		}
		return text, true
	}
	if by == nil || by.Repo == nil {
		return patches.Text{}, false
	}
	brought := by.readPatches()
	if by != k { // a root may apply itself
		brought = by.patches()
	}
	for _, p := range brought {
		if at, ok := p.Sets(k.Object.named(), field, value); ok {
			return p.At(at), true
		}
	}
	return patches.Text{}, false
}

// positionOf returns the position of a part of the Flux Kustomization's own patches.
func (k *Kustomization) positionOf(part builds.AddedPart) finding.Place {
	if part.Target != "" {
		return k.position("spec", "patches", part.Entry, "target", part.Target)
	}
	text, ok := k.ownPatch(part.Entry)
	if !ok {
		return k.position("spec", "patches", part.Entry)
	}
	if documents := patches.Inline(text, nil); len(part.Path) > 0 && len(documents) == 1 {
		return documents[0].Place(part.Path, false)
	}
	return finding.Place{File: text.File, Line: text.Node.Line, Column: text.Node.Column}
}

// TargetedPatches returns the patches with a target in a Kustomization and in the kustomization files that it is built
// from, its own first.
func (k *Kustomization) TargetedPatches() []patches.Targeted {
	if k.Repo == nil {
		return nil
	}
	// The files of remote entries are not among the files of the repository.
	complete := k.Complete() && len(k.Remotes) == 0
	b := &patches.Build{Repo: k.Repo, Kustomizes: k.kustomizes(), Read: k.read, Complete: complete, Origin: k.origin,
		Built: map[*repository.Object][]map[string]any{}}
	for _, o := range k.Objects {
		if o.Source != nil {
			b.Built[o.Source] = append(b.Built[o.Source], o.Value)
		}
	}
	var all []patches.Targeted
	for i, p := range k.Spec.Patches {
		if p.Target == nil || k.Object == nil {
			continue
		}
		one := b.Select(*builds.Selector(p.Target))
		one.Shared, one.Index = true, i
		at := []any{"spec", "patches", i, "target"}
		for _, field := range []string{"name", "kind", "group"} {
			if k.Object.Text(append(slices.Clone(at), field)...) != "" {
				at = append(at, field)
				break
			}
		}
		one.Place = k.Object.Position(at...)
		all = append(all, one)
	}
	return append(all, b.Targeted()...)
}

// Position returns the position of a path (field names and list indexes) of the object: in the patch that has set it,
// else in the document that the object was built from, or that of the nearest existing parent.
func (o *Object) Position(path ...any) finding.Place {
	if o.set != nil {
		return o.placeIn(path)
	}
	if at, ok := o.patchOf(path, false); ok {
		return at
	}
	if o.Source == nil {
		return o.Place
	}
	line, column := o.Source.Position(path...)
	return finding.Place{File: o.File, Line: line, Column: column}
}

// KeyPosition returns the position of the key or list item at a path; for a value that an operation of a JSON patch sets,
// the position of the operation's path.
func (o *Object) KeyPosition(path ...any) finding.Place {
	if o.set != nil {
		return o.placeIn(path)
	}
	if at, ok := o.patchOf(path, true); ok {
		return at
	}
	if o.Source == nil {
		return o.Place
	}
	line, column := o.Source.KeyPosition(path...)
	return finding.Place{File: o.File, Line: line, Column: column}
}

// position returns the position of a field of the Kustomization, or of the object that syncs it.
func (k *Kustomization) position(path ...any) finding.Place {
	if k.Object != nil {
		return k.Object.Position(path...)
	}
	return k.Cluster.Root.Place
}
