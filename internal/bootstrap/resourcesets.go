package bootstrap

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// resourceSet is a ResourceSet of the Flux Operator with the objects that it makes. Its resources
// are templates over its inputs; those that stand in it are known, and what input providers give
// is not.
//
// Source: internal/builder/resourceset.go and internal/inputs of
// github.com/controlplaneio-fluxcd/flux-operator v0.58.0, which cannot be imported.
type resourceSet struct {
	of      *reconcile.Object
	objects []*reconcile.Object
	// because says why not all that it makes is known, "" where it is.
	because string
}

// Bounds of what the ResourceSets of a repository make.
const (
	maxInputs = 1000
	maxMade   = 5000
)

// addResourceSets adds what the ResourceSets of the clusters make, and those in files that no
// cluster applies.
func (g *git) addResourceSets() {
	reached := map[*repository.Object]bool{}
	for _, c := range g.fleet.Clusters {
		for _, o := range c.Objects() {
			if o.Group != operatorGroup || o.Kind != "ResourceSet" || o.HelmRelease != nil {
				continue
			}
			reached[o.Source] = true
			for _, made := range g.expand(o) {
				if h := newHelmRelease(made); isHelmRelease(made) && !h.isFragment() && h.room(g.releases) {
					h.set = o
					g.releases = append(g.releases, h)
				}
			}
		}
	}
	for _, o := range g.plain {
		if o.Group != operatorGroup || o.Kind != "ResourceSet" || reached[o.Source] {
			continue
		}
		for _, made := range g.expand(o) {
			g.plain = append(g.plain, made)
			if h := newHelmRelease(made); isHelmRelease(made) && !h.isFragment() && h.room(g.orphans) {
				h.set, h.orphan = o, true
				g.orphans = append(g.orphans, h)
			}
		}
	}
}

func isHelmRelease(o *reconcile.Object) bool { return o.Group == helmGroup && o.Kind == "HelmRelease" }

// expand computes what a ResourceSet makes.
func (g *git) expand(o *reconcile.Object) []*reconcile.Object {
	set := &resourceSet{of: o}
	g.sets = append(g.sets, set)
	annotations, _ := fieldOf(o.Value, "metadata", "annotations").(map[string]any)
	if strings.EqualFold(fmt.Sprint(annotations[reconcileAnnotation]), "disabled") {
		return nil
	}
	if g.setEngine == nil {
		g.setEngine = newSetEngine(g)
	}
	x := &expansion{git: g, resourceSet: set, whole: g.object(o), seen: map[reconcile.Identity]bool{}}
	work := func() error { x.run(); return nil }
	unit := bounds.Unit{Kind: "document", File: o.File, Line: o.Line, Name: fmt.Sprintf("ResourceSet %s/%s", o.Namespace, o.Name)}
	g.setEngine.unit = unit
	if err := bounds.Do(unit, work); err != nil {
		x.fail(err)
	}
	return set.objects
}

// The annotations of the operator that matter here: one switches an object off, the other has
// the operator copy data from elsewhere.
const (
	reconcileAnnotation = operatorGroup + "/reconcile"
	copyFromAnnotation  = operatorGroup + "/copyFrom"
)

// expansion is a ResourceSet under evaluation.
type expansion struct {
	*git
	*resourceSet
	whole *value // with places
	seen  map[reconcile.Identity]bool
}

func (x *expansion) run() {
	spec := x.whole.at("spec")
	if !isMap(spec) {
		return
	}
	inputs, because := x.inputs(spec)
	if because != "" {
		x.because = because
		return
	}
	steps := []*value{spec}
	if list := spec.at("steps"); isList(list) {
		steps = list.items
	}
	for _, step := range steps {
		if resources := step.at("resources"); isList(resources) {
			for _, resource := range resources.items {
				for _, input := range inputs {
					x.resource(resource, input, len(inputs) > 1 || input != nil)
				}
			}
		}
		if text := step.at("resourcesTemplate"); text != nil && !isMap(text) && !isList(text) {
			for _, input := range inputs {
				x.template(text, input)
			}
		}
	}
}

