package charts

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/kustomize"
	release "helm.sh/helm/v4/pkg/release/v1"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	kustypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/kio"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// fileAnnotation stores the template of an object during post-rendering, as in Helm.
const fileAnnotation = "postrenderer.helm.sh/postrender-filename"

// document is an object in the output of a template.
type document struct {
	template string
	node     *kyaml.RNode
}

// parseTexts reads the objects of rendered templates, in the order of their names.
func parseTexts(texts map[string]string) ([]document, error) {
	var docs []document
	nodes := 0
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if strings.HasSuffix(name, "NOTES.txt") || strings.TrimSpace(texts[name]) == "" {
			continue
		}
		if nodes += nodesOf([]byte(texts[name])); nodes > limits.ChartText {
			return nil, limitf("the rendered templates are larger than those of any known chart")
		}
		for _, text := range documents(texts[name]) {
			parsed, err := (&kio.ByteReader{Reader: strings.NewReader(text), OmitReaderAnnotations: true}).Read()
			if err != nil {
				return nil, &TemplateError{Template: name, Message: "the rendered output is not YAML: " + err.Error()}
			}
			for _, node := range parsed {
				docs = append(docs, document{name, node})
			}
		}
	}
	return docs, nil
}

// isHook reports whether an object is a hook, which runs at some point of an installation and is not part of the release.
func (d document) isHook() bool {
	return d.node.GetAnnotations()[release.HookAnnotation] != ""
}

// postRender applies to the objects what helm-controller applies before Helm installs them. If it leaves hooks unchanged
// or handles them separately, they are the second result. Source: helm-controller internal/postrender, helm.sh/helm/v4
// pkg/action, renderResources.
func postRender(docs []document, r *helmv2.HelmRelease) (objects, hooks []*kyaml.RNode, err error) {
	if r.Spec.PostRenderStrategy == helmv2.PostRenderStrategyNoHooks || r.Spec.PostRenderStrategy == helmv2.PostRenderStrategySeparate {
		apart := slices.DeleteFunc(slices.Clone(docs), func(d document) bool { return !d.isHook() })
		docs = slices.DeleteFunc(docs, document.isHook)
		if r.Spec.PostRenderStrategy == helmv2.PostRenderStrategySeparate {
			hooks, err = postRenderAll(apart, r)
		} else {
			hooks, err = nodesOfDocuments(apart)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	objects, err = postRenderAll(docs, r)
	return objects, hooks, err
}

// nodesOfDocuments returns the objects as nodes, with their templates in an annotation.
func nodesOfDocuments(docs []document) ([]*kyaml.RNode, error) {
	nodes := make([]*kyaml.RNode, 0, len(docs))
	for _, d := range docs {
		if err := d.node.PipeE(kyaml.SetAnnotation(fileAnnotation, d.template)); err != nil {
			return nil, &TemplateError{Template: d.template, Message: err.Error()}
		}
		nodes = append(nodes, d.node)
	}
	return nodes, nil
}

func postRenderAll(docs []document, r *helmv2.HelmRelease) (nodes []*kyaml.RNode, err error) {
	// kustomize panics on some data.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("post-rendering: kustomize failed: %v", p)
		}
	}()
	if nodes, err = nodesOfDocuments(docs); err != nil {
		return nil, err
	}
	var m resmap.ResMap
	for _, renderer := range r.Spec.PostRenderers {
		if renderer.Kustomize == nil {
			continue
		}
		text, err := kio.StringAll(nodes)
		if err != nil {
			return nil, err
		}
		if m, err = kustomized(text, renderer.Kustomize); err != nil {
			return nil, fmt.Errorf("post-rendering: %w", err)
		}
		nodes = nodesOfResources(m)
	}
	factory := resmap.NewFactory(provider.NewDefaultDepProvider().GetResourceFactory())
	if m, err = factory.NewResMapFromRNodeSlice(nodes); err != nil {
		return nil, fmt.Errorf("post-rendering, which adds labels: %w", err)
	}
	return nodesOfResources(m), nil
}

func nodesOfResources(m resmap.ResMap) []*kyaml.RNode {
	nodes := make([]*kyaml.RNode, 0, m.Size())
	for _, resource := range m.Resources() {
		nodes = append(nodes, &resource.RNode)
	}
	return nodes
}

// kustomized applies the patches and images of a post-renderer to objects.
func kustomized(text string, k *helmv2.Kustomize) (resmap.ResMap, error) {
	config := kustypes.Kustomization{
		TypeMeta:  kustypes.TypeMeta{APIVersion: kustypes.KustomizationVersion, Kind: kustypes.KustomizationKind},
		Resources: []string{"helm-output.yaml"},
	}
	for _, image := range k.Images {
		config.Images = append(config.Images, kustypes.Image{Name: image.Name, NewName: image.NewName, NewTag: image.NewTag, Digest: image.Digest})
	}
	for _, patch := range k.Patches {
		config.Patches = append(config.Patches, kustypes.Patch{Patch: patch.Patch, Target: selector(patch.Target)})
	}
	files := filesys.MakeFsInMemory()
	data, err := json.Marshal(config)
	if err == nil {
		err = errors.Join(files.WriteFile("kustomization.yaml", data), files.WriteFile("helm-output.yaml", []byte(text)))
	}
	if err != nil {
		return nil, err
	}
	return krusty.MakeKustomizer(&krusty.Options{
		LoadRestrictions: kustypes.LoadRestrictionsNone, // only these files are in memory
		PluginConfig:     kustypes.DisabledPluginConfig(),
	}).Run(files, ".")
}

func selector(s *kustomize.Selector) *kustypes.Selector {
	if s == nil {
		return nil
	}
	out := &kustypes.Selector{LabelSelector: s.LabelSelector, AnnotationSelector: s.AnnotationSelector}
	out.Group, out.Version, out.Kind = s.Group, s.Version, s.Kind
	out.Name, out.Namespace = s.Name, s.Namespace
	return out
}

// installOrder sorts objects in Helm's order of installation: by kind, else in the order of the input.
func installOrder(objects []Manifest) {
	rank := map[string]int{}
	for i, kind := range releaseutil.InstallOrder {
		rank[kind] = i + 1
	}
	of := func(m Manifest) int {
		kind, _ := m.Value["kind"].(string)
		if n := rank[kind]; n > 0 {
			return n
		}
		return len(rank) + 1
	}
	sorting.StableFunc(objects, func(a, b Manifest) int {
		if d := of(a) - of(b); d != 0 || of(a) <= len(rank) {
			return d
		}
		return strings.Compare(fmt.Sprint(a.Value["kind"]), fmt.Sprint(b.Value["kind"]))
	})
}
