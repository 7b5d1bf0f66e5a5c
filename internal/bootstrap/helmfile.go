package bootstrap

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"dario.cat/mergo"
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// helmfile is a helmfile with its parts and bases merged, its releases not yet
// evaluated. The fields are those of helmfile's own state (pkg/state, v1.8.0).
type helmfile struct {
	file, dir      string
	releases       []*rawRelease
	templates      map[string]*rawRelease
	repositories   map[string]chartRepository
	defaultInherit []text
	commonLabels   map[string]text
	args           []string // helmDefaults: args, templateArgs, postRendererArgs
	namespace      text     // overrides that of all releases
	missingFiles   string   // missingFileHandler
	values         map[string]any
	environment    map[string]any
	broken         *brokenPart // the first part that can't be read
	bases          int
}

type chartRepository struct {
	url string
	place
}

// text is a scalar of a helmfile and where it stands.
type text struct {
	place
	value string
	// unknown says why the value could not be computed.
	unknown *mark
}

// rawRelease is a release, or a release template, as written.
type rawRelease struct {
	place
	fields      map[string]text // name, namespace, chart, version, …
	labels      map[string]text
	inherit     []inherit
	values      []entry
	templated   []entry // valuesTemplate
	secrets     []entry
	set         []setting
	needs       []text
	args        []string // postRenderer and its arguments
	unsupported []mark
}

type inherit struct {
	template text
	except   []string
}

// entry is an item of values: a map, or the path of a file.
type entry struct {
	place
	node *yaml.Node
}

// setting is an item of set, setString or setTemplate.
type setting struct {
	place
	name, value string
	isString    bool
	templated   bool
	unknown     *mark
}

// known are the top-level fields of a helmfile.
var known = []string{"helmBinary", "kustomizeBinary", "values", "environments", "bases", "helmDefaults",
	"helmfiles", "kubeContext", "namespace", "chart", "repositories", "commonLabels", "releases", "llm",
	"apiVersions", "kubeVersion", "hooks", "templates", "defaultInherit", "missingFileHandler",
	"missingFileHandlerConfig", "lockFilePath", "context", "charts"}

// isHelmfile says whether a document is one: releases with a name and a chart,
// and no object of Kubernetes.
func isHelmfile(n *yaml.Node) bool {
	releases := repository.Lookup(n, "releases")
	if releases == nil || releases.Kind != yaml.SequenceNode || repository.Lookup(n, "kind") != nil {
		return false
	}
	unknown, others := 0, 0
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch key := n.Content[i].Value; {
		case key == "releases" || key == "<<" || strings.HasPrefix(key, "x-") || strings.HasPrefix(key, "."):
		case slices.Contains(known, key):
			others++
		default:
			unknown++
		}
	}
	if unknown > 0 && others == 0 {
		return false
	}
	for _, r := range releases.Content {
		if repository.Lookup(r, "name") != nil &&
			(repository.Lookup(r, "chart") != nil || repository.Lookup(r, "directory") != nil ||
				repository.Lookup(r, "inherit") != nil || repository.Lookup(n, "defaultInherit") != nil) {
			return true
		}
	}
	return false
}

var (
	releasesLine = regexp.MustCompile(`(?m)^releases:`)
	chartLine    = regexp.MustCompile(`(?m)^[ \t-]+(chart|inherit):`)
	nameLine     = regexp.MustCompile(`(?m)^[ \t-]+name:`)
)

// looksLikeHelmfile judges a text that is a template, or no YAML.
func looksLikeHelmfile(data []byte) bool {
	return releasesLine.Match(data) && chartLine.Match(data) && nameLine.Match(data)
}

// findHelmfiles returns the paths of all helmfiles of a repository, sorted.
func findHelmfiles(repo *repository.Repository) []string {
	var found []string
	for _, f := range repo.Files() {
		if repo.Use(f.Path) == repository.Chart {
			continue
		}
		is := slices.ContainsFunc(f.Documents, func(d *repository.Document) bool { return isHelmfile(d.Node) })
		if !is && f.Err != nil && f.Err.Reason == repository.NotYAML {
			data, err := repo.ReadFile(f.Path)
			is = err == nil && looksLikeHelmfile(data)
		}
		if is {
			found = append(found, f.Path)
		}
	}
	for _, p := range repo.Paths() {
		if !strings.HasSuffix(p, ".gotmpl") || repo.Use(p) == repository.Chart {
			continue
		}
		if data, err := repo.ReadFile(p); err == nil && looksLikeHelmfile(data) {
			found = append(found, p)
		}
	}
	slices.Sort(found)
	return found
}

// environmentData is .Environment in a template.
type environmentData struct {
	Name        string
	KubeContext string
	Values      map[string]any
	Defaults    map[string]any
}

// stateData is what the template of a helmfile sees.
type stateData struct {
	Environment environmentData
	Namespace   string
	Values      map[string]any
	StateValues *map[string]any
}

