package bootstrap

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// release is a release of a bootstrap, evaluated.
type release struct {
	place     // of its name in the file that declares it
	cluster   string
	name      text
	namespace text
	chart     text
	version   text
	needs     []text
	values    layered
	// crdsOnly says that the bootstrap installs nothing of the chart but its
	// custom resource definitions.
	crdsOnly bool
	// repository is the URL behind the chart's "repository/" prefix.
	repository string
	// reads are the files that its fields and values are read from, and whether
	// they exist.
	reads map[string]bool
	// refused says why helmfile itself stops at the release, "" if it doesn't.
	refused string
	// unreadable says why nothing can be told of the file, whose only release this
	// stands for; "" where it can be read.
	unreadable string
	// partial says what single values depend on that cannot be computed.
	partial []mark
}

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

// releases evaluates all releases of a helmfile.
func (r *reader) releases(file string) ([]*release, error) {
	h, err := r.helmfile(file)
	if err != nil {
		return nil, err
	}
	var out []*release
	for _, raw := range h.releases {
		out = append(out, r.release(h, raw))
	}
	if len(out) == 0 && h.broken != nil {
		out = append(out, &release{place: place{file: file, line: h.broken.line}, unreadable: h.broken.reason,
			cluster: bootstrapCluster(r.paths(), file)})
	}
	return out, nil
}

func (r *reader) release(h *helmfile, raw *rawRelease) *release {
	out := &release{place: raw.place, reads: map[string]bool{}}
	r.reads = out.reads
	whole, err := h.inherited(raw)
	if err != nil {
		out.refused = err.Error()
		whole = raw
	}
	e := &evaluation{reader: r, h: h, raw: whole}
	e.run()
	out.name, out.chart, out.version = e.fields["name"], e.fields["chart"], e.fields["version"]
	if out.chart.value == "" && out.chart.unknown == nil {
		out.chart = e.fields["directory"]
	}
	out.namespace = e.fields["namespace"]
	if h.namespace.value != "" {
		out.namespace = h.namespace
	}
	for _, need := range whole.needs {
		out.needs = append(out.needs, e.text(need))
	}
	out.crdsOnly = h.crdsOnly(out.name.value, whole)
	if prefix, _, ok := strings.Cut(out.chart.value, "/"); ok {
		out.repository = h.repositories[prefix].url
	}
	out.values = e.values()
	out.values.value.walk("", func(_ string, v *value) {
		if t, ok := v.scalar.(string); ok {
			if m, bad := r.marked(t); bad && !slices.Contains(out.partial, m) {
				out.partial = append(out.partial, m)
			}
		}
	})
	out.cluster = bootstrapCluster(r.paths(), raw.file)
	return out
}

