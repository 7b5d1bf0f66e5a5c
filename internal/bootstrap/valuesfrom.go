package bootstrap

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// values are what Flux hands to Helm: those of valuesFrom in their order, then
// the inline ones.
func (c *cluster) values(h *helmRelease) layered {
	start := emptyMap(h.place)
	l := layered{value: start, sure: start}
	for _, field := range [][]string{{"spec", "chart", "spec", "valuesFiles"}} {
		files := h.whole.at(field...)
		if files != nil && slices.ContainsFunc(files.items, func(v *value) bool { return v.scalar != "values.yaml" }) {
			l.addUnknown(mark{reason: "values come from files inside of the chart (valuesFiles)"})
		}
	}
	if from := h.whole.at("spec", "valuesFrom"); from != nil {
		for _, ref := range from.items {
			c.addReference(&l, h, ref)
		}
	}
	if inline := h.whole.at("spec", "values"); inline != nil && inline.isMap {
		l.add(inline)
	}
	return l
}

func (c *cluster) addReference(l *layered, h *helmRelease, ref *value) {
	kind, name := textAt(ref, "kind").value, textAt(ref, "name").value
	key := orText(textAt(ref, "valuesKey").value, "values.yaml")
	if kind != "ConfigMap" {
		l.addUnknown(mark{reason: c.secretReason(h, kind, name)})
		return
	}
	content, at, ok := c.configMapKey(h, name, key)
	if !ok {
		if textAt(ref, "optional").value == "true" {
			return
		}
		l.addUnknown(mark{reason: fmt.Sprintf("values come from the ConfigMap %s/%s, which is not in the repository",
			h.metadataNamespace(), name)})
		return
	}
	if target := textAt(ref, "targetPath"); target.value != "" {
		addTarget(l, target, content, at)
		return
	}
	nodes, err := parseText(at.file, content)
	if err != nil || len(nodes) == 0 || nodes[0].Kind != yaml.MappingNode {
		l.addUnknown(mark{reason: fmt.Sprintf("the key %s of the ConfigMap %s is no YAML map", key, name)})
		return
	}
	shiftLines(nodes[:1], func(line int) int { return line + at.line })
	v, err := valueOf(at.file, nodes[0], asHelm)
	if err != nil {
		l.addUnknown(mark{reason: shortened(err.Error())})
		return
	}
	if c.substitutes(h.placement) {
		v = c.substituted(v, h.placement)
	}
	l.add(v)
}

// addTarget sets one value, as helm-controller does for targetPath: a quoted
// text stays text.
func addTarget(l *layered, target text, content string, at place) {
	if strings.ContainsAny(target.value, `[]{}\,=`) {
		l.addUnknown(mark{reason: fmt.Sprintf("the targetPath %q is not evaluated", target.value)})
		return
	}
	leaf := &value{place: at, scalar: setScalar(content)}
	if unquoted := strings.Trim(content, `"'`); len(unquoted)+2 == len(content) {
		leaf.scalar = unquoted
	}
	keys := strings.Split(target.value, ".")
	for i := len(keys) - 1; i >= 0; i-- {
		leaf = &value{place: at, isMap: true, fields: map[string]*value{keys[i]: leaf}}
	}
	l.add(leaf)
}

func (c *cluster) secretReason(h *helmRelease, kind, name string) string {
	if kind != "Secret" {
		return fmt.Sprintf("values come from a %s, which is not read", kind)
	}
	for _, o := range c.repo.ByKind("", "Secret") {
		if o.Name == name && !o.Document.Encrypted {
			return fmt.Sprintf("values come from the Secret %s/%s", h.metadataNamespace(), name)
		}
	}
	return fmt.Sprintf("values come from the encrypted Secret %s/%s", h.metadataNamespace(), name)
}

// configMapKey finds the text under a key of a ConfigMap: an object in the
// repository, or one that a kustomization generates from a file. The place is
// the line before the text's first one.
func (c *cluster) configMapKey(h *helmRelease, name, key string) (string, place, bool) {
	var found []*repository.Object
	for _, o := range c.repo.ByKind("", "ConfigMap") {
		near := path.Dir(o.File()) == path.Dir(h.object.File())
		ns := c.namespaceOf(o, h)
		if o.Name == name && (near || ns == h.metadataNamespace() || ns == "") {
			found = append(found, o)
		}
	}
	for _, near := range []bool{true, false} {
		for _, o := range found {
			if (path.Dir(o.File()) == path.Dir(h.object.File())) != near {
				continue
			}
			if n := o.Lookup("data", key); n != nil && n.Kind == yaml.ScalarNode {
				return n.Value, place{o.File(), n.Line}, true
			}
		}
	}
	return c.generatedKey(h, name, key)
}

func (c *cluster) generatedKey(h *helmRelease, name, key string) (string, place, bool) {
	kustomizes := slices.Clone(h.placement.chain)
	if k, ok := c.repo.KustomizeAt(path.Dir(h.object.File())); ok && !slices.Contains(kustomizes, k) {
		kustomizes = append(kustomizes, k)
	}
	for _, k := range kustomizes {
		if k.Spec == nil {
			continue
		}
		for _, g := range k.Spec.ConfigMapGenerator {
			if g.Name != name {
				continue
			}
			for _, file := range g.FileSources {
				as, ref, keyed := strings.Cut(file, "=")
				if !keyed {
					as, ref = path.Base(file), file
				}
				p, ok := repository.Join(k.Dir, ref)
				if as != key || !ok {
					continue
				}
				if data, err := c.repo.ReadFile(p); err == nil {
					return string(data), place{p, 0}, true
				}
			}
			for _, literal := range g.LiteralSources {
				if as, content, _ := strings.Cut(literal, "="); as == key {
					return strings.Trim(content, `"'`), place{k.File.Path, 0}, true
				}
			}
		}
	}
	return "", place{}, false
}
