package bootstrap

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
)

// release is a release of a bootstrap, evaluated: of a helmfile, of the
// helmCharts of a kustomization, or of a HelmChart of K3s.
type release struct {
	place // of its name in the file that declares it
	// definition is what declares it, in a word.
	definition string
	cluster    string
	name       text
	namespace  text
	chart      text
	version    text
	// source is the URL that the chart comes from, as far as it is said apart
	// from the chart: of the repository behind the chart's "repository/" prefix.
	source text
	needs  []text
	hooks  []Hook
	labels map[string]string
	values layered
	// crdsOnly says that the bootstrap installs nothing of the chart but its
	// custom resource definitions.
	crdsOnly bool
	// skipped says why the bootstrap doesn't install the release at all, and
	// where; nil if it does.
	skipped *text
	// installed is false where helmfile removes the release instead, and enabled
	// where its condition leaves it out.
	installed, enabled bool
	// undecided says that it is not known whether helmfile installs the release.
	undecided bool
	// patches are the fields by which the bootstrap changes the chart or what it
	// renders, such as jsonPatches.
	patches []text
	// reads are the files that its fields and values are read from, and whether
	// they exist.
	reads map[string]bool
	// refused says why helmfile itself stops at the release, "" if it doesn't.
	refused string
	// refusals say why helmfile stops before it installs the release, and where, in
	// its order. The release is judged all the same.
	refusals []refusal
	// unreadable says why nothing can be told of the file, whose only release this
	// stands for; "" where it can be read.
	unreadable string
	// stops says of such a file that helmfile certainly stops there.
	stops bool
	// partial says what single values depend on that cannot be computed.
	partial []mark
	// world is the one that the release is evaluated in, and variants are what it is in others:
	// its own fields are unknown then where these differ.
	world    *world
	variants []*release
}

// What declares a release.
const (
	helmfileDefinition  = "helmfile"
	kustomizeDefinition = "kustomization"
	k3sDefinition       = "HelmChart"
)

// releaseData is what the templates of a release see.
type releaseData struct {
	Environment environmentData
	Release     releaseInfo
	Values      map[string]any
	StateValues *map[string]any
	KubeContext string
	Namespace   string
	Chart       string
}

type releaseInfo struct {
	Name, Namespace, Chart, ChartVersion, KubeContext string
	Labels                                            map[string]string
}

// evaluate computes all releases of a helmfile.
func (r *reader) evaluate(h *helmfile) []*release {
	var out []*release
	for _, raw := range h.releases {
		out = append(out, r.release(h, raw))
	}
	if len(out) == 0 && len(h.calls) == 0 {
		out = r.unreadable(h)
	}
	h.checkReleases(out)
	return out
}

// unreadable stands for a helmfile of which nothing can be told.
func (r *reader) unreadable(h *helmfile) []*release {
	out := &release{definition: helmfileDefinition, cluster: bootstrapCluster(r.paths(), h.file)}
	switch {
	case h.broken != nil:
		out.place, out.unreadable, out.stops = place{h.file, h.broken.line}, h.broken.reason, !h.guessed
	case len(h.refusals) > 0:
		out.place, out.unreadable = h.refusals[0].place, "helmfile refuses the file: "+h.refusals[0].value
		out.stops = !h.refusals[0].doubtful
	default:
		return nil
	}
	return []*release{out}
}

// release evaluates a release, in all worlds that its templates leave open.
func (r *reader) release(h *helmfile, raw *rawRelease) *release {
	before, noted := len(h.refusals), h.noted
	out := r.combined(explore(r.engine, func() outcome {
		h.refusals, h.noted = h.refusals[:before:before], noted
		each := r.inOneWorld(h, raw)
		return outcome{each, slices.Clone(h.refusals[before:])}
	}))
	h.refusals = append(h.refusals[:before:before], out.refusals...)
	return out.release
}

