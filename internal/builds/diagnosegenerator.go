package builds

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// Parts of kustomize's messages about generators and plugins.
const (
	nothingToMerge = "does not exist; cannot merge or replace"
	withoutHelm    = "must specify --enable-helm"
	externalPlugin = "unable to load external plugin "
)

// generates finds a generator that merges into nothing, and charts and plugins that Flux does not run.
func (v *diagnosis) generates(k *repository.Kustomize) *Failure {
	switch {
	case strings.Contains(v.message, nothingToMerge):
		return v.mergesNothing(k)
	case strings.Contains(v.message, withoutHelm) && len(k.Spec.HelmCharts) > 0:
		return failureAt(k, "helmCharts: Flux does not inflate Helm charts: write a HelmRelease for the chart", "helmCharts", 0)
	case strings.Contains(v.message, externalPlugin):
		return v.externalPlugin(k)
	}
	return nil
}

// mergesNothing finds the generator that merges into or replaces an object that does not exist when generators run.
func (v *diagnosis) mergesNothing(k *repository.Kustomize) *Failure {
	for _, list := range generatorsOf(k.Spec) {
		for i, g := range list.generators {
			named := strings.Contains(v.message, fmt.Sprintf("Kind:%q", list.kind)) && strings.Contains(v.message, fmt.Sprintf("Name:%q, Namespace:%q", g.Name, g.Namespace))
			if !named || types.NewGenerationBehavior(g.Behavior) == types.BehaviorUnspecified || v.out.has(entryAt(k, list.field, i)) {
				continue
			}
			message := fmt.Sprintf("%s: there is no %s %s to %s", list.field, list.kind, g.Name, g.Behavior)
			if component := v.generatedBy(k, list.field, g.Name); component != "" {
				message += fmt.Sprintf(": component %q generates it, but generators run before components", component)
			}
			f := failureAt(k, message, list.field, i, "name")
			f.open = true
			return f
		}
	}
	return nil
}

// generatedBy returns the component of a kustomization that generates an object, "" if none does.
func (v *diagnosis) generatedBy(k *repository.Kustomize, field, name string) string {
	for _, ref := range k.Spec.Components {
		at, inside := repository.Join(k.Dir, ref)
		other, ok := v.Repo.KustomizeAt(at)
		if !inside || !ok || other.Spec == nil {
			continue
		}
		for _, list := range generatorsOf(other.Spec) {
			for _, g := range list.generators {
				if list.field == field && g.Name == name {
					return ref
				}
			}
		}
	}
	return ""
}

// generatorList is one of the two lists of generators of a kustomization.
type generatorList struct {
	field, kind string
	generators  []types.GeneratorArgs
}

func generatorsOf(k *types.Kustomization) []generatorList {
	maps, secrets := generatorList{field: "configMapGenerator", kind: "ConfigMap"}, generatorList{field: "secretGenerator", kind: "Secret"}
	for _, g := range k.ConfigMapGenerator {
		maps.generators = append(maps.generators, g.GeneratorArgs)
	}
	for _, g := range k.SecretGenerator {
		secrets.generators = append(secrets.generators, g.GeneratorArgs)
	}
	return []generatorList{maps, secrets}
}

// externalPlugin finds the entry of a kustomization that configures a plugin that is not part of kustomize.
func (v *diagnosis) externalPlugin(k *repository.Kustomize) *Failure {
	_, rest, _ := strings.Cut(v.message, externalPlugin)
	kind, _, _ := strings.Cut(strings.TrimLeft(rest, "'\""), rest[:min(1, len(rest))])
	for _, list := range []struct {
		field string
		refs  []string
	}{{"generators", k.Spec.Generators}, {"transformers", k.Spec.Transformers}, {"validators", k.Spec.Validators}} {
		for i, ref := range list.refs {
			text := ref
			if at, inside := repository.Join(k.Dir, ref); inside && v.Repo.Exists(at) {
				data, _ := v.Repo.ReadFile(at)
				text = string(data)
			}
			if kind != "" && strings.Contains(text, "kind: "+kind) {
				return failureAt(k, fmt.Sprintf("%s: kustomize has no plugin %s of its own, and Flux runs no others", list.field, kind), list.field, i)
			}
		}
	}
	return nil
}
