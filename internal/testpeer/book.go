package testpeer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// modules are the tools that `make peers` builds: the folder below tools, and the module that determines the version.
var modules = map[string]struct{ folder, path string }{
	"age":           {"sops", "filippo.io/age"},
	"flux-operator": {"fluxoperator", "github.com/controlplaneio-fluxcd/flux-operator"},
	"helm":          {"helm", "helm.sh/helm/v3"},
	"helm4":         {"helm4", "helm.sh/helm/v4"},
	"helmfile":      {"helmfile", "github.com/helmfile/helmfile"},
	"kustomize":     {"kustomize", "sigs.k8s.io/kustomize/kustomize/v5"},
	"sops":          {"sops", "github.com/getsops/sops/v3"},
	"yq":            {"yq", "github.com/mikefarah/yq/v4"},
}

// lines is a string that a diff shows line by line.
type lines []string

func linesOf(text string) lines {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func (l lines) text() string { return strings.Join(l, "\n") }

// entry is the record of a command.
type entry struct {
	Command string           `json:"command"`
	Key     string           `json:"key"`
	Exit    int              `json:"exit,omitempty"`
	Stdout  lines            `json:"stdout,omitempty"`
	Stderr  lines            `json:"stderr,omitempty"`
	Files   map[string]lines `json:"files,omitempty"`
	Calls   []call           `json:"calls,omitempty"`
}

func (e entry) String() string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	_ = encoder.Encode(e)
	return text.String()
}

// book contains the records of a test function, and the versions of the tools that they were recorded with.
type book struct {
	sync.Mutex
	file    string
	before  []entry           // the records before this run rewrites them
	Tools   map[string]string `json:"tools"`
	Records []entry           `json:"records"`
}

// folder is the package's folder, even if a test changes the working directory.
var folder, _ = os.Getwd()

var books = struct {
	sync.Mutex
	all map[string]*book
}{all: map[string]*book{}}

// bookOf returns the records of the test function, which it reads once.
func bookOf(t testing.TB) *book {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	books.Lock()
	defer books.Unlock()
	if b := books.all[name]; b != nil {
		return b
	}
	b := &book{file: filepath.Join(folder, "testdata", "peers", name+".json")}
	data, err := os.ReadFile(b.file)
	if err == nil {
		err = json.Unmarshal(data, b)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s: %v", b.file, err)
	}
	if mode == record {
		b.before = b.Records
		if !strings.Contains(flag.Lookup("test.run").Value.String(), "/") { // all are recorded again
			b.Tools, b.Records = nil, nil
		}
	}
	books.all[name] = b
	return b
}

// find returns the record with a key.
func (b *book) find(key string) (entry, bool) {
	b.Lock()
	defer b.Unlock()
	for _, e := range slices.Concat(b.Records, b.before) {
		if e.Key == key {
			return e, true
		}
	}
	return entry{}, false
}

// put adds a record, or replaces the one with the same key, and writes the book.
func (b *book) put(t testing.TB, e entry, tools []string) {
	t.Helper()
	b.Lock()
	defer b.Unlock()
	b.Records = slices.DeleteFunc(b.Records, func(old entry) bool { return old.Key == e.Key })
	b.Records = append(b.Records, e)
	slices.SortFunc(b.Records, func(a, b entry) int {
		return cmp.Or(strings.Compare(a.Command, b.Command), strings.Compare(a.Key, b.Key))
	})
	if b.Tools == nil {
		b.Tools = map[string]string{}
	}
	maps.Copy(b.Tools, versions(t, tools))
	t.Cleanup(func() { b.save(t) })
}

func (b *book) save(t testing.TB) {
	t.Helper()
	b.Lock()
	defer b.Unlock()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err := encoder.Encode(b)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(b.file), 0o755)
	}
	if err == nil {
		err = os.WriteFile(b.file, text.Bytes(), 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}

// checkVersions fails if the records are of another version than `make peers` builds.
func (b *book) checkVersions(t testing.TB, tools []string) {
	t.Helper()
	for tool, version := range versions(t, tools) {
		if b.Tools[tool] != version {
			t.Errorf("%s is of %s %q, and make peers builds %s: run make records", b.file, tool, b.Tools[tool], version)
		}
	}
}

// versions returns the versions in the go.mod files below tools; programs that `make peers` does not build have none.
func versions(t testing.TB, tools []string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, tool := range tools {
		m, built := modules[tool]
		if !built {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root(t), "tools", m.folder, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		version := regexp.MustCompile(`(?m)^(?:require)?\s+` + regexp.QuoteMeta(m.path) + ` (\S+)`).FindSubmatch(data)
		if version == nil {
			t.Fatalf("tools/%s/go.mod requires no %s", m.folder, m.path)
		}
		all[tool] = string(version[1])
	}
	return all
}

// root returns the folder of the project.
func root(t testing.TB) string {
	t.Helper()
	for dir := folder; ; dir = filepath.Dir(dir) {
		if data, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && bytes.HasPrefix(data, []byte("module github.com/fleetwright/fleetwright\n")) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatalf("%s is not in the project", folder)
		}
	}
}