func (r *reader) inOneWorld(h *helmfile, raw *rawRelease) *release {
	h.phase = executing
	out := &release{place: raw.place, definition: helmfileDefinition, reads: maps.Clone(raw.reads)}
	if out.reads == nil {
		out.reads = map[string]bool{}
	}
	r.reads = out.reads
	whole, err := h.inherited(raw)
	if err != nil {
		r.exceed(err)
		if out.refused = err.Error(); !isUndecided(err) {
			out.refused = "helmfile refuses the release: " + out.refused
		}
		h.refuseIf(!isUndecided(err), raw.place, err.Error())
		whole = raw
	}
	e := &evaluation{reader: r, h: h, raw: whole}
	e.run()
	out.name, out.chart, out.version = e.fields["name"], e.fields["chart"], e.fields["version"]
	out.namespace = e.fields["namespace"]
	if h.namespace.value != "" {
		out.namespace = h.namespace
	}
	if out.chart.value == "" && out.chart.unknown == nil && out.refused == "" {
		out.refused = fmt.Sprintf("encountered empty chart while reading release %q", out.name.value)
		h.refuse(raw.place, out.refused)
		out.refused = "helmfile refuses the release: " + out.refused
	}
	for _, need := range whole.needs {
		out.needs = append(out.needs, e.text(need))
	}
	out.hooks, out.patches = whole.hooks, whole.patches
	out.labels = e.allLabels(out.namespace.value)
	out.crdsOnly = h.crdsOnly(out.name.value, whole)
	out.source = h.source(out.chart.value)
	e.choose(out)
	if out.skipped == nil {
		e.checkRepository(out.chart)
	}
	out.values = e.values(out)
	out.values.value.walk("", func(_ string, v *value) {
		if t, ok := v.scalar.(string); ok {
			if m, bad := r.marked(t); bad && !slices.ContainsFunc(out.partial, func(known mark) bool { return known.reason == m.reason }) {
				out.partial = append(out.partial, m)
			}
		}
	})
	out.cluster = bootstrapCluster(r.paths(), raw.file)
	return out
}

// source is the repository that a chart's prefix names; of several with one name
// the first, as in helmfile.
func (h *helmfile) source(chart string) text {
	prefix, _, ok := strings.Cut(chart, "/")
	if !ok {
		return text{}
	}
	for _, repo := range h.repositories {
		if repo.name.value == prefix {
			out := repo.url
			if repo.oci && !strings.HasPrefix(out.value, "oci://") {
				out.value = "oci://" + out.value
			}
			return out
		}
	}
	return text{}
}

// checkRepository notes a chart's prefix that is a slip of the pen for a repository: Helm knows none
// of that name, unless somebody has added one by hand where the bootstrap is run, or it is a folder.
func (e *evaluation) checkRepository(chart text) {
	prefix, name, ok := strings.Cut(chart.value, "/")
	if !ok || chart.unknown != nil || strings.Contains(name, "/") || e.hasFolder(prefix) || e.files.Exists(path.Join(e.h.dir, prefix)) {
		return
	}
	var names []string
	for _, repo := range e.h.repositories {
		if repo.name.value == prefix || repo.name.unknown != nil || strings.Contains(repo.name.value, markOpen) {
			return
		}
		names = append(names, repo.name.value)
	}
	near, slip := schemas.Misspelt(prefix, names)
	if !slip {
		return
	}
	before := e.h.phase
	e.h.phase = installing
	e.h.refuse(chart.place, fmt.Sprintf("repo %s not found; did you mean %q?", prefix, near))
	e.h.phase = before
}

// crdsOnly recognises the stage that installs custom resource definitions: its
// arguments let helm template them, or its post-renderer keeps nothing else.
func (h *helmfile) crdsOnly(name string, raw *rawRelease) bool {
	all := slices.Concat(h.helmDefaults["args"], h.helmDefaults["templateArgs"], h.helmDefaults["postRendererArgs"], raw.args)
	for _, arg := range all {
		if arg == "--include-crds" || strings.Contains(arg, "CustomResourceDefinition") {
			return true
		}
	}
	return strings.HasSuffix(name, "-crds")
}

// evaluation computes the fields and values of one release.
type evaluation struct {
	*reader
	h      *helmfile
	raw    *rawRelease
	fields map[string]text
	labels map[string]string
}

