package mutation_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/testflux"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/validators"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// mutant is an example with one thing broken.
type mutant struct {
	name    string
	example string
	// target of the example that is broken and validated; "" is the platform's.
	target string
	// tenants says that the tenants' repositories are at hand, as --source gives
	// them. Edits of their files name the target first:
	// tenant-shop:base/kustomization.yaml.
	tenants bool
	// rule that finds what is broken.
	rule string
	// since says that the mutant is a change since the unbroken example.
	since bool
	// edits are made in their order.
	edits []edit
}

// edit changes one file, or all files that a pattern of path.Match names.
type edit struct {
	file string
	// change makes the new content of the old one, nil where there is or shall be
	// no file.
	change func(old []byte) ([]byte, error)
}

// replace replaces a text that stands exactly once in a file.
func replace(file, old, fresh string) edit {
	return edit{file, func(content []byte) ([]byte, error) {
		if content == nil {
			return nil, fmt.Errorf("there is no such file")
		}
		if n := bytes.Count(content, []byte(old)); n != 1 {
			return nil, fmt.Errorf("the text to replace is there %d times, not once:\n%s\nin\n%s", n, old, content)
		}
		return bytes.Replace(content, []byte(old), []byte(fresh), 1), nil
	}}
}

// write writes a file in the place of one that is there.
func write(file, fresh string) edit {
	return edit{file, func(content []byte) ([]byte, error) {
		if content == nil {
			return nil, fmt.Errorf("there is no such file")
		}
		return []byte(fresh), nil
	}}
}

// add adds a file.
func add(file, fresh string) edit {
	return edit{file, func(content []byte) ([]byte, error) {
		if content != nil {
			return nil, fmt.Errorf("the file is there already")
		}
		return []byte(fresh), nil
	}}
}

// remove takes a file away.
func remove(file string) edit {
	return edit{file, func(content []byte) ([]byte, error) {
		if content == nil {
			return nil, fmt.Errorf("there is no such file")
		}
		return nil, nil
	}}
}

// mark marks a place of a file that the mutant breaks elsewhere: the marks of the text
// stand in what must be there exactly once without them.
func mark(file, marked string) edit {
	return replace(file, marks.ReplaceAllString(marked, ""), marked)
}

// crlf ends the lines of a file as Windows does.
func crlf(file string) edit {
	return edit{file, func(content []byte) ([]byte, error) {
		if !bytes.Contains(content, []byte("\n")) || bytes.Contains(content, []byte("\r")) {
			return nil, fmt.Errorf("the file has no lines, or ends them in CRLF already")
		}
		return bytes.ReplaceAll(content, []byte("\n"), []byte("\r\n")), nil
	}}
}

// files are a target's, by their paths.
type files map[string][]byte

// apply makes an edit. It changes no content, only which one stands at a path.
func (f files) apply(e edit) error {
	paths := []string{e.file}
	if strings.ContainsAny(e.file, "*?[") {
		paths = nil
		for _, p := range slices.Sorted(maps.Keys(f)) {
			if ok, err := path.Match(e.file, p); err != nil {
				return fmt.Errorf("%s: %w", e.file, err)
			} else if ok {
				paths = append(paths, p)
			}
		}
	}
	if len(paths) == 0 {
		return fmt.Errorf("%s: no file matches", e.file)
	}
	for _, p := range paths {
		fresh, err := e.change(f[p])
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		if delete(f, p); fresh != nil {
			f[p] = fresh
		}
	}
	return nil
}

// place is what a finding, or a mark, says: which rule finds something where.
type place struct {
	rule, file   string
	line, column int
}

func (p place) String() string { return fmt.Sprintf("%s:%d:%d [%s]", p.file, p.line, p.column, p.rule) }

func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column), cmp.Compare(a.rule, b.rule))
}

// marks are the places of findings in a mutant's text.
var marks = regexp.MustCompile(`«([a-z-]*)»`)

