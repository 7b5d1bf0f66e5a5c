package main

import (
	"fmt"
	"strings"
)

// fluxKs is a Flux Kustomization of the folder of its name.
func fluxKs(name, spec string) string {
	return fmt.Sprintf("---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: %s\n  namespace: flux-system\n"+
		"spec:\n  path: ./%s\n  interval: 1h\n  prune: true\n  sourceRef:\n    kind: GitRepository\n    name: flux-system\n%s", name, name, spec)
}

func configMap(name, data string) string {
	return "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n  namespace: flux-system\ndata:\n" + data
}

// laughs is a value whose aliases expand to 10^levels texts.
func laughs(levels int) string {
	var b strings.Builder
	b.WriteString("{l0: &l0 lol")
	for i := 1; i <= levels; i++ {
		fmt.Fprintf(&b, ", l%d: &l%d [%s]", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*l%d, ", i-1), 10), ", "))
	}
	return b.String() + "}"
}

// definition is a CustomResourceDefinition of the kind Thing.
func definition(schema string) string {
	return "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\nspec:\n  group: example.com\n  scope: Namespaced\n" +
		"  names: {kind: Thing, plural: things}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema: " + schema + "\n"
}

// thing is an object of the kind Thing.
func thing(fields string) string {
	return "---\napiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a, namespace: flux-system}\n" + fields + "\n"
}

// hostileRelease is a HelmRelease of a chart in the repository.
func hostileRelease(name, chart, spec string) string {
	return fmt.Sprintf("---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: %s\n  namespace: flux-system\nspec:\n  interval: 1h\n"+
		"  chart:\n    spec:\n      chart: %s\n      sourceRef:\n        kind: GitRepository\n        name: flux-system\n%s", name, chart, spec)
}

// tail is the end of an output.
func tail(text string) string { return text[max(0, len(text)-3000):] }
