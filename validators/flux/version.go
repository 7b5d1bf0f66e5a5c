package flux

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/fluxinstall"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// readVersion reads what Git says about the version of Flux in the cluster.
func (w *world) readVersion(p *rule.Pass) {
	w.minor = w.readMinor(p)
	w.strict = w.readStrict()
}

// readMinor returns the minor version of Flux 2 in the cluster, 0 if Git does not say it. It reads the image of
// kustomize-controller, whose minor version is Flux's, the version of the FluxInstance, also in the values of a HelmRelease
// of flux-instance, or the artifact with the manifests of Flux.
func (w *world) readMinor(p *rule.Pass) int {
	for _, o := range w.applied {
		switch {
		case o.Kind == "Deployment" && o.Name == "kustomize-controller":
			for _, c := range list(o.Value, "spec", "template", "spec", "containers") {
				image, _, _ := strings.Cut(text(c, "image"), "@")
				if i := strings.LastIndex(image, ":v1."); i >= 0 {
					return leadingNumber(image[i+len(":v1."):])
				}
				if strings.Contains(image, ":v0.") {
					return 1 // older than each Flux whose changes matter here
				}
			}
		case o.Kind == "FluxInstance" && o.Group == fluxapi.OperatorGroup:
			return minorOf(text(o.Value, "spec", "distribution", "version"))
		case isHelmRelease(o) && o.ChartName(w.find) == fluxinstall.InstanceChart:
			if value, known := withInstanceValues(p, o); known && text(value, instanceVersion...) != "" {
				return minorOf(text(value, instanceVersion...))
			}
		case o.Kind == "OCIRepository" && strings.HasSuffix(text(o.Value, "spec", "url"), "/flux-manifests"):
			return minorOf(text(o.Value, "spec", "ref", "tag"))
		}
	}
	if root := w.cluster.Root.Object; root != nil {
		for _, at := range [][]string{{"spec", "distribution", "version"}, instanceVersion} {
			if version, ok := root.Text(steps(at)...); ok {
				return minorOf(version)
			}
		}
	}
	return 0
}

// instanceVersion is the path of Flux's version in a HelmRelease of flux-instance.
var instanceVersion = []string{"spec", "values", "instance", "distribution", "version"}

// withInstanceValues returns an object, a HelmRelease of flux-instance with the values of its valuesFrom, too; known is false if
// they are not known.
func withInstanceValues(p *rule.Pass, o *reconcile.Object) (value any, known bool) {
	if !isHelmRelease(o) || len(o.List("spec", "valuesFrom")) == 0 {
		return o.Value, true
	}
	if o.Kustomization == nil {
		return nil, false
	}
	find := func(id reconcile.Identity) *reconcile.Object {
		if found := o.Kustomization.Cluster.Find(id); len(found) > 0 {
			return found[0]
		}
		return nil
	}
	if o.ChartName(find) != fluxinstall.InstanceChart {
		return o.Value, true
	}
	values, err := reconcile.ReleaseValues(p.Context, o, find)
	return map[string]any{"spec": map[string]any{"values": values}}, err == nil
}

// newest represents the newest minor version.
const newest = 9999

// minorOf returns the minor version of a version such as 2.7.x. It returns newest for 2.x, and 0 for a version
// that it cannot parse.
func minorOf(version string) int {
	major, rest, _ := strings.Cut(strings.TrimLeft(version, "v=~^ "), ".")
	switch {
	case major != "2":
		return 0
	case rest == "" || rest[0] == 'x' || rest[0] == '*':
		return newest
	}
	return leadingNumber(rest)
}

func leadingNumber(s string) int {
	end := 0
	for end < len(s) && end < 4 && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(s[:end])
	if err != nil {
		return 0
	}
	return n
}

// readStrict reports whether kustomize-controller rejects undefined variables. It does since Flux 2.9, unless a
// feature gate changes that.
func (w *world) readStrict() bool {
	const gate = "StrictPostBuildSubstitutions="
	for _, o := range w.applied {
		if o.Kind != "Deployment" || o.Name != "kustomize-controller" {
			continue
		}
		for _, c := range list(o.Value, "spec", "template", "spec", "containers") {
			for _, arg := range list(c, "args") {
				if s, _ := arg.(string); strings.Contains(s, gate) {
					return strings.Contains(s, gate+"true")
				}
			}
		}
	}
	for _, node := range w.flux() {
		if mentions(node, gate+"false") {
			return false
		}
		if mentions(node, gate+"true") {
			return true
		}
	}
	return w.minor == 0 || w.minor >= 9
}

// flux returns the documents that configure Flux itself, and the patches of its controllers.
func (w *world) flux() []*yaml.Node {
	var nodes []*yaml.Node
	if root := w.cluster.Root.Object; root != nil {
		nodes = append(nodes, root.Node)
	}
	for _, o := range w.applied {
		if o.Source != nil && (o.Kind == "FluxInstance" || isHelmRelease(o) && isFluxChart(o)) {
			nodes = append(nodes, o.Source.Node)
		}
	}
	return nodes
}

// isFluxChart reports whether a HelmRelease installs Flux or a FluxInstance.
func isFluxChart(o *reconcile.Object) bool {
	return o.Name == "flux-instance" || o.Name == "flux" || strings.HasPrefix(text(o.Value, "spec", "chart", "spec", "chart"), "flux")
}

// mentions reports whether a value in a document contains a string.
func mentions(n *yaml.Node, s string) bool {
	if n.Kind == yaml.ScalarNode {
		return strings.Contains(n.Value, s)
	}
	for _, child := range n.Content {
		if mentions(child, s) {
			return true
		}
	}
	return false
}