// unmark takes the marks out of the files and returns where they were.
func (f files) unmark(own string) []place {
	var places []place
	for p, content := range f {
		for {
			at := marks.FindSubmatchIndex(content)
			if at == nil {
				break
			}
			start := bytes.LastIndexByte(content[:at[0]], '\n') + 1
			places = append(places, place{
				rule: cmp.Or(string(content[at[2]:at[3]]), own), file: p,
				line: bytes.Count(content[:start], []byte("\n")) + 1, column: utf8.RuneCount(content[start:at[0]]) + 1,
			})
			content = slices.Concat(content[:at[0]], content[at[1]:])
			f[p] = content
		}
	}
	slices.SortFunc(places, comparePlaces)
	return places
}

// example is what an example renders to.
type example struct {
	targets map[string]files
	// unbroken are the reports of the targets as they were rendered, with the
	// rules of all profiles; that of the platform with the tenants' repositories
	// at hand has no name.
	unbroken map[string]func() (finding.Report, error)
	err      error
}

// names of the examples.
var names = []string{"acme", "homelab", "classic", "k0rdent", "kommander"}

// sources are the targets with the tenants' repositories, by the NAMESPACE/NAME of the
// source that the platform has for each.
var sources = map[string]map[string]string{
	"acme":    {"team-a-flux/team-a": "tenant-team-a", "team-b-flux/team-b": "tenant-team-b"},
	"homelab": {"friend-flux/friend": "tenant-friend"},
	"classic": {"shop-flux/shop": "tenant-shop"},
}

// examples renders each example once, when it is first asked for.
var examples = func() map[string]func() *example {
	all := map[string]func() *example{}
	for _, name := range names {
		all[name] = sync.OnceValue(func() *example { return newExample(name) })
	}
	return all
}()

// newExample renders an example. What Flux itself is made of, those that install it
// by bootstrap need from outside.
func newExample(name string) *example {
	manifests, err := testflux.Folder()
	if err != nil {
		return &example{err: err}
	}
	loaded, err := render.Load(path.Join("..", "..", "examples", name), manifests)
	if err != nil {
		return &example{err: err}
	}
	rendered, err := render.Generate(loaded, render.GenerateOptions{})
	if err != nil {
		return &example{err: err}
	}
	e := &example{targets: map[string]files{}, unbroken: map[string]func() (finding.Report, error){}}
	for _, t := range rendered.Targets {
		content := files{}
		for f := range t.Tree.All() {
			content[f.Path] = f.Content
		}
		e.targets[t.Name] = content
		e.unbroken[t.Name] = sync.OnceValues(func() (finding.Report, error) {
			return validate(content, nil, nil, validators.Profiles()...)
		})
	}
	e.unbroken[""] = sync.OnceValues(func() (finding.Report, error) {
		mapped := map[string]files{}
		for source, target := range sources[name] {
			mapped[source] = e.targets[target]
		}
		return validate(e.targets[generators.PlatformTarget], nil, mapped, validators.Profiles()...)
	})
	return e
}

// load returns an example, or fails the test where it cannot be rendered.
func load(t *testing.T, name string) *example {
	t.Helper()
	render, known := examples[name]
	if !known {
		t.Fatalf("there is no example %q", name)
	}
	e := render()
	if e.err != nil {
		t.Fatal(e.err)
	}
	return e
}

// validate runs the rules that are always on, and those of profiles. before, if any,
// are the files that the change is since.
func validate(content, before files, sources map[string]files, profiles ...string) (finding.Report, error) {
	repo, err := repository.FromFiles(maps.All(content), repository.Options{})
	if err != nil {
		return finding.Report{}, err
	}
	rules, err := validators.Select(nil, profiles...)
	if err != nil {
		return finding.Report{}, err
	}
	o := validators.Options{Rules: rules, Reconcile: reconcile.Options{Sources: map[string]*repository.Repository{}}}
	if before != nil {
		if o.Before, err = repository.FromFiles(maps.All(before), repository.Options{}); err != nil {
			return finding.Report{}, err
		}
	}
	for name, content := range sources {
		if o.Reconcile.Sources[name], err = repository.FromFiles(maps.All(content), repository.Options{}); err != nil {
			return finding.Report{}, err
		}
	}
	return validators.Run(context.Background(), repo, o)
}