// inputs are the sets of inputs, one that is nil where there are none: a template without inputs is
// evaluated once.
func (x *expansion) inputs(spec *value) ([]map[string]any, string) {
	if from := spec.at("inputsFrom"); isList(from) && len(from.items) > 0 {
		return nil, "its inputs come from input providers (inputsFrom)"
	}
	if name := textAt(spec, "inputStrategy", "name").value; name != "" && name != "Flatten" {
		return nil, fmt.Sprintf("the input strategy %q is not evaluated", name)
	}
	list := spec.at("inputs")
	if !isList(list) || len(list.items) == 0 {
		return []map[string]any{nil}, ""
	}
	if len(list.items) > maxInputs {
		because := fmt.Sprintf("it has more than %d inputs", maxInputs)
		bounds.Refuse(x.setEngine.unit, because)
		return nil, because
	}
	var all []map[string]any
	for _, item := range list.items {
		if m := unknownIn(item); m != nil {
			return nil, m.reason
		}
		// The operator reads them as JSON: all numbers are floating-point there.
		input, err := jsonMap(item.plain())
		if err != nil {
			return nil, shortened(err.Error())
		}
		input["provider"] = map[string]any{"apiVersion": x.of.APIVersion, "kind": x.of.Kind,
			"name": x.of.Name, "namespace": x.of.Namespace}
		all = append(all, input)
	}
	return all, ""
}

func jsonMap(v any) (map[string]any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	err = json.Unmarshal(text, &out)
	return out, err
}

// resource evaluates an item of resources with some inputs: the operator writes it as YAML and
// evaluates that.
func (x *expansion) resource(written *value, input map[string]any, exclude bool) {
	text, err := yaml.Marshal(written.plain())
	if err != nil {
		x.fail(err)
		return
	}
	if !strings.Contains(string(text), x.setEngine.rendering.left) {
		x.add(written, exclude)
		return
	}
	rendered, err := x.render(string(text), input)
	if err != nil {
		x.fail(err)
		return
	}
	all, err := x.read(rendered, func(int) int { return written.line })
	if err != nil {
		x.fail(err)
		return
	}
	for _, v := range all {
		x.add(placedLike(v, written, written.place), exclude)
	}
}

// template evaluates resourcesTemplate with some inputs.
func (x *expansion) template(text *value, input map[string]any) {
	source, _ := text.scalar.(string)
	rendered, err := x.render(source, input)
	if err != nil {
		x.fail(err)
		return
	}
	lines := alignLines(x.comparable(source), rendered)
	all, err := x.read(rendered, func(line int) int { return text.line + lines[min(max(line, 1), len(lines))-1] })
	if err != nil {
		x.fail(err)
		return
	}
	for _, v := range all {
		x.add(v, true)
	}
}

// comparable is a template with the delimiters that [alignLines] knows.
func (x *expansion) comparable(source string) string {
	r := x.setEngine.rendering
	return strings.NewReplacer(r.left, "{{", r.right, "}}").Replace(source)
}

func (x *expansion) render(source string, input map[string]any) (string, error) {
	x.setEngine.rendering.inputs = input
	return x.setEngine.render(".", source, nil)
}

// fail notes why something of the ResourceSet is not known.
func (x *expansion) fail(err error) {
	if x.because == "" {
		x.because = "it is not evaluated: " + strings.ReplaceAll(templateReason(err), "stringTemplate", "resourceset")
	}
}

// read reads the objects of a text.
func (x *expansion) read(text string, line func(int) int) ([]*value, error) {
	nodes, err := parseText(x.whole.file, text)
	if err != nil {
		return nil, err
	}
	shiftLines(nodes, line)
	var all []*value
	for _, n := range nodes {
		v, err := valueOf(x.whole.file, n, asHelm)
		if err != nil {
			return nil, err
		}
		if v.isMap && len(v.fields) > 0 {
			all = append(all, v)
		}
	}
	return all, nil
}

