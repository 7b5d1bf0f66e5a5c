package tenant

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// lockdown describes how far Flux's controllers are configured to isolate tenants. Source:
// https://fluxcd.io/flux/installation/configuration/multitenancy/ and, for a FluxInstance, cluster.multitenant
// of the Flux Operator, which sets all of it.
type lockdown struct {
	// known reports whether the installation of Flux is in the repository. why is the reason if it is unknown.
	known bool
	why   string
	// missing are the flags that are not set, each with the controllers that lack it.
	missing []missingFlag
	// account is the service account for Kustomizations without one, "" for the controller's own account.
	account string
	// Place is the place to be fixed, and object is the object there.
	finding.Place
	object *reconcile.Object
	// operator reports whether a FluxInstance has to be fixed.
	operator bool
}

type missingFlag struct {
	flag        string
	controllers []string
}

const (
	flagCrossRefs   = "--no-cross-namespace-refs=true"
	flagRemoteBases = "--no-remote-bases=true"
	flagAccount     = "--default-service-account"
)

// lockdownFlags are the lockdown flags with the controllers that have them.
var lockdownFlags = []missingFlag{
	{flagCrossRefs, []string{"kustomize-controller", "helm-controller", "notification-controller",
		"image-reflector-controller", "image-automation-controller", "source-watcher"}},
	{flagRemoteBases, []string{"kustomize-controller"}},
	{flagAccount, []string{"kustomize-controller", "helm-controller"}},
}

// lacks reports whether one of the controllers lacks a flag.
func (l lockdown) lacks(flag string, controllers ...string) bool {
	return slices.ContainsFunc(l.missing, func(m missingFlag) bool {
		return m.flag == flag && slices.ContainsFunc(controllers, func(c string) bool { return slices.Contains(m.controllers, c) })
	})
}

// refusesCrossRefs reports whether Flux is known to reject references to sources in other namespaces.
func (l lockdown) refusesCrossRefs() bool {
	return l.known && !l.lacks(flagCrossRefs, "kustomize-controller", "helm-controller")
}

// lockdownOf returns the lockdown of a cluster.
func lockdownOf(repo *repository.Repository, c *cluster) lockdown {
	for _, find := range []func(*repository.Repository, *cluster) (lockdown, bool){ofInstance, ofDeployments, ofChart, ofBootstrap} {
		if l, ok := find(repo, c); ok {
			l.known = l.why == ""
			return l
		}
	}
	return lockdown{Place: c.Root.Place, why: "the installation of Flux is not in Git"}
}

// ofInstance reads a FluxInstance: one of the cluster's objects, the values of its chart, or the object of the
// cluster's root.
func ofInstance(repo *repository.Repository, c *cluster) (lockdown, bool) {
	for _, o := range c.Objects() {
		var at []any
		switch {
		case o.Group == fluxapi.OperatorGroup && o.Kind == "FluxInstance":
			at = []any{"spec"}
		case o.Group == fluxapi.HelmGroup && o.Kind == "HelmRelease" && o.Field("spec", "values", "instance") != nil:
			at = []any{"spec", "values", "instance"}
		default:
			continue
		}
		l := lockdown{object: o, operator: true}
		l.Place = o.Position(append(at, "cluster", "multitenant")...)
		fields, _ := o.Field(at...).(map[string]any)
		l.readInstance(fields)
		return l, true
	}
	file, ok := repo.File(c.Root.File)
	if !ok {
		return lockdown{}, false
	}
	for _, d := range file.Documents {
		for _, at := range [][]any{{"instance"}, {"spec", "values", "instance"}, {"spec"}} {
			node := d.Lookup(at...)
			if node == nil || repository.Lookup(node, "sync", "path") == nil {
				continue
			}
			value, _ := repository.Value(file.Path, node)
			fields, _ := value.(map[string]any)
			l := lockdown{operator: true, Place: finding.Place{File: file.Path}}
			l.Line, l.Column = repository.Position(node, "cluster", "multitenant")
			l.readInstance(fields)
			return l, true
		}
	}
	return lockdown{}, false
}

// readInstance reads the spec of a FluxInstance.
func (l *lockdown) readInstance(fields map[string]any) {
	cluster, _ := fields["cluster"].(map[string]any)
	if on, _ := cluster["multitenant"].(bool); on {
		l.account, _ = cluster["tenantDefaultServiceAccount"].(string)
		if l.account == "" {
			l.account = "default"
		}
		return
	}
	text, err := yaml.Marshal(fields["kustomize"])
	if err != nil {
		return
	}
	l.readText(string(text))
}