// run breaks the example, and holds what the rules find against the marks.
func (m mutant) run(t *testing.T) {
	t.Helper()
	e := load(t, m.example)
	m.target = cmp.Or(m.target, generators.PlatformTarget)
	broken, err := m.breakIt(e)
	if err != nil {
		t.Fatal(err)
	}
	var want []place
	for _, content := range broken {
		want = append(want, content.unmark(m.rule)...)
	}
	if !slices.ContainsFunc(want, func(p place) bool { return p.rule == m.rule }) {
		t.Fatalf("no mark says where %s finds something", m.rule)
	}
	mapped := map[string]files{}
	if m.tenants {
		for name, target := range sources[m.example] {
			mapped[name] = broken[target]
		}
	}
	got, text, err := m.report(e, broken[m.target], mapped)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(want, comparePlaces)
	slices.SortFunc(got, comparePlaces)
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s\n%s", lines(got), lines(want), text)
	}
}

// breakIt makes the mutant's edits on copies of the targets.
func (m mutant) breakIt(e *example) (map[string]files, error) {
	broken := map[string]files{}
	for name, content := range e.targets {
		broken[name] = maps.Clone(content)
	}
	for _, change := range m.edits {
		target := m.target
		if other, file, found := strings.Cut(change.file, ":"); found {
			target, change.file = other, file
		}
		if broken[target] == nil {
			return nil, fmt.Errorf("there is no target %q", target)
		}
		if err := broken[target].apply(change); err != nil {
			return nil, err
		}
	}
	return broken, nil
}

// report is what the rules say of the broken files: places, and the messages for people.
// Of the rules that belong to a profile the mutant's own counts, and of it what it
// doesn't say of the unbroken example; a rule that never has findings has what is
// unresolved in their place.
func (m mutant) report(e *example, broken files, sources map[string]files) (places []place, text string, err error) {
	r, _ := validators.Find(m.rule)
	var profiles []string
	if r.Profile != "" {
		profiles = append(profiles, r.Profile)
	}
	var since files
	if m.since {
		since = e.targets[m.target]
	}
	report, err := validate(broken, since, sources, profiles...)
	if err != nil {
		return nil, "", err
	}
	before, err := e.unbroken[m.target]()
	if err != nil {
		return nil, "", err
	}
	known := map[string]bool{}
	for _, f := range before.Findings {
		known[f.Fingerprint] = true
	}
	var b strings.Builder
	for _, f := range report.Findings {
		if other, _ := validators.Find(f.Rule); other.Profile != "" && (f.Rule != m.rule || known[f.Fingerprint]) {
			continue
		}
		places = append(places, place{f.Rule, f.File, f.Line, f.Column})
		fmt.Fprintf(&b, "%s:%d:%d: %s: %s [%s]\n", f.File, f.Line, f.Column, f.Severity, f.Message, f.Rule)
	}
	for _, u := range report.Unresolved {
		if u.Rule == m.rule && !slices.Contains(before.Unresolved, u) {
			fmt.Fprintf(&b, "%s:%d: unresolved: %s [%s]\n", u.File, u.Line, u.Reason, u.Rule)
			if examples, err := validators.Examples(r); err == nil && len(examples.Unresolved) > 0 {
				places = append(places, place{u.Rule, u.File, u.Line, 1})
			}
		}
	}
	return places, b.String(), nil
}

func lines(places []place) string {
	var b strings.Builder
	for _, p := range places {
		fmt.Fprintf(&b, "\t%s\n", p)
	}
	return b.String()
}

// registered says whether there is a rule of an id.
func registered(id string) bool {
	return slices.ContainsFunc(validators.All(), func(r rule.Rule) bool { return r.ID == id })
}
