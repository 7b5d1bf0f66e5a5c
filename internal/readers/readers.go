// Package readers finds the objects of clusters that read a Secret, and what each of them needs to get a new
// value.
package readers

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// Action is what an object needs to get a new value.
type Action string

// The actions.
const (
	// Restart: its pods have the value in their environment, or in a file that the kubelet doesn't update.
	Restart Action = "restart"
	// Reload: the kubelet updates the files; a program that reads them only once needs a restart.
	Reload Action = "reload"
	// Reconcile: Flux reads it at the next reconciliation.
	Reconcile Action = "reconcile"
	// Next: it reads the Secret the next time that it needs it, such as in the next run of a job.
	Next Action = "next use"
	// Again: it reads the Secret only when it is created again, as a Job does.
	Again Action = "create again"
	// Chart: workloads of a chart that is not rendered use it; they may need a restart.
	Chart Action = "restart the workloads of its chart"
	// Controller: the controller of its kind reads it.
	Controller Action = "its controller"
)

// Reader is an object that reads a Secret.
type Reader struct {
	Cluster string
	Object  *reconcile.Object
	Action  Action

	// secret is the name of the Secret.
	secret string
}

// Command returns the command that performs the action, "" if there is none.
func (r Reader) Command() string {
	o := r.Object
	switch kind := strings.ToLower(o.Kind); {
	case r.Action == Restart && o.Kind == "Pod", r.Action == Reload && o.Kind == "Pod", o.Kind == "ReplicaSet":
		return "" // the owner of the pod decides
	case r.Action == Restart || r.Action == Reload:
		return "kubectl --namespace=" + o.Namespace + " rollout restart " + kind + "/" + o.Name
	case r.Action == Reconcile && o.Kind == "FluxInstance" && o.Text("spec", "sync", "pullSecret") == r.secret:
		name := cmp.Or(o.Text("spec", "sync", "name"), o.Namespace)
		return "flux --namespace=" + o.Namespace + " reconcile " + reconciled[o.Text("spec", "sync", "kind")] + " " + name
	case r.Action == Reconcile && o.Group == fluxapi.OperatorGroup && operated[o.Kind] != "":
		return "flux-operator --namespace=" + o.Namespace + " reconcile " + operated[o.Kind] + " " + o.Name
	case r.Action == Reconcile && reconciled[o.Kind] != "":
		return "flux --namespace=" + o.Namespace + " reconcile " + reconciled[o.Kind] + " " + o.Name
	}
	return ""
}

// reconciled are the arguments of "flux reconcile" by kind. "" is the kind of a FluxInstance's source by default.
var reconciled = map[string]string{
	"HelmRelease": "helmrelease", "Kustomization": "kustomization", "GitRepository": "source git", "OCIRepository": "source oci",
	"HelmRepository": "source helm", "Bucket": "source bucket", "ImageRepository": "image repository",
	"ImageUpdateAutomation": "image update", "Receiver": "receiver", "": "source git",
}

// operated are the arguments of "flux-operator reconcile" by kind.
var operated = map[string]string{"FluxInstance": "instance", "ResourceSet": "resourceset", "ResourceSetInputProvider": "inputprovider"}

// Found are the readers of a Secret, the HelmReleases in its namespace whose charts may
// read it, and the clusters with unknown objects.
type Found struct {
	Readers []Reader
	Unknown []Reader
	Partial []string
}

// Of returns the readers of a Secret on the clusters that apply its file, in the order of the clusters.
func Of(fleet *reconcile.Fleet, file, namespace, name string) Found {
	var out Found
	s := secret{namespace, name}
	for _, c := range fleet.Clusters {
		applies := c.Find(reconcile.Identity{Kind: "Secret", Namespace: namespace, Name: name})
		if !slices.ContainsFunc(applies, func(o *reconcile.Object) bool { return o.File == file }) {
			continue
		}
		if !c.Complete() {
			out.Partial = append(out.Partial, c.Name)
		}
		rendered := map[*reconcile.Object]bool{}
		for _, release := range c.Releases {
			rendered[release.Object] = release.Unknown == "" && release.Failure == nil && len(release.Objects) > 0
		}
		seen := map[reconcile.Identity]bool{}
		for _, o := range c.Objects() {
			if seen[o.Identity] || o.Kustomization != nil && o.Kustomization.Spec.KubeConfig != nil {
				continue
			}
			seen[o.Identity] = true
			if action := s.readBy(o, rendered[o]); action != "" {
				out.Readers = append(out.Readers, Reader{c.Name, o, action, name})
			} else if isHelmRelease(o) && !rendered[o] && target(o) == namespace {
				out.Unknown = append(out.Unknown, Reader{c.Name, o, Chart, name})
			}
		}
	}
	return out
}