// placedLike gives the parts of a value the places of those of another one, where it has them.
func placedLike(v, written *value, at place) *value {
	if written != nil {
		at = written.place
	}
	out := *v
	out.place = at
	if v.isMap {
		out.fields = make(map[string]*value, len(v.fields))
		for key, field := range v.fields {
			out.fields[key] = placedLike(field, written.at(key), at)
		}
	}
	out.items = nil
	for i, item := range v.items {
		out.items = append(out.items, placedLike(item, written.item(i), at))
	}
	return &out
}

// add adds an object, the first of its name. Exclude says that an annotation can leave it out.
func (x *expansion) add(v *value, exclude bool) {
	plain, isMap := v.plain().(map[string]any)
	if len(x.objects) >= maxMade && isMap {
		x.because = fmt.Sprintf("it makes more than %d objects", maxMade)
		bounds.Refuse(x.setEngine.unit, x.because)
		return
	}
	if !isMap {
		return
	}
	annotations, _ := fieldOf(plain, "metadata", "annotations").(map[string]any)
	if exclude && annotations[reconcileAnnotation] == "disabled" {
		return
	}
	apiVersion := textOf(plain, "apiVersion")
	group, _, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		group = ""
	}
	id := reconcile.Identity{Group: group, Kind: textOf(plain, "kind"), Namespace: textOf(plain, "metadata", "namespace"), Name: textOf(plain, "metadata", "name")}
	if strings.Contains(id.Name+id.Namespace+id.Kind, markOpen) {
		x.fail(fmt.Errorf("the name of a %s depends on what is not evaluated", id.Kind))
		return
	}
	if x.seen[id] {
		return
	}
	x.seen[id] = true
	if _, copies := annotations[copyFromAnnotation]; copies {
		return // what it holds is elsewhere
	}
	v = x.certain(v)
	o := &reconcile.Object{Kustomization: x.of.Kustomization, Value: plain, Identity: id, APIVersion: apiVersion,
		File: v.file, Line: v.line, Encrypted: x.of.Encrypted, Substituted: x.of.Substituted, Unknown: x.of.Unknown}
	x.placed[o] = v
	x.objects = append(x.objects, o)
	if k := x.of.Kustomization; k != nil {
		x.made[k.Cluster] = append(x.made[k.Cluster], o)
	}
}

// certain marks the texts of a value that are not known: what a template could not compute, and
// variables that Flux has replaced by what isn't in Git.
func (x *expansion) certain(v *value) *value {
	open := x.open(x.of) && !substitutionDisabled(x.of)
	return v.mapScalars(func(s *value) *value {
		text, isText := s.scalar.(string)
		if !isText || s.unknown != nil {
			return s
		}
		out := *s
		if m, bad := x.setEngine.marked(text); bad {
			out.unknown = &m
		} else if open && variable.MatchString(text) {
			out.unknown = &mark{reason: fmt.Sprintf("Flux substitutes %s, whose value is not in the repository", variableIn(text))}
		} else {
			out.unknown = unknownVariable(x.of, text)
		}
		return &out
	})
}

// newSetEngine evaluates the templates of ResourceSets, which see no file.
func newSetEngine(g *git) *engine {
	e := newEngine(g.ctx, noFiles{})
	r := e.rendering
	r.left, r.right = "<<", ">>"
	known := r.functions
	known["get"] = known["sprigGet"]
	known["slugify"] = r.slugify
	for _, name := range []string{"toYaml", "mustToYaml"} {
		known[name] = r.guard("toYaml", marshalled)
	}
	r.functions = template.FuncMap{conditionFunction: known[conditionFunction],
		eitherFunction: known[eitherFunction], loopFunction: known[loopFunction],
		"inputs": func() any { return r.inputs }}
	for _, name := range strings.Fields(setFunctions) {
		if f, ok := known[name]; ok {
			r.functions[name] = f
		} else {
			r.functions[name] = r.refused(name)
		}
	}
	return e
}