// run evaluates the fields. They may refer to each other through .Release, so
// helmfile repeats it until nothing changes, up to six times.
func (e *evaluation) run() {
	e.fields, e.labels = e.raw.fields, map[string]string{}
	for k, t := range e.ownLabels() {
		e.labels[k] = t.value
	}
	for range 6 {
		fields, labels := map[string]text{}, map[string]string{}
		for _, k := range releaseFields {
			if t, set := e.raw.fields[k]; set && slices.Contains(templatedFields, k) {
				fields[k] = e.trimmed(t)
			} else if set {
				fields[k] = e.known(t)
			}
		}
		all := e.ownLabels()
		for _, k := range slices.Sorted(maps.Keys(all)) {
			labels[k] = e.text(all[k]).value
		}
		same := maps.EqualFunc(e.fields, fields, func(a, b text) bool { return a.value == b.value }) &&
			maps.Equal(e.labels, labels)
		e.fields, e.labels = fields, labels
		if same {
			return
		}
	}
	const reason = "recursive references can't be resolved"
	e.h.refuseIf(!e.open(), e.raw.place, reason)
	for k, t := range e.fields {
		if strings.Contains(e.raw.fields[k].value, "{{") {
			t.unknown = &mark{reason: "the fields of the release refer to each other without end"}
			e.fields[k] = t
		}
	}
}

// open says whether templates of the release may see values that are not known.
func (e *evaluation) open() bool {
	for _, t := range e.fields {
		if t.unknown != nil || strings.Contains(t.value, markOpen) {
			return true
		}
	}
	for _, label := range e.labels {
		if strings.Contains(label, markOpen) {
			return true
		}
	}
	return e.h.env.open()
}

func (e *evaluation) ownLabels() map[string]text {
	all := maps.Clone(e.raw.labels)
	maps.Copy(all, e.h.commonLabels)
	return all
}

// allLabels are the labels with those that helmfile adds once the fields are
// known.
func (e *evaluation) allLabels(namespace string) map[string]string {
	all := maps.Clone(e.labels)
	chart := e.fields["chart"].value
	all["name"], all["namespace"], all["chart"] = e.fields["name"].value, namespace, chart[strings.LastIndex(chart, "/")+1:]
	return all
}

// data is what the templates in the helmfile see.
func (e *evaluation) data() releaseData {
	d := releaseData{
		Environment: e.h.env.data(), Values: copied(e.h.values),
		Release: releaseInfo{Name: e.fields["name"].value, Namespace: e.fields["namespace"].value,
			Chart: e.fields["chart"].value, ChartVersion: e.fields["version"].value, Labels: maps.Clone(e.labels)},
		Namespace: e.h.namespace.value,
	}
	d.StateValues = &d.Values
	return d
}

// fileData is what the templates of values files see.
func (e *evaluation) fileData(r *release) releaseData {
	d := e.data()
	d.Release.Namespace, d.Release.Labels = r.namespace.value, maps.Clone(r.labels)
	return d
}

// text evaluates one template expression, relative to the helmfile's folder.
func (e *evaluation) text(t text) text {
	if !strings.Contains(t.value, "{{") {
		return e.known(t)
	}
	out, err := e.render(e.h.dir, t.value, e.data())
	if err != nil {
		return text{place: t.place, unknown: e.failed(t.place, err)}
	}
	t.value = out
	return e.known(t)
}

// known notes what a text depends on that is unknown.
func (e *evaluation) known(t text) text {
	if m, bad := e.marked(t.value); bad {
		t.unknown = &m
		e.refuseMissing(t.place, m)
	}
	return t
}

// refuseMissing notes that helmfile stops at a file that isn't there.
func (e *evaluation) refuseMissing(at place, m mark) {
	if m.missing == "" {
		return
	}
	e.h.refuseAbsent(at, fmt.Sprintf("open %s: no such file or directory", e.h.relative(m.missing)))
}

func (e *evaluation) trimmed(t text) text {
	t = e.text(t)
	t.value = strings.TrimSpace(t.value)
	return t
}

// TemplateFails begins the reason of a verdict that is unresolved since a template of the release's
// fails; what helmfile says follows.
const TemplateFails = "the template fails: "