func (h *helmfile) stateData() stateData {
	values := h.mergedValues()
	return stateData{Environment: h.environmentData(), Values: values, StateValues: &values}
}

func (h *helmfile) environmentData() environmentData {
	return environmentData{Name: "default", Values: h.environment, Defaults: h.values}
}

// mergedValues are the environment's values over the state's defaults, fresh
// maps each time, since a template may change them.
func (h *helmfile) mergedValues() map[string]any {
	out := copied(h.values)
	overlay(out, copied(h.environment))
	return out
}

func copied(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		if inner, ok := v.(map[string]any); ok {
			v = copied(inner)
		}
		out[k] = v
	}
	return out
}

func overlay(base, over map[string]any) {
	for k, v := range over {
		inner, isMap := v.(map[string]any)
		if before, both := base[k].(map[string]any); isMap && both {
			overlay(before, inner)
			continue
		}
		base[k] = v
	}
}

// reader reads the helmfiles of a repository.
type reader struct {
	*engine
	repo *repository.Repository
}

// helmfile reads a helmfile with its bases. What cannot be read of it is left out;
// the reasons are in problems of the releases that it concerns.
func (r *reader) helmfile(file string) (*helmfile, error) {
	h := &helmfile{file: file, dir: path.Dir(file), templates: map[string]*rawRelease{},
		repositories: map[string]chartRepository{}, commonLabels: map[string]text{},
		values: map[string]any{}, environment: map[string]any{}}
	return h, r.readInto(h, file)
}

const maxBases = 20

// readInto adds a file's parts. Like helmfile, a part is what stands between
// lines of three dashes, and sees the values of the parts before it.
func (r *reader) readInto(h *helmfile, file string) error {
	data, err := r.repo.ReadFile(file)
	if err != nil {
		return err
	}
	offset := 0
	whole := strings.ReplaceAll(string(data), "\r\n", "\n")
	for part := range strings.SplitSeq(whole, "\n---\n") {
		for _, n := range r.documents(h, file, part, offset) {
			if err := r.add(h, file, n); err != nil {
				return err
			}
		}
		offset += strings.Count(part, "\n") + 2
	}
	return nil
}

// brokenPart is where a helmfile is neither YAML nor a template of it.
type brokenPart struct {
	line   int
	reason string
}

// breaks notes the first part that can't be read, which begins at the line offset.
func (h *helmfile) breaks(err error, offset int) {
	if broken := (*syntaxError)(nil); errors.As(err, &broken) && h.broken == nil {
		h.broken = &brokenPart{line: offset + max(broken.line, 1), reason: "the file " + broken.message}
	}
}

// documents reads a part, which is a template in a *.gotmpl file, and in a file
// that is no YAML without being rendered (helmfile before v1 rendered all).
func (r *reader) documents(h *helmfile, file, part string, offset int) []*yaml.Node {
	// Like helmfile, a base reads files relative to the helmfile's folder.
	if !strings.HasSuffix(file, ".gotmpl") {
		nodes, err := parseText(file, part)
		if err == nil || !strings.Contains(part, "{{") {
			h.breaks(err, offset)
			shiftLines(nodes, func(line int) int { return line + offset })
			return nodes
		}
	}
	rendered, err := r.render(h.dir, part, h.stateData())
	if err != nil {
		rendered = r.salvage(h.dir, part, h.stateData(), err)
	}
	nodes, err := parseText(file, rendered)
	if err != nil {
		h.breaks(err, offset)
		nodes, _ = parseText(file, r.salvage(h.dir, part, h.stateData(), err))
		rendered = part
	}
	lines := alignLines(part, rendered)
	shiftLines(nodes, func(line int) int {
		if line < 1 || line > len(lines) {
			return offset + 1
		}
		return lines[line-1] + offset
	})
	return nodes
}

// syntaxError is a text that is no YAML, or beyond the repository's limits.
type syntaxError struct {
	file    string
	line    int
	message string
}

func (e *syntaxError) Error() string { return e.file + ": " + e.message }

// parseText reads YAML within the repository's limits.
func parseText(file, data string) ([]*yaml.Node, error) {
	const name = "text.yaml"
	one, err := repository.FromFiles(func(yield func(string, []byte) bool) { yield(name, []byte(data)) }, repository.Options{})
	if err != nil {
		return nil, err
	}
	f, ok := one.File(name)
	if !ok {
		return nil, nil
	}
	var nodes []*yaml.Node
	for _, d := range f.Documents {
		nodes = append(nodes, d.Node)
	}
	if f.Err != nil {
		return nodes, &syntaxError{file, f.Err.Line, f.Err.Message}
	}
	return nodes, nil
}

func shiftLines(nodes []*yaml.Node, f func(int) int) {
	for _, n := range nodes {
		n.Line = f(n.Line)
		shiftLines(n.Content, f)
	}
}

