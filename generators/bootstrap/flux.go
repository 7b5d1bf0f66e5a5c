package bootstrap

import (
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/addon"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/manifest"
)

// synced are the objects through which Flux gets its configuration from Git, with the time to wait for each, in order:
// the FluxInstance, which is ready after it has created the others, the source, and the first Kustomization.
var synced = []struct{ object, timeout string }{
	{"fluxinstance.fluxcd.controlplane.io/flux", "10m"},
	{"gitrepository.source.toolkit.fluxcd.io/" + emit.FluxSync, "5m"},
	{"kustomization.kustomize.toolkit.fluxcd.io/" + emit.FluxSync, "10m"},
}

// waitForFlux returns hooks that wait until Flux has applied the repository.
func waitForFlux() []hook {
	var hooks []hook
	for _, s := range synced {
		hooks = append(hooks, kubectl("postsync", "wait", "--namespace="+emit.FluxNamespace, "--for=condition=Ready", "--timeout="+s.timeout, s.object))
	}
	return hooks
}

// installsFlux reports whether the bootstrap creates the FluxInstance, as a release of its chart or by a hook
// that applies it.
func installsFlux(places map[string]*addon.Placed) bool {
	for _, p := range places {
		b := p.Addon.Spec.Bootstrap
		if b == nil || p.Release == "" {
			continue
		}
		if p.Addon.Metadata.Name == layout.FluxInstance || slices.ContainsFunc(b.Hooks, func(h v1alpha1.BootstrapHook) bool { return h.Apply == layout.FluxInstance }) {
			return true
		}
	}
	return false
}

// makefile returns the Makefile with the commands that bootstrap a cluster and check it. Helm 4 uses
// server-side apply, which conflicts with the fields that Flux owns after it has taken a release over; the
// Makefile passes a flag for that. Helm 3 does not have this flag.
func makefile(c *v1alpha1.Cluster, dir string, places map[string]*addon.Placed, crds bool) []byte {
	var b strings.Builder
	run := "# Run: make -C " + dir + " boot check\n"
	instance := installsFlux(places)
	if !instance {
		run = "# Run: make -C " + dir + " boot\n# Then bootstrap Flux, and run: make -C " + dir + " check\n"
	}
	b.WriteString("# " + manifest.Header + "\n" +
		"# Prepares cluster " + c.Metadata.Name + " for Flux with Helm 3 or Helm 4, in kubectl's current context.\n" +
		run + "SHELL := bash\n.SHELLFLAGS := -euo pipefail -c\n\n" +
		"SYNC_ARGS = $(if $(filter v4.%,$(shell helm version --template '{{.Version}}')),--sync-args=--force-conflicts)\n\n" +
		".PHONY: boot\nboot:\n")
	if crds {
		b.WriteString("\thelmfile --file crds.yaml template --quiet | yq 'select(.kind == \"CustomResourceDefinition\")' | kubectl apply --server-side --filename -\n")
	}
	b.WriteString("\thelmfile --file helmfile.yaml sync $(SYNC_ARGS)\n\n.PHONY: check\ncheck:\n")
	wait := "\tkubectl --namespace=" + emit.FluxNamespace + " wait "
	for _, s := range synced {
		if instance || !strings.HasPrefix(s.object, "fluxinstance.") {
			b.WriteString(wait + s.object + " --for=condition=Ready --timeout=" + s.timeout + "\n")
		}
	}
	b.WriteString(wait + "kustomization.kustomize.toolkit.fluxcd.io --all --for=condition=Ready --timeout=15m\n")
	return []byte(b.String())
}
