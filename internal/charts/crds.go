package charts

import (
	"fmt"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Manifest is an object of a chart.
type Manifest struct {
	// Template is the file of the chart that contains it, such as "podinfo/templates/service.yaml" or
	// "podinfo/crds/crd.yaml".
	Template string
	Value    map[string]any
	// LooksUp reports whether the template looks up objects in the cluster, which are all unknown here.
	LooksUp bool
}

// definitions returns the CustomResourceDefinitions in the crds folders by file; it reads them once. It leaves out other
// kinds there, as helm-controller does.
func (c *Chart) definitions() (map[*common.File][]map[string]any, error) {
	c.once.Do(func() {
		c.crds = map[*common.File][]map[string]any{}
		for _, crd := range c.chart.CRDObjects() {
			for _, doc := range documents(string(crd.File.Data)) {
				var object map[string]any
				if err := yaml.Unmarshal([]byte(doc), &object); err != nil {
					c.crdsError = &TemplateError{Template: crd.Filename, Message: err.Error()}
					return
				}
				if object["kind"] == "CustomResourceDefinition" && strings.HasPrefix(fmt.Sprint(object["apiVersion"]), "apiextensions.k8s.io/") {
					c.crds[crd.File] = append(c.crds[crd.File], object)
				}
			}
		}
	})
	return c.crds, c.crdsError
}

// withDefinitions reads the definitions of a chart, so that Definitions returns them without delay.
func withDefinitions(c *Chart, err error) (*Chart, error) {
	if err != nil {
		return nil, err
	}
	c.Definitions()
	return c, nil
}

// Definitions returns the CustomResourceDefinitions in the chart's crds folders. They must not be changed.
func (c *Chart) Definitions() []map[string]any {
	crds, _ := c.definitions()
	var all []map[string]any
	for _, crd := range c.chart.CRDObjects() {
		all = append(all, crds[crd.File]...)
	}
	return all
}

// KindsOf returns the API versions that a CustomResourceDefinition defines, as "GROUP/VERSION" and
// "GROUP/VERSION/KIND"; none for any other object.
func KindsOf(object map[string]any) []string {
	if object["kind"] != "CustomResourceDefinition" {
		return nil
	}
	spec, _ := object["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	group, _ := spec["group"].(string)
	kind, _ := names["kind"].(string)
	versions, _ := spec["versions"].([]any)
	var kinds []string
	for _, v := range versions {
		version, _ := v.(map[string]any)
		if name, _ := version["name"].(string); version["served"] != false && name != "" {
			kinds = append(kinds, group+"/"+name, group+"/"+name+"/"+kind)
		}
	}
	return kinds
}

// documents splits a text as Helm does, in its order.
func documents(text string) []string {
	split := releaseutil.SplitManifests(text)
	keys := make([]string, 0, len(split))
	for key := range split {
		keys = append(keys, key)
	}
	sorting.Func(keys, func(a, b string) int {
		order := releaseutil.BySplitManifestsOrder{a, b}
		switch {
		case order.Less(0, 1):
			return -1
		case order.Less(1, 0):
			return 1
		}
		return 0
	})
	docs := make([]string, 0, len(keys))
	for _, key := range keys {
		if strings.TrimSpace(split[key]) != "" {
			docs = append(docs, split[key])
		}
	}
	return docs
}