func isHelmRelease(o *reconcile.Object) bool {
	return o.Group == fluxapi.HelmGroup && o.Kind == "HelmRelease"
}

// target returns the namespace that a HelmRelease installs to.
func target(o *reconcile.Object) string {
	if to := o.Text("spec", "targetNamespace"); to != "" {
		return to
	}
	return o.Namespace
}

// secret is the Secret whose readers are searched.
type secret struct{ namespace, name string }

// podSpecs are the paths of pod specifications by kind.
var podSpecs = map[string][]any{
	"Deployment": {"spec", "template", "spec"}, "StatefulSet": {"spec", "template", "spec"}, "DaemonSet": {"spec", "template", "spec"},
	"ReplicaSet": {"spec", "template", "spec"}, "Job": {"spec", "template", "spec"}, "CronJob": {"spec", "jobTemplate", "spec", "template", "spec"},
	"Pod": {"spec"},
}

// readBy returns the action that an object needs, "" if it doesn't read the Secret.
func (s secret) readBy(o *reconcile.Object, rendered bool) Action {
	switch path := podSpecs[o.Kind]; {
	case o.Group == "" && (o.Kind == "Secret" || o.Kind == "ConfigMap"):
		return ""
	case path != nil && (o.Group == "apps" || o.Group == "batch" || o.Group == ""):
		return s.readByPods(o, path)
	case isHelmRelease(o):
		values := o.Field("spec", "values")
		whole, _ := o.Field("spec").(map[string]any)
		rest := maps.Clone(whole)
		delete(rest, "values")
		switch {
		case s.within(rest, "", o.Namespace):
			return Reconcile
		case !rendered && s.within(values, "", target(o)):
			return Chart
		}
		return ""
	case !s.within(o.Value, "", o.Namespace):
		return ""
	case o.Group == fluxapi.NotificationGroup && o.Kind != "Receiver":
		return Next
	case strings.HasSuffix(o.Group, ".toolkit.fluxcd.io") || strings.HasSuffix(o.Group, ".fluxcd.controlplane.io") || o.Group == "fluxcd.controlplane.io":
		return Reconcile
	case o.Group == "" && o.Kind == "ServiceAccount":
		return Next
	}
	return Controller
}

// readByPods returns the action that pods need.
func (s secret) readByPods(o *reconcile.Object, path []any) Action {
	spec, _ := o.Field(path...).(map[string]any)
	if !s.within(spec, "", o.Namespace) {
		return ""
	}
	action := Next // the Secret is used to pull an image
	if s.within(spec["volumes"], "", o.Namespace) {
		action = Reload
	}
	for _, field := range []string{"containers", "initContainers"} {
		containers, _ := spec[field].([]any)
		for _, c := range containers {
			container, _ := c.(map[string]any)
			env := s.within(container["env"], "", o.Namespace) || s.within(container["envFrom"], "", o.Namespace)
			if env || action == Reload && hasSubPath(container) {
				action = Restart
			}
		}
	}
	if o.Group == "batch" {
		if o.Kind == "Job" {
			return Again
		}
		return Next
	}
	return action
}

// hasSubPath reports whether a container mounts a part of a volume, which the kubelet does not update.
func hasSubPath(container map[string]any) bool {
	mounts, _ := container["volumeMounts"].([]any)
	return slices.ContainsFunc(mounts, func(m any) bool {
		mount, _ := m.(map[string]any)
		return mount["subPath"] != nil || mount["subPathExpr"] != nil
	})
}

// within reports whether a value names the Secret: in a field whose name contains "secret", or as an
// object of kind Secret.
func (s secret) within(v any, key, namespace string) bool {
	speaks := strings.Contains(strings.ToLower(key), "secret")
	switch v := v.(type) {
	case string:
		return speaks && v == s.name && (namespace == s.namespace || namespace == "")
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return s.within(item, key, namespace) })
	case map[string]any:
		if own, _ := v["namespace"].(string); own != "" && v["metadata"] == nil {
			namespace = own
		}
		kind, hasKind := v["kind"].(string)
		named := v["name"] == s.name && (namespace == s.namespace || namespace == "")
		if named && (hasKind && kind == "Secret" || !hasKind && speaks) {
			return true
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			below := name
			if name == "name" || name == "namespace" || name == "kind" || name == "key" {
				continue
			}
			if _, text := v[name].(string); !text && !strings.Contains(strings.ToLower(name), "secret") {
				below = "" // a field in the object names the Secret
			}
			if s.within(v[name], below, namespace) {
				return true
			}
		}
	}
	return false
}
