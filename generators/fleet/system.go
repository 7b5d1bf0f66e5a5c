package fleet

import (
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/fluxcd/flux2/v2/pkg/manifestgen/sync"
	"go.yaml.in/yaml/v3"
	kustypes "sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/encryption"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/manifest"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// Files of flux-system, as `flux bootstrap` names them.
const (
	componentsFile = "gotk-components.yaml"
	syncFile       = "gotk-sync.yaml"
	// Settings is the kustomize component with Fleetwright's changes to Flux. It is separate because
	// kustomization.yaml belongs to the user.
	Settings = "fleetwright"
)

// AdoptedPaths returns the paths of the clusters' gotk-components.yaml, which `flux bootstrap` also writes.
func AdoptedPaths(spec *v1alpha1.Spec) []string {
	if spec.Fleet.Spec.Flux.Install != v1alpha1.InstallBootstrap {
		return nil
	}
	var paths []string
	for _, c := range spec.Clusters {
		paths = append(paths, path.Join(systemDir(c), componentsFile))
	}
	return paths
}

// SystemPaths returns the kustomization.yaml files of the clusters' flux-system folders, which name the component
// Settings. It returns none if Flux is installed in another way, or if the specification changes nothing in Flux.
func SystemPaths(spec *v1alpha1.Spec) []string {
	if spec.Fleet.Spec.Flux.Install != v1alpha1.InstallBootstrap || len(patches(spec)) == 0 {
		return nil
	}
	var paths []string
	for _, c := range spec.Clusters {
		paths = append(paths, path.Join(systemDir(c), "kustomization.yaml"))
	}
	return paths
}

// NamesSettings reports whether a kustomization lists the component Settings. A file that is not a
// kustomization lists nothing.
func NamesSettings(kustomization []byte) bool {
	var k struct {
		Components []string `yaml:"components"`
	}
	return yaml.Unmarshal(kustomization, &k) == nil &&
		slices.ContainsFunc(k.Components, func(c string) bool { return path.Clean(c) == Settings })
}

func systemDir(c *v1alpha1.Cluster) string { return path.Join(c.Spec.Path, layout.FluxNamespace) }

// system writes the flux-system folder of a cluster that is bootstrapped with
// `flux bootstrap`.
func system(out *emit.Files, spec *v1alpha1.Spec, c *v1alpha1.Cluster, opts Options) {
	dir := systemDir(c)
	components(out, path.Join(dir, componentsFile), opts)
	repository := spec.Fleet.Spec.Repository
	so := sync.MakeDefaultOptions()
	so.URL, so.Branch, so.TargetPath = repository.URL, repository.Branch, c.Spec.Path
	so.Interval, _ = time.ParseDuration(string(c.Spec.Sync.Interval))
	if repository.SecretRef != nil { // the default is the name that flux bootstrap uses
		so.Secret = repository.SecretRef.Name
	}
	generated, err := sync.Generate(so)
	if err != nil {
		out.Fail(fmt.Errorf("generating Flux's sync of cluster %q: %w", c.Metadata.Name, err))
		return
	}
	out.Text(path.Join(dir, syncFile), tree.Managed, []byte(generated.Content))

	k := emit.Kustomization{
		APIVersion: kustypes.KustomizationVersion, Kind: kustypes.KustomizationKind,
		Resources: []string{componentsFile, syncFile}, Components: []string{Settings},
	}
	// The component is always written, because the user's kustomization names it. It always has a field,
	// because kustomize rejects an empty one.
	out.Objects(path.Join(dir, Settings, "kustomization.yaml"),
		"Changes of the specification to Flux: multi-tenancy lockdown and decryption.",
		emit.Kustomization{
			APIVersion: kustypes.ComponentVersion, Kind: kustypes.ComponentKind,
			Metadata: map[string]string{"name": Settings}, Patches: patches(spec),
		})
	out.YAML(path.Join(dir, "kustomization.yaml"), tree.Once,
		"This file is yours: neither Fleetwright nor `flux bootstrap` overwrites it.\nPut your patches of Flux here.", k)
}

func components(out *emit.Files, file string, opts Options) {
	content := opts.FluxComponents
	if content == nil {
		content = opts.Adopted[file]
	}
	if content == nil {
		out.Fail(fmt.Errorf("%s is missing: run `flux bootstrap` first and it is kept as it is, "+
			"or pass Flux's manifests with --flux-manifests DIR (manifests.tar.gz of the Flux release, unpacked)", file))
		return
	}
	out.Text(file, tree.Adopted, content)
}

// lockdownFlags are the flags of Flux's multi-tenancy lockdown, with the controllers that have them
// (https://fluxcd.io/flux/installation/configuration/multitenancy/).
var lockdownFlags = []struct{ controllers, flag string }{
	{"(kustomize-controller|helm-controller|notification-controller|image-reflector-controller|image-automation-controller|source-watcher)", "--no-cross-namespace-refs=true"},
	{"kustomize-controller", "--no-remote-bases=true"},
	{"(kustomize-controller|helm-controller)", "--default-service-account=default"},
}

// patch is an RFC 6902 operation.
type patch struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// patches returns the specification's changes to Flux's own manifests.
func patches(spec *v1alpha1.Spec) []kustypes.Patch {
	var out []kustypes.Patch
	root := &kustypes.Selector{}
	root.Kind, root.Name = "Kustomization", emit.FluxSync
	var rootPatch []patch
	if *spec.Fleet.Spec.MultiTenancy.Lockdown {
		for _, f := range lockdownFlags {
			target := &kustypes.Selector{}
			target.Kind, target.Name = "Deployment", f.controllers
			out = append(out, kustypes.Patch{
				Target: target,
				Patch:  operations(patch{"add", "/spec/template/spec/containers/0/args/-", f.flag}),
			})
		}
		rootPatch = append(rootPatch, patch{"add", "/spec/serviceAccountName", "kustomize-controller"})
	}
	if d := encryption.Decryption(spec); d != nil {
		rootPatch = append(rootPatch, patch{"add", "/spec/decryption", d})
	}
	if len(rootPatch) > 0 {
		out = append(out, kustypes.Patch{Target: root, Patch: operations(rootPatch...)})
	}
	return out
}

func operations(list ...patch) string {
	text, err := manifest.YAML("", list)
	if err != nil { // the patch contains only our own types
		panic(err)
	}
	return string(text)
}