// failed says why a template failed: a file that isn't there, or values that
// cannot be read, are the cause of what fails after it.
func (e *evaluation) failed(at place, err error) *mark {
	for _, p := range slices.Sorted(maps.Keys(e.reads)) {
		if !e.reads[p] {
			m := mark{reason: fmt.Sprintf("the file %s %s", p, absence(p)), missing: p}
			e.refuseMissing(at, m)
			return &m
		}
	}
	var unknown *unknownError
	if errors.As(err, &unknown) {
		return &unknown.mark
	}
	if len(e.h.env.unknown) > 0 && strings.Contains(err.Error(), "map has no entry for key") {
		m := e.h.env.unknown[0]
		return &m
	}
	reason := templateReason(err)
	stops := !isUndecided(err) && e.certain && !e.open()
	if !isUndecided(err) {
		e.h.refuseIf(stops, e.innermost(at, err), reason)
	}
	return &mark{reason: TemplateFails + reason, stops: stops}
}

// innermost is the line of the template that a failing one reads and evaluates, such as
// tpl (readFile "release.gotmpl"): the failure is there.
func (e *evaluation) innermost(at place, err error) place {
	m := innerTemplate.FindStringSubmatch(err.Error())
	if m == nil {
		return at
	}
	line, wrong := strconv.Atoi(m[2])
	for _, dir := range []string{e.h.dir, path.Dir(at.file)} {
		if p, bad := e.locate("", dir, m[1]); wrong == nil && bad.reason == "" && e.files.Exists(p) {
			return place{p, line}
		}
	}
	return at
}

// innerTemplate matches the error of a template whose text is that of a file.
// Source: text/template exec.go, and helmfile's pkg/tmpl, which names all texts stringTemplate.
var innerTemplate = regexp.MustCompile(`<.*\btpl \(readFile "([^"]+)"\).*>: error calling tpl: template: stringTemplate:(\d+):`)

// choose says whether helmfile installs the release, and why not.
func (e *evaluation) choose(r *release) {
	condition := e.fields["condition"]
	if t := e.decided("conditionTemplate", ""); t != nil {
		condition = *t
	}
	installed := e.decided("installedTemplate", "installed")
	e.h.phase = selecting
	defer func() { e.h.phase = executing }()
	enabled, err := e.enabled(condition.value)
	if err != nil && condition.unknown == nil {
		e.h.refuseIf(!e.h.env.open(), condition.place, err.Error())
	}
	r.undecided = err != nil || condition.unknown != nil || installed != nil && installed.unknown != nil
	r.installed = installed == nil || isTrue(installed.value) || installed.unknown != nil
	r.enabled = enabled || err != nil || condition.unknown != nil
	switch {
	case !r.installed:
		r.skipped = &text{place: installed.place, value: "installed is false"}
	case !r.enabled:
		r.skipped = &text{place: condition.place, value: fmt.Sprintf("the condition %s is false", condition.value)}
	}
}

// decided is a boolean field that a template may give, nil where it isn't set.
func (e *evaluation) decided(template, field string) *text {
	if t := e.raw.pointers[template]; t != nil {
		out := e.trimmed(*t)
		return &out
	}
	if t := e.raw.pointers[field]; t != nil {
		out := e.known(*t)
		return &out
	}
	return nil
}

// enabled evaluates a condition, "a.b.enabled": a value of the environment.
func (e *evaluation) enabled(condition string) (bool, error) {
	switch strings.ToLower(condition) {
	case "", "true":
		return true, nil
	case "false":
		return false, nil
	}
	keys := strings.Split(condition, ".")
	if keys[len(keys)-1] != "enabled" {
		return false, fmt.Errorf("Condition value must be in the form 'foo.enabled' where 'foo' can be modified as necessary") //nolint:staticcheck // helmfile's words
	}
	at, path := e.h.values, ""
	for _, key := range keys[:len(keys)-1] {
		path += "." + key
		next, ok := at[key]
		if !ok {
			return false, fmt.Errorf("environment values field '%s' not found", path)
		}
		if at, ok = next.(map[string]any); !ok {
			return false, fmt.Errorf("environment values field '%s' is not a map", path)
		}
	}
	enabled, _ := at["enabled"].(bool)
	return enabled, nil
}

