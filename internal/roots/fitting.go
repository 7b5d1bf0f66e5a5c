package roots

import (
	"path"
	"regexp"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/repository"
)

const (
	// mostFitting is the maximum number of folders that match paths with variables, and mostVariables the maximum number of
	// variables in one path.
	mostFitting   = 100
	mostVariables = 4
	// longestPath is the maximum length of a path in bytes, as on Linux.
	longestPath = 4096
	// mostEnvs is the maximum number of files with variables that are read, and mostEnv the maximum size of each in bytes.
	mostEnvs = 100
	mostEnv  = 100_000
)

// variable matches a variable of postBuild.
var variable = regexp.MustCompile(`\$\{([A-Za-z0-9_]+)[^}]*\}`)

// fittingAll returns the roots. It replaces a root whose path contains variables with one root for each folder that matches.
func fittingAll(repo *repository.Repository, instances []Root) []Root {
	var all []Root
	var dirs []string
	var values definitions
	left := mostFitting
	for _, r := range instances {
		if !strings.Contains(r.Path, "${") || left == 0 {
			all = append(all, r)
			continue
		}
		if dirs == nil {
			dirs, values = folders(repo), defined(repo)
		}
		fits := fitting(values, dirs, r)
		fits = fits[:min(len(fits), left)]
		left -= len(fits)
		all = append(all, fits...)
	}
	return all
}

// fitting returns a copy of a root for each folder that matches its path: folders for which a ConfigMap or a
// Kustomization in a file defines the variable's value, else all that match. A root that matches no folder, or has many
// variables, is returned unchanged.
func fitting(values definitions, dirs []string, r Root) []Root {
	names := variable.FindAllStringSubmatch(r.Path, mostVariables+1)
	if len(names) > mostVariables || len(r.Path) > longestPath {
		return []Root{r}
	}
	var known []map[string]bool
	for _, name := range names {
		known = append(known, values[name[1]])
	}
	fits, alone := patternOf(r.Path)
	var named, all []string
	for _, dir := range dirs {
		match := fits.FindStringSubmatch(dir)
		if match == nil {
			continue
		}
		all = append(all, dir)
		is := true
		for i, values := range known {
			is = is && values[match[i+1]]
		}
		if is {
			named = append(named, dir)
		}
	}
	if len(named) > 0 || alone {
		all = named
	}
	var roots []Root
	for _, dir := range all {
		one := r
		one.Fits, one.Path, one.Spec.Path = r.Path, dir, "./"+dir
		roots = append(roots, one)
	}
	if len(roots) == 0 {
		return []Root{r}
	}
	return roots
}

// patternOf returns the pattern of the folders that fit a path with variables, and whether the path is a single variable,
// whose value may have several elements.
func patternOf(at string) (pattern *regexp.Regexp, alone bool) {
	alone = variable.FindString(at) == at
	one := "([^/]+)"
	if alone {
		one = "(.+)"
	}
	var literals []string
	for _, literal := range variable.Split(at, -1) {
		literals = append(literals, regexp.QuoteMeta(literal))
	}
	return regexp.MustCompile("^" + strings.Join(literals, one) + "$"), alone
}

// syncs are Kustomizations whose paths contain variables, by the folder that is the part of the path before the first one.
type syncs map[string][]sync

type sync struct {
	Root
	names   []string // of the variables
	pattern *regexp.Regexp
}

// mostSyncs is the maximum number of syncs of one folder; folders with more are not considered.
const mostSyncs = 100

// plainVariable matches a variable whose value is inserted unchanged, except for a default.
var plainVariable = regexp.MustCompile(`^\$\{([A-Za-z0-9_]+)(?::?[-=][^}]*)?\}$`)

// syncsOf returns the Kustomizations for whose paths a folder determines the values of the variables: no element of the
// path has two.
func syncsOf(all []Root) syncs {
	by := syncs{}
	for _, r := range all {
		at := r.Path
		if !strings.Contains(at, "${") || len(at) > longestPath || r.Spec.Suspend || r.Spec.PostBuild == nil || r.isTemplate() || isPutAway(r.File) || repository.IsExample(r.File) {
			continue
		}
		before, _, _ := strings.Cut(at, "${")
		dir := path.Dir(before + "x")
		if names := namesIn(at); names != nil && len(by[dir]) <= mostSyncs {
			pattern, _ := patternOf(at)
			by[dir] = append(by[dir], sync{r, names, pattern})
		}
	}
	return by
}

// namesIn returns the names of the variables in a path, nil if a folder does not determine their values.
func namesIn(at string) []string {
	found := variable.FindAllString(at, mostVariables+1)
	if len(found) > mostVariables || found[0] == at {
		return nil
	}
	var names []string
	for _, v := range found {
		match := plainVariable.FindStringSubmatch(v)
		if match == nil || slices.Contains(names, match[1]) {
			return nil
		}
		names = append(names, match[1])
	}
	for element := range strings.SplitSeq(variable.ReplaceAllString(at, "$$"), "/") {
		if strings.Count(element, "$") > 1 {
			return nil
		}
	}
	return names
}

