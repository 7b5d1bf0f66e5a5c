package charts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"helm.sh/helm/v4/pkg/chart/common"
	commonutil "helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	release "helm.sh/helm/v4/pkg/release/v1"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/internal/bounds"
)

// Request is the input of a rendering.
type Request struct {
	// Release is the HelmRelease, as ParseRelease reads it.
	Release *helmv2.HelmRelease
	Chart   *Chart
	Values  *Values
	// Capabilities of the cluster.
	Capabilities Capabilities
	// Unit names the HelmRelease in errors of package bounds, which measures the parts of the rendering: each part is a
	// unit of a kind of its own.
	Unit bounds.Unit
	// Decode reads an object from kustomize as helm-controller does.
	Decode func(*kyaml.RNode) (map[string]any, error)
	// Steady lets random functions return the same for the same arguments, so that two renderings differ only if the
	// values or the charts do.
	Steady bool
}

// Result contains the rendered objects of a HelmRelease.
type Result struct {
	// Manifests are the objects of the release in Helm's order of installation, without Hooks; Definitions are the
	// objects of the crds folders, which are not part of the release.
	Manifests, Hooks, Definitions []Manifest
	// Problems are values that the chart's schema refuses; if there are any, nothing is rendered.
	Problems []Problem
	// Undecided is why the values were not checked against the schema, "" if they were, and Limit the limit that
	// prevented it, a *LimitError or a *bounds.Error.
	Undecided string
	Limit     error
}

// Render renders a HelmRelease. It always returns a result. The error is a *LimitError, a *bounds.Error, an *UnknownError
// if it cannot be known what Flux would do, the context's error, or the reason why helm-controller would fail.
func Render(ctx context.Context, r Request) (*Result, error) {
	result := &Result{}
	err := r.render(ctx, result)
	if err == nil || undecided(err) || ctx.Err() != nil {
		return result, err
	}
	var failed *TemplateError
	if errors.As(err, &failed) {
		failed.Message = r.Values.masked(failed.Message)
		return result, failed
	}
	return result, errors.New(r.Values.masked(err.Error()))
}

// undecided reports whether an error says nothing about what Flux would do.
func undecided(err error) bool {
	var unknown *UnknownError
	return limited(err) || errors.As(err, &unknown)
}

// limited reports whether an error is a limit of Fleetwright.
func limited(err error) bool {
	var limit *LimitError
	var exceeded *bounds.Error
	return errors.As(err, &limit) || errors.As(err, &exceeded)
}

func (r Request) render(ctx context.Context, result *Result) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	resolved, err := bounds.Do(r.part("dependency resolution"), func() (resolved, error) { return dependencies(r) })
	if err != nil {
		return err
	}
	if r.Release.Spec.Install == nil || !r.Release.Spec.Install.DisableSchemaValidation {
		result.Problems, err = bounds.Do(r.part("values check"), func() ([]Problem, error) { return checkSchemas(resolved.chart, resolved.values, nil) })
		switch {
		case err != nil && limited(err):
			result.Limit = err
		case err != nil && undecided(err):
			result.Undecided = r.Values.masked(err.Error())
		case err != nil || len(result.Problems) > 0:
			return err
		}
	}
	made, err := bounds.Do(r.part("chart"), func() (Result, error) { return r.objects(resolved) })
	result.Manifests, result.Hooks, result.Definitions = made.Manifests, made.Hooks, made.Definitions
	return err
}

// part returns the unit of work for one step of the rendering, such as "values check".
func (r Request) part(kind string) bounds.Unit {
	unit := r.Unit
	unit.Kind = kind
	return unit
}

// objects runs the templates and returns the objects in their output.
func (r Request) objects(of resolved) (result Result, err error) {
	texts, looks, err := r.templates(of.chart, of.values)
	if err != nil {
		return result, err
	}
	docs, err := parseTexts(texts)
	if err != nil {
		return result, err
	}
	objects, hooks, err := postRender(docs, r.Release)
	if err != nil {
		return result, err
	}
	for _, node := range append(objects, hooks...) {
		m, err := r.manifest(node)
		if err != nil {
			return result, err
		}
		m.LooksUp = looks[m.Template]
		if _, hook := annotations(m.Value)[release.HookAnnotation]; hook {
			result.Hooks = append(result.Hooks, m)
		} else {
			result.Manifests = append(result.Manifests, m)
		}
	}
	installOrder(result.Manifests)
	result.Definitions, err = r.definitions(of.chart)
	return result, err
}

// resolved holds the chart with the dependencies that the values enable, and the values with the charts' defaults.
type resolved struct {
	chart  *chart.Chart
	values map[string]any
}

func dependencies(r Request) (out resolved, err error) {
	c := copied(r.Chart.chart)
	stub(c)
	if err := chartutil.ProcessDependencies(c, r.Values.All); err != nil {
		return out, fmt.Errorf("the chart's dependencies: %w", err)
	}
	if name, found := missed(c); found {
		return out, &UnknownError{fmt.Sprintf("the dependency %q of the chart %s is not in its charts folder", name, r.Chart.Name)}
	}
	if c.IsRoot() && c.Metadata.Type == "library" {
		return out, errors.New("library charts are not installable")
	}
	composed, err := commonutil.CoalesceValues(c, r.Values.All)
	return resolved{c, composed}, err
}