// setFunctions are the functions that the operator gives templates: text/template's, those of
// github.com/go-task/slim-sprig/v3 v3.0.0 that always give the same, and its own. Those that
// helmfiles don't have are not evaluated.
const setFunctions = `and or not print printf println html js urlquery len index call eq ne lt le gt ge slice
	ago date duration durationRound htmlDate mustToDate toDate unixEpoch
	trunc trim upper lower title substr repeat trimall trimAll trimSuffix trimPrefix contains hasPrefix hasSuffix
	quote squote cat indent nindent replace plural sha1sum sha256sum adler32sum toString atoi int64 int float64 seq
	toDecimal split splitList splitn toStrings until untilStep add1 add sub div mod mul randInt biggest max
	min maxf minf ceil floor round join sortAlpha default empty coalesce all any compact mustCompact fromJson toJson
	toPrettyJson toRawJson mustFromJson mustToJson mustToPrettyJson mustToRawJson ternary typeOf typeIs typeIsLike kindOf
	kindIs deepEqual base dir clean ext isAbs osBase osClean osDir osExt osIsAbs b64enc b64dec b32enc b32dec tuple list
	dict get set unset hasKey pluck keys pick omit values append push mustAppend mustPush prepend mustPrepend first
	mustFirst rest mustRest last mustLast initial mustInitial reverse mustReverse uniq mustUniq without mustWithout has
	mustHas mustSlice concat dig chunk mustChunk fail regexMatch mustRegexMatch regexFindAll mustRegexFindAll regexFind
	mustRegexFind regexReplaceAll mustRegexReplaceAll regexReplaceAllLiteral mustRegexReplaceAllLiteral regexSplit
	mustRegexSplit regexQuoteMeta urlParse urlJoin slugify toYaml mustToYaml`

func marshalled(v any) (string, error) {
	text, err := yaml.Marshal(v)
	return string(text), err
}

var slug = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// slugify makes a name of a text: one that is a name already stays so, and the rest is not
// evaluated (github.com/gosimple/slug).
func (r *rendering) slugify(text string) string {
	if slug.MatchString(text) && len(text) <= 63 {
		return text
	}
	m, bad := r.marked(text)
	if !bad {
		m = mark{reason: fmt.Sprintf("a template calls slugify of %q, which is not evaluated", text)}
	}
	return r.mark(m)
}

// noFiles is a repository without files.
type noFiles struct{}

func (noFiles) ReadFile(p string) ([]byte, error) {
	return nil, fmt.Errorf("a ResourceSet reads no file, not %q", path.Base(p))
}
func (noFiles) Exists(string) bool { return false }
func (noFiles) Paths() []string    { return nil }

// inSet says that the HelmRelease of a release may be made by a ResourceSet of which not all is known;
// "" where none names it.
func (g *git) inSet(r *release) string {
	for _, names := range []func(any) bool{r.namedIn, r.mayBeIn} {
		for _, set := range g.sets {
			spec := fieldOf(set.of.Value, "spec")
			steps, _ := fieldOf(spec, "steps").([]any)
			if set.because != "" && slices.ContainsFunc(append([]any{spec}, steps...), names) {
				return fmt.Sprintf("its HelmRelease may be made by the %s (%s:%d): %s", set.of, set.of.File, set.of.Line, set.because)
			}
		}
	}
	return ""
}

// namedIn says whether a resource of a ResourceSet, or of a step of one, has the release's name.
func (r *release) namedIn(step any) bool {
	resources, _ := fieldOf(step, "resources").([]any)
	return slices.ContainsFunc(resources, func(each any) bool {
		return textOf(each, "kind") == "HelmRelease" && textOf(each, "metadata", "name") == r.name.value
	})
}

// mayBeIn says whether a template of a ResourceSet, or of a step of one, may make a HelmRelease of
// the release's name.
func (r *release) mayBeIn(step any) bool {
	resources, _ := fieldOf(step, "resources").([]any)
	text := textOf(step, "resourcesTemplate")
	return slices.ContainsFunc(resources, func(each any) bool {
		return textOf(each, "kind") == "HelmRelease" && strings.Contains(textOf(each, "metadata", "name"), "<<")
	}) || strings.Contains(text, "kind: HelmRelease") && r.name.value != "" && (strings.Contains(text, r.name.value) || strings.Contains(text, "name: <<"))
}