// layered is values in layers, some of which may be unknown.
type layered struct {
	// value is all layers that are known, merged. sure is those above the last
	// unknown one: what it holds, no unknown layer changes.
	value, sure *value
	// files is value without what set gives Helm on its command line.
	files   *value
	unknown []mark
	// missing are the values files that don't exist.
	missing []text
	// created are the elements of lists that the paths of set create.
	created count.Lists
}

func (l *layered) add(v *value) {
	l.value, l.sure = merged(l.value, v), merged(l.sure, v)
}

func (l *layered) addUnknown(m mark) {
	l.unknown = append(l.unknown, m)
	l.sure = emptyMap(place{})
}

// values computes the release's values as helmfile hands them to Helm.
func (e *evaluation) values(r *release) layered {
	start := emptyMap(e.raw.place)
	l := layered{value: start, sure: start}
	for _, each := range e.raw.templated {
		e.addTemplated(r, &l, each)
	}
	for _, each := range e.raw.values {
		e.addEntry(r, &l, each)
	}
	for _, s := range e.raw.secrets {
		name := s.node.Value
		if s.node.Kind != yaml.ScalarNode {
			name = "in the helmfile"
		}
		l.addUnknown(mark{reason: "values come from the encrypted file " + name})
	}
	l.files = l.value
	e.addSettings(&l)
	return l
}

// addTemplated adds an entry of valuesTemplate: a map is written as YAML and
// rendered.
func (e *evaluation) addTemplated(r *release, l *layered, each entry) {
	if each.node.Kind != yaml.MappingNode {
		e.addEntry(r, l, each)
		return
	}
	v, err := valueOf(each.file, each.node, asHelmfile)
	if err != nil {
		l.addUnknown(mark{reason: shortened(err.Error())})
		return
	}
	source, err := toYAML(v.plain())
	if err != nil {
		l.addUnknown(mark{reason: shortened(err.Error())})
		return
	}
	rendered, err := e.render(e.h.dir, source, e.data())
	if err != nil {
		l.addUnknown(*e.failed(each.place, err))
		return
	}
	e.addText(l, each.place, rendered, asHelmfile, func(int) int { return each.line })
}

// addEntry adds an entry of values: a literal map, or the path of a file.
func (e *evaluation) addEntry(r *release, l *layered, each entry) {
	switch {
	case each.node.Kind == yaml.MappingNode:
		if err := textKeys(each.node, true, 0); err != nil {
			e.h.refuse(each.place, err.Error())
		}
		v, err := valueOf(each.file, each.node, asHelmfile)
		if err != nil {
			l.addUnknown(mark{reason: shortened(err.Error())})
			return
		}
		e.addValue(l, v)
	case each.node.Kind == yaml.ScalarNode && each.node.ShortTag() == "!!str":
		e.addFile(r, l, e.text(text{place: each.place, value: each.node.Value}))
	default:
		e.h.phase = writing
		e.h.refuse(each.place, "unexpected type of value")
		e.h.phase = executing
		l.addUnknown(mark{reason: fmt.Sprintf("%s:%d: an entry of values must be a map or the path of a file", each.file, each.line)})
	}
}

// addFile adds the file that an entry of values names.
func (e *evaluation) addFile(r *release, l *layered, t text) {
	gone := func(m mark) {
		if m.missing != "" {
			e.reads[m.missing] = false
			// What a template reads is unknown; the entry itself is not, or depends on the environment.
			absent := text{place: t.place, value: m.missing}
			if t.unknown != nil && t.unknown.missing != "" {
				absent.unknown = t.unknown
			}
			l.missing = append(l.missing, absent)
		}
		l.addUnknown(m)
	}
	if t.unknown != nil && (t.value == "" || t.unknown.missing != "") {
		gone(*t.unknown)
		return
	}
	e.h.phase = writing
	defer func() { e.h.phase = executing }()
	handler := e.missingFileHandler()
	p, bad := e.locate("values come from", e.h.dir, e.fields["valuesPathPrefix"].value+t.value)
	if bad.reason != "" {
		gone(bad)
		return
	}
	found := e.matching(p)
	switch {
	case len(found) == 0 && handler != "Error":
		return
	case len(found) > 1:
		e.h.refuse(t.place, "glob patterns in release values and secrets is not supported yet. please submit a feature request if necessary")
		l.addUnknown(mark{reason: "helmfile refuses a pattern that several values files match: " + t.value})
		return
	case len(found) == 1:
		p = found[0]
	}
	data, bad := e.read(p)
	if bad.reason != "" {
		if bad.missing != "" {
			e.h.refuseAbsent(t.place, fmt.Sprintf("values file matching %q does not exist", t.value))
		}
		gone(bad)
		return
	}
	e.addExisting(r, l, t, p, string(data))
}

