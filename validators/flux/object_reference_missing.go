package flux

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/otherfiles"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ObjectReferenceMissing is flux-object-reference-missing.
var ObjectReferenceMissing = rule.Rule{
	ID:       "flux-object-reference-missing",
	Title:    "a reference between objects of Kubernetes to one that does not exist",
	Severity: finding.Warning,
	Why: `The API server accepts a Deployment whose ConfigMap, Secret, claim or service account does not exist, and a binding
without its role. The pods are never created or never start, so that a Kustomization with wait: true or a health check
is never ready, and the binding grants nothing.

A name that is a typo of an object that exists, and that no file of the repository has, is an error. A missing backend of an
Ingress or of a route, a port that its Service does not have, and a missing target of an autoscaler are warnings, since the
rest of the object works. Other names are warnings if no script, no chart that is not rendered and no object of an operator
mentions a word of them, and errors if the object is the only missing one of its kind and three others exist.
Secrets may be created by hand: only typos in their names are reported.`,
	Fix: `Correct the name, or add the object to the cluster in Git. optional: true lets a pod start without its
ConfigMap or Secret.`,
	Run: func(p *rule.Pass) {
		var open questions
		names := map[string]bool{}
		missing := map[*reconcile.Cluster][]mention{}
		each(p, func(w *world) {
			missing[w.cluster] = w.missingObjects()
			for _, n := range missing[w.cluster] {
				names[n.id.Name] = true
			}
		})
		spoken := otherfiles.Mentions(p.Repo, names, false)
		each(p, func(w *world) {
			w.checkPorts(p)
			charts, all := w.unrendered(), w.operators()
			w.countReferences(&all, missing[w.cluster])
			w.scripted, w.foreign = w.scripts(names), map[string]bool{}
			for _, d := range w.missingNamespaces() {
				w.foreign[d.namespace] = true
			}
			for _, n := range missing[w.cluster] {
				w.objectMissing(p, &open, n, all, spoken[n.id.Name] == "" && creator(charts, n.id) == nil)
			}
		})
		open.report(p)
	},
}

// podSpecs are the paths of the pod specifications, by kind.
var podSpecs = map[kind][]any{
	{"apps", "Deployment"}: {"spec", "template", "spec"}, {"apps", "StatefulSet"}: {"spec", "template", "spec"},
	{"apps", "DaemonSet"}: {"spec", "template", "spec"}, {"apps", "ReplicaSet"}: {"spec", "template", "spec"},
	{"batch", "Job"}: {"spec", "template", "spec"}, {"batch", "CronJob"}: {"spec", "jobTemplate", "spec", "template", "spec"},
	{"", "Pod"}: {"spec"},
}

// objectFields are the fields in which built-in objects of Kubernetes name other objects that they need.
var objectFields = func() []nameField {
	all := append(slices.Clone(backendFields),
		nameField{group: rbac, kinds: []string{"RoleBinding", "ClusterRoleBinding"}, path: []any{"roleRef"}, to: kind{rbac, ""}},
		nameField{group: "autoscaling", kinds: []string{"HorizontalPodAutoscaler"}, path: []any{"spec", "scaleTargetRef"}, to: kind{"apps", ""}})
	pods := []nameField{
		{path: []any{"serviceAccountName"}, to: kind{"", "ServiceAccount"}},
		{path: []any{"volumes", -1, "configMap"}, to: kind{"", "ConfigMap"}},
		{path: []any{"volumes", -1, "secret", "secretName"}, to: kind{"", "Secret"}},
		{path: []any{"volumes", -1, "persistentVolumeClaim", "claimName"}, to: kind{"", "PersistentVolumeClaim"}},
	}
	for _, containers := range []string{"containers", "initContainers"} {
		pods = append(pods,
			nameField{path: []any{containers, -1, "envFrom", -1, "configMapRef"}, to: kind{"", "ConfigMap"}},
			nameField{path: []any{containers, -1, "envFrom", -1, "secretRef"}, to: kind{"", "Secret"}},
			nameField{path: []any{containers, -1, "env", -1, "valueFrom", "configMapKeyRef"}, to: kind{"", "ConfigMap"}},
			nameField{path: []any{containers, -1, "env", -1, "valueFrom", "secretKeyRef"}, to: kind{"", "Secret"}})
	}
	for of, spec := range podSpecs {
		for _, f := range pods {
			all = append(all, nameField{group: of.group, kinds: []string{of.kind}, path: slices.Concat(spec, f.path), to: f.to})
		}
	}
	return all
}()

