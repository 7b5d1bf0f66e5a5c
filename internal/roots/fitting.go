package roots

import (
	"maps"
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

// patternOf returns what matches the folders that fit a path with variables, and whether the path is one variable, for which a
// value may have several elements.
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
	names   [][]string // of the variables, as variable matches them
	pattern *regexp.Regexp
}

// mostSyncs is the maximum number of syncs of one folder that are considered.
const mostSyncs = 100

// syncsOf returns those of some Kustomizations whose paths have few variables, and more than one variable.
func syncsOf(all []Root) syncs {
	by := syncs{}
	for _, r := range all {
		names := variable.FindAllStringSubmatch(r.Path, mostVariables+1)
		if len(names) == 0 || len(names) > mostVariables || len(r.Path) > longestPath || names[0][0] == r.Path {
			continue
		}
		before, _, _ := strings.Cut(r.Path, "${")
		dir := path.Dir(before + "x")
		if len(by[dir]) > mostSyncs {
			continue
		}
		pattern, _ := patternOf(r.Path)
		by[dir] = append(by[dir], sync{r, names, pattern})
	}
	return by
}

// values returns the values of the variables if the path fits a folder, nil if it does not.
func (s sync) values(dir string) map[string]string {
	match := s.pattern.FindStringSubmatch(dir)
	if match == nil {
		return nil
	}
	all := map[string]string{}
	for i, name := range s.names {
		if value, known := all[name[1]]; known && value != match[i+1] {
			return nil
		}
		all[name[1]] = match[i+1]
	}
	return all
}

// variables returns a guessed root with the variables of the Kustomization that syncs it: the only one whose path, with
// variables, fits the folder, which gives the values of those.
func (s syncs) variables(guessed Root) Root {
	var by *kustomizev1.PostBuild
	for _, dir := range above(guessed.Path) {
		if len(s[dir]) > mostSyncs {
			return guessed
		}
		for _, r := range s[dir] {
			values := r.values(guessed.Path)
			if values == nil || r.Source != guessed.Source {
				continue
			}
			if by != nil || r.Spec.PostBuild == nil {
				return guessed
			}
			by = r.Spec.PostBuild.DeepCopy()
			// What replaces a variable in a value is not known.
			maps.DeleteFunc(by.Substitute, func(_, value string) bool { return strings.Contains(value, "${") })
			if len(by.Substitute) < len(r.Spec.PostBuild.Substitute) && len(by.SubstituteFrom) == 0 {
				return guessed
			}
			if by.Substitute == nil {
				by.Substitute = map[string]string{}
			}
			maps.Copy(by.Substitute, values)
		}
	}
	guessed.Spec.PostBuild = by
	return guessed
}

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