// missingFileHandler says what helmfile does about a values file that isn't
// there: it stops by default.
func (e *evaluation) missingFileHandler() string {
	own := ""
	if t := e.raw.pointers["missingFileHandler"]; t != nil {
		own = t.value
	}
	return cmp.Or(own, e.h.missingFiles.value, "Error")
}

// addExisting adds a values file, rendered when it is a *.gotmpl: a template
// reads files relative to its own folder.
func (e *evaluation) addExisting(r *release, l *layered, t text, p, content string) {
	line := func(n int) int { return n }
	at := place{p, 1}
	if strings.HasSuffix(p, ".gotmpl") {
		rendered, err := e.render(path.Dir(p), content, e.fileData(r))
		if err != nil {
			m := e.failed(place{p, lineOfTemplateError(err)}, err)
			if m.missing != "" {
				l.missing = append(l.missing, text{place: t.place, value: m.missing, unknown: m})
			}
			l.addUnknown(*m)
			return
		}
		if m, bad := e.marked(rendered); bad && m.missing != "" {
			e.refuseMissing(place{p, 1}, m)
			l.missing = append(l.missing, text{place: t.place, value: m.missing, unknown: &m})
		}
		lines := alignLines(content, rendered)
		line = func(n int) int { return lines[min(max(n, 1), len(lines))-1] }
		content = rendered
	}
	e.addText(l, at, content, asHelm, line)
}

// addText adds values that stand in a text.
func (e *evaluation) addText(l *layered, at place, content string, how reading, line func(int) int) {
	nodes, err := parseText(at.file, content)
	switch {
	case err != nil:
		if _, theirs := decodeYAML(content); theirs != nil {
			before := e.h.phase
			e.h.phase = writing
			e.h.refuseIf(!strings.Contains(content, markOpen), place{at.file, line(1)}, shortened(theirs.Error()))
			e.h.phase = before
		}
		l.addUnknown(mark{reason: "the values are no YAML: " + shortened(err.Error())})
		return
	case len(nodes) == 0:
		return
	}
	shiftLines(nodes[:1], line)
	v, err := valueOf(at.file, nodes[0], how)
	if err != nil {
		l.addUnknown(mark{reason: shortened(err.Error())})
		return
	}
	if text, ok := v.scalar.(string); ok {
		if m, bad := e.marked(text); bad {
			l.addUnknown(m)
			return
		}
	}
	if !v.isMap {
		if v.isList || v.scalar != nil {
			l.addUnknown(mark{reason: at.file + ": the values are no map"})
		}
		return
	}
	if repository.Lookup(nodes[0], "sops", "mac") != nil {
		l.addUnknown(mark{reason: "values come from the encrypted file " + at.file})
		return
	}
	e.addValue(l, v)
}

// markedKey finds what could not be computed in the keys of a value.
func (e *evaluation) markedKey(v *value) (mark, bool) {
	for _, key := range v.keys() {
		if m, bad := e.marked(key); bad {
			return m, true
		}
		if m, bad := e.markedKey(v.fields[key]); bad {
			return m, true
		}
	}
	for _, item := range v.items {
		if m, bad := e.markedKey(item); bad {
			return m, true
		}
	}
	return mark{}, false
}

// addValue adds a layer; references that helmfile resolves through vals are
// unknown.
func (e *evaluation) addValue(l *layered, v *value) {
	if m, bad := e.markedKey(v); bad {
		l.addUnknown(m) // whichever key it is
		return
	}
	v = v.mapScalars(func(s *value) *value {
		if t, ok := s.scalar.(string); ok && strings.HasPrefix(t, "ref+") {
			out := *s
			out.scalar = e.mark(mark{reason: "values come from a secret store (ref+…)"})
			return &out
		}
		return s
	})
	l.add(v)
}
