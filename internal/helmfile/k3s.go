package helmfile

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// k3sGroup is the API group of K3s' and RKE2's helm-controller.
const k3sGroup = "helm.cattle.io"

// k3sChart returns a HelmChart, with the HelmChartConfigs of its name, as K3s' helm-controller passes it to helm: the values of
// the chart, then those of the configuration, then set.
func (r *reader) k3sChart(o *repository.Object, configs []*repository.Object) *Release {
	file := o.File()
	out, e := r.newChart(file, ".", o.Node)
	out.Definition = InHelmChart
	meta, spec := o.Lookup("metadata"), o.Lookup("spec")
	out.Name = located.ScalarText(file, meta, "name")
	out.Line = out.Name.Line
	out.Namespace = located.ScalarText(file, spec, "targetNamespace")
	if out.Namespace.Value == "" {
		out.Namespace = located.ScalarText(file, meta, "namespace")
	}
	out.Chart, out.Version, out.source = located.ScalarText(file, spec, "chart"), located.ScalarText(file, spec, "version"), located.ScalarText(file, spec, "repo")
	e.addContent(out, file, spec)
	for _, config := range configs {
		if config.Name == o.Name && config.Namespace == o.Namespace && sharesFolder(config.File(), file) {
			e.addContent(out, config.File(), config.Lookup("spec"))
		}
	}
	out.Values.Files = out.Values.Value
	located.EachField(spec, "set", func(name string, v *yaml.Node) {
		if v == nil || v.Kind != yaml.ScalarNode {
			return
		}
		// To Helm, anything but a number, true, false or null is a string.
		field := "setString"
		if v.ShortTag() == "!!int" || slices.Contains([]string{"true", "false", "null"}, strings.ToLower(v.Value)) {
			field = "set"
		}
		e.addSetting(&out.Values, setting{Place: located.At(file, v.Line), field: field, name: name, value: v.Value})
	})
	if secrets := located.Items(spec, "valuesSecrets"); len(secrets) > 0 {
		out.Values.AddUnknown(located.Unknown{Reason: fmt.Sprintf("values come from a Secret (valuesSecrets, %s:%d)", file, secrets[0].Line)})
	}
	return out
}

// sharesFolder reports whether two files likely belong to the same cluster: the first folder of their paths is the same.
func sharesFolder(a, b string) bool {
	x, _, _ := strings.Cut(a, "/")
	y, _, _ := strings.Cut(b, "/")
	return x == y || !strings.Contains(a, "/") || !strings.Contains(b, "/")
}

// addContent adds values, a map, and then valuesContent, a string of YAML.
func (e *evaluation) addContent(r *Release, file string, spec *yaml.Node) {
	if v := repository.Lookup(spec, "values"); v != nil && v.Kind == yaml.MappingNode {
		values, err := located.ValueOf(file, v, located.AsKustomize)
		if err != nil {
			r.Values.AddUnknown(located.Unknown{Reason: located.Shorten(err.Error())})
			return
		}
		e.addValue(&r.Values, values)
	}
	content := repository.Lookup(spec, "valuesContent")
	if content == nil || content.Kind != yaml.ScalarNode {
		return
	}
	first := content.Line
	if content.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		first++
	}
	folded := content.Style&yaml.LiteralStyle == 0
	e.addText(&r.Values, located.At(file, first), content.Value, located.AsHelm, func(n int) int {
		if folded {
			return first
		}
		return first + max(n, 1) - 1
	})
}