// variables returns a guessed root with the variables of the Kustomization that syncs it: the only one whose path with
// variables fits the folder, which determines their values.
func (s syncs) variables(repo *repository.Repository, guessed Root) Root {
	var by *kustomizev1.PostBuild
	for _, dir := range above(guessed.Path) {
		if len(s[dir]) > mostSyncs {
			return guessed
		}
		for _, r := range s[dir] {
			match := r.pattern.FindStringSubmatch(guessed.Path)
			if match == nil || r.Source != guessed.Source {
				continue
			}
			isBase := slices.ContainsFunc(match[1:], func(value string) bool { return slices.Contains(baseNames, value) })
			if by != nil || isBase || repository.Within(guessed.Path, r.File) {
				return guessed
			}
			if by = r.postBuild(repo, match[1:]); by == nil {
				return guessed
			}
		}
	}
	guessed.Spec.PostBuild = by
	return guessed
}

// postBuild returns the variables inside a folder that has some values of the variables in the path, nil if it is unknown
// which are defined: the variables in the path belong to the Kustomization or root that applies the Kustomization.
func (s sync) postBuild(repo *repository.Repository, values []string) *kustomizev1.PostBuild {
	by, isElsewhere, isUnknown := s.Spec.PostBuild.DeepCopy(), false, false
	isDefined := map[string]bool{}
	for _, from := range by.SubstituteFrom {
		objects := repo.Find("", from.Kind, s.Namespace, from.Name)
		isElsewhere = isElsewhere || len(objects) == 0
		for _, name := range s.names {
			isDefined[name] = isDefined[name] || slices.ContainsFunc(objects, func(o *repository.Object) bool {
				return o.Lookup("data", name) != nil || o.Lookup("stringData", name) != nil
			})
		}
	}
	for name, value := range by.Substitute {
		i := slices.Index(s.names, name)
		switch {
		case i >= 0 && value == "${"+name+"}":
			by.Substitute[name] = values[i]
		case strings.Contains(value, "${"):
			delete(by.Substitute, name)
			isUnknown = true
		}
		isDefined[name] = true
	}
	if isUnknown && !isElsewhere {
		return nil
	}
	if by.Substitute == nil {
		by.Substitute = map[string]string{}
	}
	for i, name := range s.names {
		if !isDefined[name] && isElsewhere { // by the object that defines the variables of the path
			by.Substitute[name] = values[i]
		}
	}
	return by
}

// baseNames are names of folders that no cluster syncs by itself.
var baseNames = []string{"base", "_base", "bases", "common", "shared"}

// folders returns the folders of the repository that Flux sees, sorted.
func folders(repo *repository.Repository) []string {
	seen := map[string]bool{}
	var all []string
	for _, file := range repo.Paths() {
		if !repo.Visible(file) {
			continue
		}
		for dir := path.Dir(file); dir != "." && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			all = append(all, dir)
		}
	}
	slices.Sort(all)
	return all
}

// definitions maps the names of variables to their possible values.
type definitions map[string]map[string]bool

func (d definitions) add(name, value string) {
	if name == "" || value == "" || strings.Contains(value, "${") {
		return
	}
	if d[name] == nil {
		d[name] = map[string]bool{}
	}
	d[name][value], d[name][repository.Clean(value)] = true, true
}

// defined returns the variables that Kustomizations, ConfigMaps and generators of ConfigMaps define in files.
func defined(repo *repository.Repository) definitions {
	all := definitions{}
	add := func(objects []*repository.Object, at ...any) {
		for _, o := range objects {
			n := o.Lookup(at...)
			if n == nil || n.Kind != yaml.MappingNode {
				continue
			}
			for i := 0; i+1 < len(n.Content); i += 2 {
				if value := n.Content[i+1]; value.Kind == yaml.ScalarNode {
					all.add(n.Content[i].Value, value.Value)
				}
			}
		}
	}
	add(repo.ByKind(fluxapi.KustomizeGroup, "Kustomization"), "spec", "postBuild", "substitute")
	add(repo.ByKind("", "ConfigMap"), "data")
	read := map[string]bool{}
	for _, k := range repo.Kustomizes() {
		if k.Spec == nil {
			continue
		}
		for _, g := range k.Spec.ConfigMapGenerator {
			all.addLines(g.LiteralSources)
			for _, env := range slices.Concat(g.EnvSources, []string{g.EnvSource}) {
				if file, inside := repository.Join(k.Dir, env); env != "" && inside && !read[file] && len(read) < mostEnvs {
					if size, seen := repo.Size(file); !seen || size > mostEnv {
						continue
					}
					read[file] = true
					data, _ := repo.ReadFile(file) // the build reports files that cannot be read
					all.addLines(strings.Split(string(data), "\n"))
				}
			}
		}
	}
	return all
}

// addLines adds variables from lines such as NAME=value.
func (d definitions) addLines(lines []string) {
	for _, line := range lines {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		d.add(name, strings.Trim(value, `"'`))
	}
}
