//go:build tools

package main

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// kind is a kind of fault.
type kind struct {
	name string
	// stops reports whether Flux or the API server rejects the change, or whether dependent objects never
	// become ready.
	stops bool
	// of are the kinds of objects to which the fault applies; none means all.
	of []string
	// edit changes the text of a place. It returns false if the fault does not apply there.
	edit func(p *place) bool
}

// inject injects the fault into a place of a suitable kind. It returns the text before, and whether it changed
// anything.
func (k kind) inject(p *place) (old string, changed bool) {
	if len(k.of) > 0 && !slices.Contains(k.of, p.kind) || len(k.of) == 0 && p.kind == "kustomization" {
		return "", false
	}
	old = p.text
	if !k.edit(p) {
		p.text = old
		return "", false
	}
	return old, p.text != old
}

// typoAt returns an edit that removes a letter from the value of a field.
func typoAt(path ...string) func(*place) bool {
	return func(p *place) bool { return p.typo(p.field(path...)) }
}

// misspelt returns an edit that removes a letter from the key of a field.
func misspelt(name string, path ...string) func(*place) bool {
	return func(p *place) bool { return p.misspell(p.field(path...), name) }
}

// removed returns an edit that removes a field.
func removed(name string, path ...string) func(*place) bool {
	return func(p *place) bool { return p.remove(key(p.field(path...), name)) }
}

// set returns an edit that replaces a scalar.
func set(value string, path ...string) func(*place) bool {
	return func(p *place) bool { return p.replace(p.field(path...), value) }
}

// inserted returns an edit that adds a field to a mapping that does not have it.
func inserted(line string, path ...string) func(*place) bool {
	name, _, _ := strings.Cut(line, ":")
	return func(p *place) bool {
		mapping := p.field(path...)
		return key(mapping, name) == nil && p.insert(last(mapping), line)
	}
}

// anyOf returns an edit that tries several edits and stops at the first one that applies.
func anyOf(edits ...func(*place) bool) func(*place) bool {
	return func(p *place) bool {
		return slices.ContainsFunc(edits, func(edit func(*place) bool) bool { return edit(p) })
	}
}

// listed returns an edit of the first item of a list of scalars.
func listed(edit func(p *place, item *yaml.Node) bool, fields ...string) func(*place) bool {
	return func(p *place) bool {
		for _, field := range fields {
			if item := p.field(field, "0"); item != nil && item.Kind == yaml.ScalarNode && !strings.Contains(item.Value, "://") {
				return edit(p, item)
			}
		}
		return false
	}
}

var (
	fluxKustomization = []string{"Kustomization"}
	helmRelease       = []string{"HelmRelease"}
	kustomization     = []string{"kustomization"}
	workload          = []string{"Deployment", "StatefulSet", "DaemonSet"}
	sources           = []string{"GitRepository", "HelmRepository", "OCIRepository", "Bucket"}
	container         = []string{"spec", "template", "spec", "containers", "0"}
)

// in returns the path of a field of the first container.
func in(path ...string) []string { return append(slices.Clone(container), path...) }