// add merges a document into the state. Fields of a later document win; lists
// append.
func (r *reader) add(h *helmfile, file string, n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	if err := r.addBases(h, file, n); err != nil {
		return err
	}
	for _, repo := range items(n, "repositories") {
		name := scalarText(file, repo, "name")
		url := scalarText(file, repo, "url")
		h.repositories[name.value] = chartRepository{url: url.value, place: url.place}
	}
	if templates := repository.Lookup(n, "templates"); templates != nil && templates.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(templates.Content); i += 2 {
			h.templates[templates.Content[i].Value] = newRawRelease(file, templates.Content[i+1])
		}
	}
	for _, list := range []string{"args", "templateArgs", "postRendererArgs"} {
		for _, arg := range items(n, "helmDefaults", list) {
			h.args = append(h.args, arg.Value)
		}
	}
	if d := repository.Lookup(n, "defaultInherit"); d != nil && d.Kind == yaml.ScalarNode {
		h.defaultInherit = []text{{place{file, d.Line}, d.Value, nil}}
	}
	for _, d := range items(n, "defaultInherit") {
		h.defaultInherit = append(h.defaultInherit, text{place{file, d.Line}, d.Value, nil})
	}
	readTexts(h.commonLabels, file, repository.Lookup(n, "commonLabels"))
	if ns := scalarText(file, n, "namespace"); ns.value != "" {
		h.namespace = ns
	}
	if m := scalarText(file, n, "missingFileHandler"); m.value != "" {
		h.missingFiles = m.value
	}
	r.addValues(h, file, h.values, repository.Lookup(n, "values"))
	r.addValues(h, file, h.environment, repository.Lookup(n, "environments", "default", "values"))
	for _, release := range items(n, "releases") {
		if release.Kind == yaml.MappingNode {
			h.releases = append(h.releases, newRawRelease(file, release))
		}
	}
	return nil
}

// addBases reads the files that the document builds upon.
func (r *reader) addBases(h *helmfile, file string, n *yaml.Node) error {
	for _, base := range items(n, "bases") {
		p, local := repository.Join(h.dir, base.Value)
		if h.bases++; h.bases > maxBases {
			return fmt.Errorf("%s:%d: more than %d bases", file, base.Line, maxBases)
		}
		if !local || p == file {
			continue
		}
		// The releases of a base are judged where it declares them.
		own := h.releases
		if err := r.readInto(h, p); err != nil {
			continue
		}
		h.releases = own
	}
	return nil
}

// addValues merges values of the state: maps and files, *.gotmpl ones rendered.
// One that cannot be read leaves its keys undefined, and a template that uses
// them fails, as in helmfile.
func (r *reader) addValues(h *helmfile, file string, into map[string]any, list *yaml.Node) {
	if list == nil || list.Kind != yaml.SequenceNode {
		return
	}
	for _, item := range list.Content {
		from, err := r.stateValues(h, file, item)
		if err == nil && from != nil {
			// The same merge as helmfile's: an empty value doesn't override.
			_ = mergo.Merge(&into, from, mergo.WithOverride)
		}
	}
}

func (r *reader) stateValues(h *helmfile, file string, item *yaml.Node) (map[string]any, error) {
	for item.Kind == yaml.AliasNode {
		item = item.Alias
	}
	if item.Kind == yaml.MappingNode {
		v, err := valueOf(file, item, asHelmfile)
		if err != nil {
			return nil, err
		}
		m, _ := v.plain().(map[string]any)
		return m, nil
	}
	p, local := repository.Join(h.dir, item.Value)
	if !local {
		return nil, errors.New("not in the repository")
	}
	data, err := r.repo.ReadFile(p)
	if err != nil {
		return nil, err
	}
	rendered := string(data)
	if strings.HasSuffix(p, ".gotmpl") {
		if rendered, err = r.render(path.Dir(p), rendered, h.stateData()); err != nil {
			return nil, err
		}
	}
	v, err := decodeYAML(rendered)
	m, _ := v.(map[string]any)
	return m, err
}

// items of a list in a node, aliases resolved.
func items(n *yaml.Node, at ...any) []*yaml.Node {
	list := repository.Lookup(n, at...)
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	out := make([]*yaml.Node, len(list.Content))
	for i := range list.Content {
		out[i] = repository.Lookup(list, i)
	}
	return out
}

// scalarText is the scalar in a field, "" where there is none or it is null.
func scalarText(file string, n *yaml.Node, field string) text {
	v := repository.Lookup(n, field)
	line, _ := repository.Position(n, field)
	if v == nil || v.Kind != yaml.ScalarNode || v.ShortTag() == "!!null" {
		return text{place: place{file, line}}
	}
	return text{place: place{file, line}, value: v.Value}
}

func readTexts(into map[string]text, file string, n *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		into[n.Content[i].Value] = scalarText(file, n, n.Content[i].Value)
	}
}
