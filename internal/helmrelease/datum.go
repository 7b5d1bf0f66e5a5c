package helmrelease

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/strvals"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// datum is the string at a key of a ConfigMap or Secret.
type datum struct {
	object *reconcile.Object
	text   string
	// at is the place before the string's first line; inline is set if the string is on that line itself.
	at     finding.Place
	inline bool
	key    string
}

// datum returns the string at a key of a ConfigMap or Secret, and why it is unknown. It returns nil if
// the object or the key does not exist.
func (g *Index) datum(h *Release, kind, name, key string) (*datum, located.Unknown) {
	namespace := h.MetadataNamespace()
	o := g.applied(h, reconcile.Identity{Kind: kind, Namespace: namespace, Name: name})
	if o == nil {
		o = g.onlyNamed(h, kind, name)
	}
	if o == nil {
		return nil, located.Unknown{Reason: fmt.Sprintf("values come from the %s %s/%s, which is not in the repository", kind, namespace, name)}
	}
	content, known, found := o.Datum(key)
	switch {
	case !found:
		return nil, located.Unknown{Reason: fmt.Sprintf("values come from the key %q of the %s %s/%s, which does not have that key", key, kind, namespace, name)}
	case !known && o.Encrypted:
		return &datum{}, located.Unknown{Reason: fmt.Sprintf("values come from the encrypted %s %s/%s", kind, namespace, name)}
	case !known:
		content, _ = FieldOf(o.Value, "data", key).(string) // it contains unknown variables
		if kind == "Secret" || content == "" {
			return &datum{}, located.Unknown{Reason: fmt.Sprintf("values come from the %s %s/%s, whose value is unknown", kind, namespace, name)}
		}
	}
	d := &datum{object: o, text: content, at: located.At(o.File, o.Line), inline: true, key: key}
	g.placeDatum(d)
	return d, located.Unknown{}
}

// onlyNamed returns the only ConfigMap or Secret with a name that is in a file or that the HelmRelease's Kustomization
// generates, nil if there are several. It is for HelmReleases whose namespace is unknown.
func (g *Index) onlyNamed(h *Release, kind, name string) *reconcile.Object {
	all := g.Written("", kind, name)
	if k := h.Applied.Kustomization; k != nil {
		for _, o := range k.Objects {
			if o.Source == nil && o.Group == "" && o.Kind == kind && strings.HasPrefix(o.Name, name+"-") {
				all = append(all, o)
			}
		}
	}
	for _, keep := range []func(*reconcile.Object) bool{
		func(o *reconcile.Object) bool { return path.Dir(o.File) == path.Dir(h.File) },
		func(o *reconcile.Object) bool { return o.Namespace == h.MetadataNamespace() },
	} {
		var found *reconcile.Object
		for _, o := range all {
			switch {
			case !keep(o):
			case found != nil:
				return nil
			default:
				found = o
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// placeDatum finds the place of a datum: in the object's document, or in the file that a
// generator reads.
func (g *Index) placeDatum(d *datum) {
	o := d.object
	if o.Source != nil {
		for _, field := range []string{"data", "stringData"} {
			if n := o.Source.Lookup(field, d.key); n != nil {
				d.at, d.inline = located.At(o.File, n.Line), !strings.Contains(n.Value, "\n")
			}
		}
		return
	}
	for _, kustomize := range g.kustomizesOf(o.Kustomization) {
		for _, generated := range kustomize.Spec.ConfigMapGenerator {
			g.placeGenerated(d, kustomize.Dir, generated.Name, generated.FileSources)
		}
		for _, generated := range kustomize.Spec.SecretGenerator {
			g.placeGenerated(d, kustomize.Dir, generated.Name, generated.FileSources)
		}
	}
}

// kustomizesOf returns the kustomizations that the build of a Flux Kustomization read.
func (g *Index) kustomizesOf(k *reconcile.Kustomization) []*repository.Kustomize {
	var read []*repository.Kustomize
	if k == nil || k.Repo != g.Repo {
		return nil
	}
	for _, kustomize := range g.Repo.Kustomizes() {
		if _, ok := slices.BinarySearch(k.Files, kustomize.File.Path); ok && kustomize.Spec != nil && kustomize.Document != nil {
			read = append(read, kustomize)
		}
	}
	return read
}

// placeGenerated sets the place of a datum to the file of the generator that created it.
func (g *Index) placeGenerated(d *datum, dir, name string, sources []string) {
	if !strings.Contains(d.object.Name, name) {
		return
	}
	for _, source := range sources {
		key, ref, keyed := strings.Cut(source, "=")
		if !keyed {
			key, ref = path.Base(source), source
		}
		if p, ok := repository.Join(dir, ref); ok && key == d.key && g.Repo.Exists(p) {
			d.at, d.inline = located.At(p, 0), false
		}
	}
}

// values parses the string as Helm values.
func (d *datum) values() (*located.Value, located.Unknown) {
	nodes, err := located.Parse(d.at.File, d.text)
	if err != nil || len(nodes) == 0 {
		if err == nil && strings.TrimSpace(d.text) == "" {
			return located.EmptyMap(d.at), located.Unknown{}
		}
		return nil, d.noMap()
	}
	located.ShiftLines(nodes[:1], func(line int) int {
		if d.inline {
			return d.at.Line
		}
		return line + d.at.Line
	})
	v, err := located.ValueOf(d.at.File, nodes[0], located.AsHelm)
	if err != nil {
		return nil, located.Unknown{Reason: located.Shorten(err.Error())}
	}
	if !v.IsMap {
		return nil, d.noMap()
	}
	v.Each(d.flag)
	return v, located.Unknown{}
}

func (d *datum) noMap() located.Unknown {
	return located.Unknown{Reason: fmt.Sprintf("the key %s of the %s %s is not a YAML map", d.key, d.object.Kind, d.object.Name)}
}

// flag marks a value as coming from a ConfigMap or Secret.
func (d *datum) flag(v *located.Value) {
	v.Referred, v.Secret = true, d.object.Kind == "Secret"
	if text, ok := v.Scalar.(string); ok {
		v.Unknown = unknownVariable(d.object, text)
	}
}

// leaf parses the string as the value of a targetPath: a quoted string stays a string.
func (d *datum) leaf(literal bool) (*located.Value, bool) {
	v := &located.Value{Place: d.at}
	if d.at.Line == 0 {
		v.Line = 1
	}
	quoted := func(q string) bool { return strings.HasPrefix(d.text, q) && strings.HasSuffix(d.text, q) }
	switch {
	case literal:
		v.Scalar = d.text
	case strings.ContainsAny(d.text, `,{}\`):
		return nil, false
	case quoted("'") || quoted(`"`):
		v.Scalar = strings.Trim(d.text, `'"`)
	default:
		if set, err := strvals.Parse("v=" + d.text); err == nil {
			v.Scalar = set["v"]
		}
	}
	d.flag(v)
	return v, true
}