// allKinds are the kinds of faults, in the order of the tables.
var allKinds = []kind{
	{"Kustomization: path misspelt", true, fluxKustomization, typoAt("spec", "path")},
	{"Kustomization: name of the source misspelt", true, fluxKustomization, typoAt("spec", "sourceRef", "name")},
	{"Kustomization: kind of the source that does not exist", true, fluxKustomization, set("GitRepo", "spec", "sourceRef", "kind")},
	{"Kustomization: dependsOn misspelt", true, fluxKustomization, typoAt("spec", "dependsOn", "0", "name")},
	{"Kustomization: field misspelt", true, fluxKustomization, anyOf(misspelt("dependsOn", "spec"), misspelt("timeout", "spec"), misspelt("interval", "spec"))},
	{"Kustomization: interval without unit", true, fluxKustomization, set("30", "spec", "interval")},
	{"Kustomization: prune missing", true, fluxKustomization, removed("prune", "spec")},
	{"Kustomization: substituteFrom misspelt", true, fluxKustomization, typoAt("spec", "postBuild", "substituteFrom", "0", "name")},
	{"Kustomization: decryption's Secret misspelt", true, fluxKustomization, typoAt("spec", "decryption", "secretRef", "name")},
	{"Kustomization: health check of an object that does not exist", true, fluxKustomization, typoAt("spec", "healthChecks", "0", "name")},
	{"Kustomization: targetNamespace that nothing creates", true, fluxKustomization, typoAt("spec", "targetNamespace")},
	{"Kustomization: service account that does not exist", true, fluxKustomization, inserted("serviceAccountName: nobody", "spec")},
	{"Kustomization: variable that is not defined", true, []string{"ConfigMap", "Ingress", "HTTPRoute"}, (*place).typoOfVariable},
	{"kustomization: resource misspelt", true, kustomization, listed((*place).typo, "resources")},
	{"kustomization: resource removed", false, kustomization, listed((*place).remove, "resources")},
	{"kustomization: component misspelt", true, kustomization, listed((*place).typo, "components")},
	{"kustomization: field misspelt", true, kustomization, anyOf(misspelt("resources"), misspelt("components"))},
	{"kustomization: patch file misspelt", true, kustomization, typoAt("patches", "0", "path")},
	{"kustomization: patch of an object that does not exist", true, kustomization, typoAt("patches", "0", "target", "name")},
	{"kustomization: file of a generator misspelt", true, kustomization, typoAt("configMapGenerator", "0", "files", "0")},
	{"kustomization: namespace that nothing creates", true, kustomization, typoAt("namespace")},
	{"HelmRelease: name of the source misspelt", true, helmRelease, anyOf(typoAt("spec", "chart", "spec", "sourceRef", "name"), typoAt("spec", "chartRef", "name"))},
	{"HelmRelease: namespace of the source misspelt", true, helmRelease, anyOf(typoAt("spec", "chart", "spec", "sourceRef", "namespace"), typoAt("spec", "chartRef", "namespace"))},
	{"HelmRelease: kind of the source that does not exist", true, helmRelease, anyOf(set("HelmRepo", "spec", "chart", "spec", "sourceRef", "kind"), set("OCIRepo", "spec", "chartRef", "kind"))},
	{"HelmRelease: version that is not valid", true, helmRelease, set("latest-and-greatest", "spec", "chart", "spec", "version")},
	{"HelmRelease: interval missing", true, helmRelease, removed("interval", "spec")},
	{"HelmRelease: field misspelt", true, helmRelease, anyOf(misspelt("values", "spec"), misspelt("install", "spec"), misspelt("upgrade", "spec"))},
	{"HelmRelease: valuesFrom misspelt", true, helmRelease, typoAt("spec", "valuesFrom", "0", "name")},
	{"HelmRelease: dependsOn misspelt", true, helmRelease, typoAt("spec", "dependsOn", "0", "name")},
	{"HelmRelease: retries that are not a number", true, helmRelease, anyOf(set("three", "spec", "install", "remediation", "retries"), set("three", "spec", "upgrade", "remediation", "retries"))},
	{"HelmRelease: service account that does not exist", true, helmRelease, inserted("serviceAccountName: nobody", "spec")},
	{"HelmRelease: kubeConfig's Secret that does not exist", true, helmRelease, inserted("kubeConfig: {secretRef: {name: nowhere}}", "spec")},
	{"source: url missing", true, sources, removed("url", "spec")},
	{"source: url of another scheme", true, []string{"OCIRepository"}, func(p *place) bool {
		url := p.field("spec", "url")
		return url != nil && p.replace(url, strings.Replace(url.Value, "oci://", "https://", 1))
	}},
	{"source: renamed", true, sources, typoAt("metadata", "name")},
	{"source: Secret that does not exist", true, sources, inserted("secretRef: {name: nowhere}", "spec")},
	{"source: interval without unit", true, sources, set("60", "spec", "interval")},
	{"object: API version that does not exist", true, []string{"Deployment", "StatefulSet", "Kustomization", "HelmRelease", "Ingress", "HTTPRoute"}, func(p *place) bool {
		v := p.field("apiVersion")
		return v != nil && strings.Contains(v.Value, "/") && p.replace(v, v.Value+"alpha7")
	}},
	{"object: API version that was removed", true, []string{"Ingress", "CronJob", "PodDisruptionBudget", "HorizontalPodAutoscaler"}, func(p *place) bool {
		old := map[string]string{"Ingress": "extensions/v1beta1", "CronJob": "batch/v1beta1", "PodDisruptionBudget": "policy/v1beta1", "HorizontalPodAutoscaler": "autoscaling/v2beta2"}[p.kind]
		return p.replace(p.field("apiVersion"), old)
	}},
	{"object: name in capitals", true, nil, func(p *place) bool {
		name := p.field("metadata", "name")
		return name != nil && !slices.Contains([]string{"ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding"}, p.kind) && p.replace(name, strings.ToUpper(name.Value)+"_X")
	}},
	{"object: name missing", true, nil, removed("name", "metadata")},
	{"object: kind missing", true, nil, func(p *place) bool { return p.remove(key(p.root, "kind")) }},
	{"object: label that is not a string", true, nil, inserted("labels: {enabled: true}", "metadata")},
	{"object: label value that is refused", true, nil, inserted("labels: {team: 'our team!'}", "metadata")},
	{"object: a document that is not YAML", true, nil, func(p *place) bool {
		return p.insert(last(p.root), "  broken: [")
	}},
	{"workload: field misspelt", true, workload, anyOf(misspelt("image", container...), misspelt("name", container...))},
	{"workload: replicas that are not a number", true, workload, set("two", "spec", "replicas")},
	{"workload: selector that does not match", true, workload, func(p *place) bool {
		labels := p.field("spec", "selector", "matchLabels")
		return labels != nil && labels.Kind == yaml.MappingNode && len(labels.Content) > 1 && p.typo(labels.Content[1])
	}},
	{"workload: port above 65535", true, workload, set("70000", in("ports", "0", "containerPort")...)},
	{"workload: quantity that is not valid", true, workload, anyOf(set("128MB", in("resources", "requests", "memory")...), set("128MB", in("resources", "limits", "memory")...))},
	{"workload: mount of a volume that does not exist", true, workload, typoAt(in("volumeMounts", "0", "name")...)},
	{"workload: service account that does not exist", true, workload, anyOf(typoAt("spec", "template", "spec", "serviceAccountName"), inserted("serviceAccountName: nobody", "spec", "template", "spec"))},
	{"workload: ConfigMap or Secret that does not exist", true, workload, inserted("envFrom: [{configMapRef: {name: nowhere}}]", container...)},
	{"workload: claim that does not exist", true, workload, typoAt("spec", "template", "spec", "volumes", "0", "persistentVolumeClaim", "claimName")},
	{"workload: restart policy that is refused", true, workload, inserted("restartPolicy: Never", "spec", "template", "spec")},
	{"CronJob: schedule that is not valid", true, []string{"CronJob"}, set("every day", "spec", "schedule")},
	{"Service: port above 65535", true, []string{"Service"}, set("70000", "spec", "ports", "0", "port")},
	{"Service: selector that matches nothing", false, []string{"Service"}, func(p *place) bool {
		labels := p.field("spec", "selector")
		return labels != nil && labels.Kind == yaml.MappingNode && len(labels.Content) > 1 && p.typo(labels.Content[1])
	}},
	{"Ingress: Service that does not exist", false, []string{"Ingress"}, typoAt("spec", "rules", "0", "http", "paths", "0", "backend", "service", "name")},
	{"Ingress: pathType missing", true, []string{"Ingress"}, removed("pathType", "spec", "rules", "0", "http", "paths", "0")},
	{"HTTPRoute: Service that does not exist", false, []string{"HTTPRoute"}, typoAt("spec", "rules", "0", "backendRefs", "0", "name")},
	{"binding: role that does not exist", true, []string{"RoleBinding", "ClusterRoleBinding"}, typoAt("roleRef", "name")},
	{"binding: kind that does not exist", true, []string{"RoleBinding", "ClusterRoleBinding"}, set("Rol", "roleRef", "kind")},
	{"PersistentVolumeClaim: access mode that does not exist", true, []string{"PersistentVolumeClaim"}, set("ReadWriteAll", "spec", "accessModes", "0")},
	{"Namespace: renamed", true, []string{"Namespace"}, func(p *place) bool { return p.replace(p.field("metadata", "name"), "elsewhere") }},
	{"Alert: Provider misspelt", true, []string{"Alert"}, typoAt("spec", "providerRef", "name")},
	{"ImagePolicy: ImageRepository misspelt", true, []string{"ImagePolicy"}, typoAt("spec", "imageRepositoryRef", "name")},
	{"Receiver: Secret misspelt", true, []string{"Receiver"}, typoAt("spec", "secretRef", "name")},
	{"password in plaintext", false, []string{"ConfigMap"}, inserted("password: hV9x2mQz7LpTd4", "data")},
	{"ENC[…] without metadata of SOPS", true, []string{"ConfigMap"}, func(p *place) bool {
		data := p.field("data")
		return data != nil && data.Kind == yaml.MappingNode && len(data.Content) > 1 && p.replace(data.Content[1], `"ENC[AES256_GCM,data:Zm9v,iv:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=,tag:MDEyMzQ1Njc4OTAxMjM0NQ==,type:str]"`)
	}},
}

// typoOfVariable removes a letter from the name of a variable that Flux substitutes.
func (p *place) typoOfVariable() bool {
	at := strings.Index(p.text, "${")
	if !p.substituted || at < 0 || at > 0 && p.text[at-1] == '$' {
		return false
	}
	end := strings.IndexAny(p.text[at:], "}:\n")
	if end < 5 || p.text[at+end] != '}' {
		return false
	}
	p.text = p.text[:at+3] + p.text[at+4:]
	return true
}