// builtInObjects are the names of objects that exist in each cluster or namespace, by kind.
var builtInObjects = map[string][]string{
	"ClusterRole": {"cluster-admin", "admin", "edit", "view", "system:auth-delegator", "system:basic-user", "system:discovery", "system:kube-dns",
		"system:kubelet-api-admin", "system:monitoring", "system:node", "system:node-problem-detector", "system:node-proxier",
		"system:persistent-volume-provisioner", "system:public-info-viewer", "system:service-account-issuer-discovery"},
	"ServiceAccount": {"default"},
	"ConfigMap":      {"kube-root-ca.crt"},
}

// missingObjects returns the references to objects that the cluster does not have.
func (w *world) missingObjects() []mention {
	created := w.createdSecrets()
	var missing []mention
	for _, n := range w.namesIn(objectFields) {
		reference := n.of.Field(n.path[:len(n.path)-1]...)
		if n.id.Kind == "ClusterRole" {
			n.id.Namespace = ""
		}
		anywhere := n.id
		anywhere.Namespace = "*"
		other := text(reference, "kind") != "" && text(reference, "kind") != n.id.Kind || // a backend of another kind
			n.id.Group == "apps" && !strings.HasPrefix(text(reference, "apiVersion"), "apps/") ||
			n.id.Group == rbac && n.id.Kind != "Role" && n.id.Kind != "ClusterRole" // schema-invalid reports it
		if field(reference, "optional") != true && !other && !w.has(n.id) && !created[n.id] && !created[anywhere] &&
			!slices.Contains(builtInObjects[n.id.Kind], n.id.Name) {
			missing = append(missing, n)
		}
	}
	return missing
}

// countReferences counts the missing objects by kind. It also records the kinds of which exactly one object is
// missing although several referenced ones exist.
func (w *world) countReferences(all *operators, missing []mention) {
	count := func(mentions []mention, counts func(mention) bool) map[string]int {
		seen, n := map[reconcile.Identity]bool{}, map[string]int{}
		for _, m := range mentions {
			if !seen[m.id] && counts(m) {
				seen[m.id] = true
				n[m.id.Kind]++
			}
		}
		return n
	}
	all.missing, all.alone = count(missing, func(mention) bool { return true }), map[string]bool{}
	for of, n := range count(w.namesIn(objectFields), func(m mention) bool { return w.has(m.id) }) {
		all.alone[of] = n >= fewInGit && all.missing[of] == 1
	}
}

// objectMissing reports a missing object. unspoken reports whether no script and no chart mentions the object's name.
func (w *world) objectMissing(p *rule.Pass, open *questions, n mention, all operators, unspoken bool) {
	lesser := n.id.Kind == "Service" || n.of.Group == "autoscaling" // the rest of the referring object works
	severity, why := finding.Error, w.doubt(n.id)
	if script := w.scripted[n.id.Name]; script != nil && n.id.Kind != "ServiceAccount" {
		n.ask(w, open, fmt.Sprintf("the script in %s mentions it, and may create it", script))
		return
	}
	if !unspoken || lesser {
		severity = finding.Warning
	}
	if near, is := w.typoOf(n.id, builtInObjects[n.id.Kind]); is {
		n.report(p, w, severity, `did you mean "`+near+`"?`)
		return
	}
	if !w.misspelt(n.id) {
		if lesser && (!unspoken || w.outside(n.id) != "" || all.mayCreateAny(n.id)) || strings.HasPrefix(n.id.Name, "system:") {
			return // an operator, a Kubernetes distribution or a user may have created it
		}
		if other := w.otherwise(n, all, unspoken); other != "" {
			why = other
		} else if !all.alone[n.id.Kind] {
			severity = finding.Warning
		}
	}
	switch {
	case why == "":
		n.report(p, w, severity, w.hint(n.id))
	case !lesser:
		n.ask(w, open, why)
	}
}

// otherwise returns how an object may exist although Git does not create it, "" if it cannot.
func (w *world) otherwise(n mention, all operators, unspoken bool) string {
	switch {
	case n.id.Kind == "Secret":
		return byHand
	case !unspoken || all.mayCreate(n.id):
		return "a script, an operator or a chart that is not rendered may create it"
	case w.outside(n.id) != "":
		return w.outside(n.id)
	case w.foreign[n.id.Namespace]:
		return fmt.Sprintf("Git does not create namespace %s, and whatever creates the namespace may create the object", n.id.Namespace)
	case all.missing[n.id.Kind] > 1 && all.mayCreateAny(n.id):
		return byHand
	}
	return ""
}
