package sops

import (
	"context"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// valuesFields are the fields of a helmfile, a kustomization, a HelmRelease and an Application that name values
// files.
var valuesFields = map[string]bool{"values": true, "valuesFile": true, "valuesFiles": true, "additionalValuesFiles": true, "valueFiles": true}

// namedValues are the files that other files name as values files of a chart.
var namedValues = rule.Analysis[map[string]bool]{
	Name: "sops-named-values",
	Run: func(_ context.Context, repo *repository.Repository) map[string]bool {
		named := map[string]bool{}
		for _, f := range repo.Files() {
			for _, d := range f.Documents {
				if !d.Encrypted && repo.Use(f.Path) != repository.Chart && (len(d.Objects) == 0 || repository.IsKustomization(f.Path) || slices.ContainsFunc(d.Objects, namesValues)) {
					nameValues(repo, path.Dir(f.Path), "", d.Root(), named, 0)
				}
			}
		}
		return named
	},
}

// namesValues reports whether an object may name values files.
func namesValues(o *repository.Object) bool {
	return o.Kind == "HelmRelease" || o.Kind == "Application" || o.Kind == "ApplicationSet" || o.Kind == "HelmChartInflationGenerator"
}

// nameValues adds the values files that a document in a folder names.
func nameValues(repo *repository.Repository, dir, field string, n *yaml.Node, named map[string]bool, depth int) {
	switch {
	case n == nil || depth > limits.Nesting:
	case n.Kind == yaml.ScalarNode && valuesFields[field]:
		if file, ok := repository.Join(dir, n.Value); ok && repo.Exists(file) {
			named[file] = true
		}
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			nameValues(repo, dir, field, item, named, depth+1)
		}
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			nameValues(repo, dir, n.Content[i].Value, n.Content[i+1], named, depth+1)
		}
	}
}

// isValues reports whether the name of a file is that of a values file.
func isValues(file string) bool { return strings.Contains(strings.ToLower(path.Base(file)), "values") }