// crdsOnly recognises the stage that installs custom resource definitions: its
// arguments let helm template them, or its post-renderer keeps nothing else.
func (h *helmfile) crdsOnly(name string, raw *rawRelease) bool {
	for _, arg := range slices.Concat(h.args, raw.args) {
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
	for k, t := range e.allLabels() {
		e.labels[k] = t.value
	}
	for range 6 {
		fields, labels := map[string]text{}, map[string]string{}
		for _, k := range slices.Sorted(maps.Keys(e.raw.fields)) {
			fields[k] = e.text(e.raw.fields[k])
		}
		all := e.allLabels()
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
	for k, t := range e.fields {
		if strings.Contains(e.raw.fields[k].value, "{{") {
			t.unknown = &mark{reason: "the fields of the release refer to each other without end"}
			e.fields[k] = t
		}
	}
}

func (e *evaluation) allLabels() map[string]text {
	all := maps.Clone(e.raw.labels)
	maps.Copy(all, e.h.commonLabels)
	return all
}

func (e *evaluation) data() releaseData {
	values := e.h.mergedValues()
	return releaseData{
		Environment: e.h.environmentData(), Values: values, StateValues: &values,
		Release: releaseInfo{Name: e.fields["name"].value, Namespace: e.fields["namespace"].value,
			Chart: e.fields["chart"].value, ChartVersion: e.fields["version"].value, Labels: maps.Clone(e.labels)},
		Namespace: e.h.namespace.value,
	}
}

// text evaluates one template expression, relative to the helmfile's folder.
func (e *evaluation) text(t text) text {
	out, err := e.render(e.h.dir, t.value, e.data())
	if err != nil {
		return text{place: t.place, unknown: e.failed(err)}
	}
	t.value = strings.TrimSpace(out)
	if m, bad := e.marked(t.value); bad {
		t.unknown = &m
	}
	return t
}

// failed says why a template failed: a file that isn't there is the cause of
// what fails after it.
func (e *evaluation) failed(err error) *mark {
	for _, p := range slices.Sorted(maps.Keys(e.reads)) {
		if !e.reads[p] {
			return &mark{reason: fmt.Sprintf("the file %s doesn't exist", p), missing: p}
		}
	}
	return &mark{reason: "the template fails: " + shortened(err.Error())}
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
}

func (l *layered) add(v *value) {
	l.value, l.sure = merged(l.value, v), merged(l.sure, v)
}

func (l *layered) addUnknown(m mark) {
	l.unknown = append(l.unknown, m)
	l.sure = emptyMap(place{})
}

// values computes the release's values as helmfile hands them to Helm.
func (e *evaluation) values() layered {
	start := emptyMap(e.raw.place)
	l := layered{value: start, sure: start}
	for _, each := range e.raw.templated {
		e.addTemplated(&l, each)
	}
	for _, each := range e.raw.values {
		e.addEntry(&l, each)
	}
	for _, s := range e.raw.secrets {
		name := s.node.Value
		if s.node.Kind != yaml.ScalarNode {
			name = "in the helmfile"
		}
		l.addUnknown(mark{reason: "values come from the encrypted file " + name})
	}
	l.files = l.value
	for _, s := range e.raw.set {
		e.addSetting(&l, s)
	}
	for _, m := range e.raw.unsupported {
		l.addUnknown(m)
	}
	return l
}

// addTemplated adds an entry of valuesTemplate: a map is written as YAML and
// rendered.
func (e *evaluation) addTemplated(l *layered, each entry) {
	if each.node.Kind != yaml.MappingNode {
		e.addEntry(l, each)
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
		l.addUnknown(*e.failed(err))
		return
	}
	e.addText(l, each.place, rendered, asHelmfile, func(int) int { return each.line })
}

// addEntry adds an entry of values: a literal map, or the path of a file.
func (e *evaluation) addEntry(l *layered, each entry) {
	switch {
	case each.node.Kind == yaml.MappingNode:
		v, err := valueOf(each.file, each.node, asHelmfile)
		if err != nil {
			l.addUnknown(mark{reason: shortened(err.Error())})
			return
		}
		e.addValue(l, v)
	case each.node.Kind == yaml.ScalarNode && each.node.ShortTag() != "!!null":
		e.addFile(l, e.text(text{place: each.place, value: each.node.Value}))
	default:
		l.addUnknown(mark{reason: fmt.Sprintf("%s:%d: an entry of values must be a map or the path of a file", each.file, each.line)})
	}
}

func (e *evaluation) addFile(l *layered, t text) {
	if t.unknown != nil {
		if t.unknown.missing != "" {
			l.missing = append(l.missing, t)
		}
		l.addUnknown(*t.unknown)
		return
	}
	name := e.fields["valuesPathPrefix"].value + t.value
	if strings.Contains(name, "://") || strings.Contains(name, "::") || path.IsAbs(name) {
		l.addUnknown(mark{reason: fmt.Sprintf("values come from %q, which is not in the repository", name)})
		return
	}
	p := path.Join(e.h.dir, name)
	if p == ".." || strings.HasPrefix(p, "../") {
		l.addUnknown(mark{reason: fmt.Sprintf("values come from %q, which is outside of the repository", name)})
		return
	}
	if strings.ContainsAny(p, "*?[") {
		if found := e.glob(p); len(found) == 1 {
			p = found[0]
		}
	}
	data, bad := e.read(p)
	switch {
	case bad.missing != "":
		if handler := orText(e.fields["missingFileHandler"].value, e.h.missingFiles); handler != "" && handler != "Error" {
			return
		}
		t.value = p
		l.missing = append(l.missing, t)
		l.addUnknown(bad)
	case bad.reason != "":
		l.addUnknown(bad)
	default:
		e.addExisting(l, t, p, string(data))
	}
}

func orText(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (e *evaluation) glob(pattern string) []string {
	var found []string
	for _, p := range e.paths() {
		if ok, err := path.Match(pattern, p); ok && err == nil {
			found = append(found, p)
		}
	}
	return found
}

// addExisting adds a values file, rendered when it is a *.gotmpl: a template
// reads files relative to its own folder.
func (e *evaluation) addExisting(l *layered, t text, p, content string) {
	line := func(n int) int { return n }
	at := place{p, 1}
	if strings.HasSuffix(p, ".gotmpl") {
		rendered, err := e.render(path.Dir(p), content, e.data())
		if err != nil {
			m := e.failed(err)
			if m.missing != "" {
				l.missing = append(l.missing, text{place: t.place, value: m.missing, unknown: m})
			}
			l.addUnknown(*m)
			return
		}
		if m, bad := e.marked(rendered); bad && m.missing != "" {
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
		l.addUnknown(mark{reason: at.file + ": the values are no map"})
		return
	}
	if repository.Lookup(nodes[0], "sops", "mac") != nil {
		l.addUnknown(mark{reason: "values come from the encrypted file " + at.file})
		return
	}
	e.addValue(l, v)
}

// addValue adds a layer; references that helmfile resolves through vals are
// unknown.
func (e *evaluation) addValue(l *layered, v *value) {
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

// addSetting adds what set gives helm --set.
func (e *evaluation) addSetting(l *layered, s setting) {
	if s.unknown == nil && strings.ContainsAny(s.name, `[]{}\,=`) {
		s.unknown = &mark{reason: fmt.Sprintf("set %q is not evaluated", s.name)}
	}
	if s.unknown != nil {
		l.addUnknown(*s.unknown)
		return
	}
	name, val := s.name, s.value
	if s.templated {
		n, v := e.text(text{place: s.place, value: name}), e.text(text{place: s.place, value: val})
		if n.unknown != nil {
			l.addUnknown(*n.unknown)
			return
		}
		if name, val = n.value, v.value; v.unknown != nil {
			val = e.mark(*v.unknown)
		}
	}
	leaf := &value{place: s.place, scalar: val}
	if !s.isString {
		leaf.scalar = setScalar(val)
	}
	keys := strings.Split(name, ".")
	for i := len(keys) - 1; i >= 0; i-- {
		leaf = &value{place: s.place, isMap: true, fields: map[string]*value{keys[i]: leaf}}
	}
	l.add(leaf)
}

// setScalar types a value as helm --set does (pkg/strvals).
func setScalar(s string) any {
	switch {
	case strings.EqualFold(s, "true"):
		return true
	case strings.EqualFold(s, "false"):
		return false
	case strings.EqualFold(s, "null"):
		return nil
	case s == "0":
		return int64(0)
	}
	if s != "" && s[0] != '0' {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n
		}
	}
	return s
}