// ofDeployments reads the arguments of the controllers, after patches.
func ofDeployments(repo *repository.Repository, c *cluster) (lockdown, bool) {
	args := map[string][]string{}
	var l lockdown
	for _, o := range c.Objects() {
		if o.Group != appsGroup || o.Kind != "Deployment" || o.Label("app.kubernetes.io/part-of") != "flux" {
			continue
		}
		for i := range o.List("spec", "template", "spec", "containers") {
			args[o.Name] = append(args[o.Name], texts(o, "spec", "template", "spec", "containers", i, "args")...)
		}
		if o.Name == "kustomize-controller" {
			l.object = o
			l.Place = o.Position()
		}
	}
	if l.object == nil {
		return lockdown{}, false
	}
	for _, f := range lockdownFlags {
		m := missingFlag{flag: f.flag}
		for _, controller := range f.controllers {
			set, there := args[controller]
			value, isSet := argument(set, f.flag)
			if there && !isSet {
				m.controllers = append(m.controllers, controller)
			}
			if f.flag == flagAccount && controller == "kustomize-controller" {
				l.account = value
			}
		}
		if len(m.controllers) > 0 {
			l.missing = append(l.missing, m)
		}
	}
	l.pointAtKustomization(repo, path.Dir(l.File))
	return l, true
}

// argument returns the value of a flag in a list of arguments, and whether it is set. The last occurrence counts.
func argument(args []string, flag string) (value string, set bool) {
	name, want, _ := strings.Cut(flag, "=")
	for _, arg := range args {
		flagName, v, hasValue := strings.Cut(arg, "=")
		switch {
		case flagName != name:
		case want == "":
			value, set = v, v != ""
		default:
			value, set = v, !hasValue || v == want
		}
	}
	return value, set
}

// pointAtKustomization moves the place to the kustomization next to generated manifests, because their patches
// belong there.
func (l *lockdown) pointAtKustomization(repo *repository.Repository, dir string) {
	k, ok := repo.KustomizeAt(dir)
	if !ok || k.Document == nil {
		return
	}
	l.File = k.File.Path
	l.Line, l.Column = k.Document.KeyPosition("patches")
	if k.Document.Lookup("patches") == nil {
		l.Line, l.Column = k.Document.KeyPosition("resources")
	}
}

// ofChart reads the values of the community's Helm chart of Flux. Source:
// https://github.com/fluxcd-community/helm-charts, charts/flux2.
func ofChart(_ *repository.Repository, c *cluster) (lockdown, bool) {
	for _, o := range c.Objects() {
		if o.Group != fluxapi.HelmGroup || o.Kind != "HelmRelease" || o.Text("spec", "chart", "spec", "chart") != "flux2" {
			continue
		}
		l := lockdown{object: o}
		l.Place = o.Position("spec", "values", "multitenancy", "enabled")
		if on, _ := o.Field("spec", "values", "multitenancy", "enabled").(bool); on {
			l.account = "default"
			if name := o.Text("spec", "values", "multitenancy", "defaultServiceAccount"); name != "" {
				l.account = name
			}
			return l, true
		}
		l.readText("")
		return l, true
	}
	return lockdown{}, false
}

// ofBootstrap reads the patches in a flux-system folder for which `flux bootstrap` has not yet written the
// manifests.
func ofBootstrap(repo *repository.Repository, c *cluster) (lockdown, bool) {
	if root := c.Kustomizations[0]; root.Failure != nil { // a missing component may lock it down
		why := fmt.Sprintf("Kustomization %s could not be fully built", root)
		return lockdown{Place: c.Root.Place, why: why}, true
	}
	for _, k := range repo.Kustomizes() {
		if k.Spec == nil || !slices.Contains(k.Spec.Resources, "gotk-components.yaml") || c.Root.Path != "." && k.Dir != c.Root.Path && !strings.HasPrefix(k.Dir, c.Root.Path+"/") {
			continue
		}
		var text strings.Builder
		for _, p := range k.Spec.Patches {
			text.WriteString(p.Patch)
			if file, inside := repository.Join(k.Dir, p.Path); inside && p.Path != "" {
				if data, err := repo.ReadFile(file); err == nil {
					text.Write(data)
				}
			}
		}
		var l lockdown
		l.readText(text.String())
		l.pointAtKustomization(repo, k.Dir)
		return l, true
	}
	return lockdown{}, false
}

// readText finds the flags in a patch. It assumes that the patch selects the right controllers.
func (l *lockdown) readText(text string) {
	for _, f := range lockdownFlags {
		name := strings.TrimSuffix(f.flag, "=true")
		if !strings.Contains(text, name) || strings.Contains(text, name+"=false") {
			l.missing = append(l.missing, missingFlag{f.flag, f.controllers[:min(2, len(f.controllers))]})
		}
	}
	if _, rest, ok := strings.Cut(text, flagAccount+"="); ok {
		l.account = strings.TrimRight(strings.Fields(rest + " ")[0], `'",]}`)
	}
}
