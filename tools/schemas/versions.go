package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/yaml"
)

// version is one version of a kind. Package schemas reads the same structure from versions.json.
type version struct {
	Version string `json:"version"`
	// Served and Storage report whether the newest release serves the version and stores objects in it.
	Served  bool `json:"served,omitempty"`
	Storage bool `json:"storage,omitempty"`
	// DeprecatedIn and RemovedIn are releases of Flux (2.7) or Kubernetes (1.22).
	DeprecatedIn string `json:"deprecatedIn,omitempty"`
	RemovedIn    string `json:"removedIn,omitempty"`
	// Replacement is the apiVersion and kind to migrate to.
	Replacement *replacement `json:"replacement,omitempty"`
}

type replacement struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// history holds versions by group and kind (GROUP/KIND), then by version.
type history map[string]map[string]*version

func (h history) at(group, kind, name string) *version {
	key := group + "/" + kind
	if h[key] == nil {
		h[key] = map[string]*version{}
	}
	if h[key][name] == nil {
		h[key][name] = &version{Version: name}
	}
	return h[key][name]
}

// versionsFile returns the content of versions.json.
func versionsFile() ([]byte, error) {
	h := history{}
	if err := h.addFlux(); err != nil {
		return nil, err
	}
	if err := h.addKubernetes(); err != nil {
		return nil, err
	}
	if err := h.addDescribed(); err != nil {
		return nil, err
	}
	out := map[string][]*version{}
	for key, versions := range h {
		for _, name := range slices.Sorted(maps.Keys(versions)) {
			out[key] = append(out[key], versions[name])
		}
	}
	text, err := json.MarshalIndent(out, "", " ")
	return append(text, '\n'), err
}

// fluxReleases returns the folders of Flux's releases, the newest first.
func fluxReleases() ([]string, error) {
	dir, err := download(operator, operatorVersion)
	if err != nil {
		return nil, err
	}
	folders, err := filepath.Glob(filepath.Join(dir, "config", "data", "flux", "v*"))
	if err != nil || len(folders) == 0 {
		return nil, fmt.Errorf("%s has no releases of Flux: %w", operator, err)
	}
	slices.SortFunc(folders, func(a, b string) int {
		return semver.MustParse(filepath.Base(b)).Compare(semver.MustParse(filepath.Base(a)))
	})
	return folders, nil
}

// addFlux reads the releases of Flux, from the oldest to the newest.
func (h history) addFlux() error {
	releases, err := fluxReleases()
	if err != nil {
		return err
	}
	newest := filepath.Base(releases[0])
	slices.Reverse(releases)
	for _, folder := range releases {
		release := semver.MustParse(filepath.Base(folder))
		name := fmt.Sprintf("%d.%d", release.Major(), release.Minor())
		kinds, err := definitionsIn(folder)
		if err != nil {
			return err
		}
		for _, c := range kinds {
			h.addRelease(c, name, filepath.Base(folder) == newest)
		}
	}
	return nil
}

// addRelease adds the versions of a kind in one release of Flux.
func (h history) addRelease(c crd, release string, newest bool) {
	storage := ""
	present := map[string]bool{}
	for _, v := range c.Spec.Versions {
		if v.Storage {
			storage = v.Name
		}
		if !v.Served {
			continue
		}
		present[v.Name] = true
		known := h.at(c.Spec.Group, c.Spec.Names.Kind, v.Name)
		known.Served, known.Storage = newest, newest && v.Storage
		if v.Deprecated && known.DeprecatedIn == "" {
			known.DeprecatedIn = release
		}
	}
	for name, known := range h[c.Spec.Group+"/"+c.Spec.Names.Kind] {
		if !present[name] && known.RemovedIn == "" {
			known.RemovedIn = release
		}
		known.Replacement = nil
		if name != storage {
			known.Replacement = &replacement{APIVersion: c.Spec.Group + "/" + storage, Kind: c.Spec.Names.Kind}
		}
	}
}

// definitionsIn reads the CustomResourceDefinitions in a folder.
func definitionsIn(folder string) ([]crd, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var found []crd
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		for _, doc := range documentSeparator.Split(string(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))), -1) {
			if !strings.Contains(doc, "kind: CustomResourceDefinition") {
				continue
			}
			var c crd
			if err := yaml.Unmarshal([]byte(doc), &c); err != nil {
				return nil, fmt.Errorf("%s: %w", f, err)
			}
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b crd) int {
		return cmp.Or(cmp.Compare(a.Spec.Group, b.Spec.Group), cmp.Compare(a.Spec.Names.Kind, b.Spec.Names.Kind))
	})
	return found, nil
}

// addKubernetes reads when versions of the built-in kinds were deprecated and removed, from the functions that
// the API server uses for its warnings.
func (h history) addKubernetes() error {
	for _, l := range lifecycles {
		dir, err := download(l.module, l.release)
		if err != nil {
			return err
		}
		files, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(l.folders), "zz_generated.prerelease-lifecycle.go"))
		if err != nil || len(files) == 0 {
			return fmt.Errorf("%s@%s has no lifecycles: %w", l.module, l.release, err)
		}
		for _, f := range files {
			if err := h.addLifecycles(f); err != nil {
				return fmt.Errorf("%s: %w", f, err)
			}
		}
	}
	return nil
}

func (h history) addLifecycles(file string) error {
	group, err := groupName(filepath.Join(filepath.Dir(file), "register.go"))
	if err != nil {
		return err
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		return err
	}
	apiVersion := filepath.Base(filepath.Dir(file))
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv == nil {
			continue
		}
		pointer, ok := f.Recv.List[0].Type.(*ast.StarExpr)
		if !ok {
			continue
		}
		kind := pointer.X.(*ast.Ident).Name
		if strings.HasSuffix(kind, "List") || strings.HasSuffix(kind, "Options") {
			continue
		}
		if err := h.addLifecycle(group, apiVersion, kind, f); err != nil {
			return fmt.Errorf("%s: %w", f.Name.Name, err)
		}
	}
	return nil
}

// addLifecycle reads one of these functions, whose body is a return statement.
func (h history) addLifecycle(group, apiVersion, kind string, f *ast.FuncDecl) error {
	result, ok := f.Body.List[0].(*ast.ReturnStmt)
	if !ok {
		return fmt.Errorf("the body is not a return statement")
	}
	var values []string
	ast.Inspect(result, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok {
			values = append(values, strings.Trim(literal.Value, `"`))
		}
		return true
	})
	switch f.Name.Name {
	case "APILifecycleDeprecated":
		h.at(group, kind, apiVersion).DeprecatedIn = strings.Join(values, ".")
	case "APILifecycleRemoved":
		known := h.at(group, kind, apiVersion)
		known.RemovedIn = strings.Join(values, ".")
		known.Served = !removedBy(known.RemovedIn)
	case "APILifecycleReplacement":
		to := values[1]
		if values[0] != "" {
			to = values[0] + "/" + to
		}
		h.at(group, kind, apiVersion).Replacement = &replacement{APIVersion: to, Kind: values[2]}
	}
	return nil
}

// removedBy reports whether the embedded schemas are of a Kubernetes version that lacks what a release removed.
func removedBy(release string) bool {
	return !semver.MustParse(release).GreaterThan(semver.MustParse(kubernetesVersion))
}

// groupName reads the constant GroupName.
func groupName(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	_, after, ok := strings.Cut(string(data), "const GroupName = ")
	if !ok {
		return "", fmt.Errorf("%s has no GroupName", file)
	}
	line, _, _ := strings.Cut(after, "\n")
	return strconv.Unquote(strings.TrimSpace(line))
}