// templates runs the templates, and returns which of them look up objects in the cluster. A failure that depends on the
// cluster is an *UnknownError.
func (r Request) templates(c *chart.Chart, composed map[string]any) (texts map[string]string, looks map[string]bool, err error) {
	texts, x, err := r.execute(c, composed, r.Capabilities)
	var limit *LimitError
	if err == nil && x.lookups > 0 {
		looks = lookers(c)
	}
	if err == nil || errors.As(err, &limit) {
		return texts, looks, err
	}
	if x.lookups > 0 {
		return nil, nil, &UnknownError{fmt.Sprintf("the chart looks up objects in the cluster, and does not render without them: %s", r.Values.masked(err.Error()))}
	}
	sources := map[string]string{}
	for _, t := range allTemplates(c) {
		if text := string(t.Data); strings.Contains(text, "APIVersions") {
			sources[t.Name] += text
		}
	}
	if len(sources) > 0 {
		if _, _, again := r.execute(c, nil, r.Capabilities.mentioned(sources)); again == nil {
			return nil, nil, &UnknownError{fmt.Sprintf("the result depends on kinds that may exist in the cluster: %s", r.Values.masked(err.Error()))}
		}
	}
	return nil, nil, err
}

func allTemplates(c *chart.Chart) []*common.File {
	all := c.Templates
	for _, child := range c.Dependencies() {
		all = append(all[:len(all):len(all)], allTemplates(child)...)
	}
	return all
}

// execute runs the templates with a copy of the values, which they may change: composed, or newly composed values if that
// is nil.
func (r Request) execute(c *chart.Chart, composed map[string]any, capabilities Capabilities) (map[string]string, *execution, error) {
	caps, err := capabilities.forHelm()
	if err != nil {
		return nil, &execution{}, err
	}
	if want := c.Metadata.KubeVersion; want != "" && !chartutil.IsCompatibleRange(want, caps.KubeVersion.String()) {
		return nil, &execution{}, &UnknownError{fmt.Sprintf("the chart requires Kubernetes %s, but was rendered for %s", want, caps.KubeVersion.Version)}
	}
	name, namespace := ReleaseName(r.Release), r.Release.GetReleaseNamespace()
	if err := chartutil.ValidateReleaseName(name); err != nil {
		return nil, &execution{}, fmt.Errorf("the release name %q: %w", name, err)
	}
	if composed == nil {
		if composed, err = commonutil.CoalesceValues(c, r.Values.All); err != nil {
			return nil, &execution{}, err
		}
	}
	return execute(copied(c), common.Values{
		"Capabilities": caps,
		"Release": map[string]any{
			"Name": name, "Namespace": namespace, "IsUpgrade": false, "IsInstall": true, "Revision": 1, "Service": "Helm",
		},
		"Values": common.Values(composed),
	}, namespace+"/"+name+"/"+c.Name(), r.Steady)
}

// manifest returns an object as it is installed: with the labels that helm-controller and Helm add.
func (r Request) manifest(node *kyaml.RNode) (Manifest, error) {
	m := Manifest{Template: node.GetAnnotations()[fileAnnotation]}
	if err := node.PipeE(kyaml.ClearAnnotation(fileAnnotation)); err != nil {
		return m, err
	}
	var err error
	if m.Value, err = r.Decode(node); err != nil {
		return m, &TemplateError{Template: m.Template, Message: err.Error()}
	}
	for key, value := range annotations(m.Value) {
		if _, isText := value.(string); !isText {
			return m, &TemplateError{Template: m.Template, Message: fmt.Sprintf("annotation %q is not a string", key)}
		}
	}
	if common := r.Release.Spec.CommonMetadata; common != nil {
		merge(m.Value, "labels", common.Labels)
		merge(m.Value, "annotations", common.Annotations)
	}
	merge(m.Value, "labels", r.origin())
	merge(m.Value, "labels", map[string]string{"app.kubernetes.io/managed-by": "Helm"})
	merge(m.Value, "annotations", map[string]string{
		"meta.helm.sh/release-name": ReleaseName(r.Release), "meta.helm.sh/release-namespace": r.Release.GetReleaseNamespace(),
	})
	return m, nil
}

// origin returns the labels by which helm-controller recognizes the objects that it installed.
func (r Request) origin() map[string]string {
	return map[string]string{helmv2.GroupVersion.Group + "/name": r.Release.Name, helmv2.GroupVersion.Group + "/namespace": r.Release.Namespace}
}

// definitions returns the CustomResourceDefinitions that helm-controller creates first.
func (r Request) definitions(c *chart.Chart) ([]Manifest, error) {
	if install := r.Release.Spec.Install; install != nil && (install.CRDs == helmv2.Skip || install.CRDs == "" && install.SkipCRDs) {
		return nil, nil
	}
	all, err := r.Chart.definitions()
	if err != nil {
		return nil, err
	}
	var own []Manifest
	for _, crd := range c.CRDObjects() { // without disabled dependencies
		for _, object := range all[crd.File] {
			value := maps.Clone(object)
			metadata, _ := value["metadata"].(map[string]any)
			value["metadata"] = maps.Clone(metadata)
			merge(value, "labels", r.origin())
			own = append(own, Manifest{Template: crd.Filename, Value: value})
		}
	}
	return own, nil
}

func annotations(value map[string]any) map[string]any {
	metadata, _ := value["metadata"].(map[string]any)
	all, _ := metadata["annotations"].(map[string]any)
	return all
}

// merge adds labels or annotations to an object. It changes only parts that are not shared.
func merge(value map[string]any, field string, add map[string]string) {
	if len(add) == 0 {
		return
	}
	metadata, _ := value["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		value["metadata"] = metadata
	}
	old, _ := metadata[field].(map[string]any)
	all := maps.Clone(old)
	if all == nil {
		all = map[string]any{}
	}
	for key, text := range add {
		all[key] = text
	}
	metadata[field] = all
}
