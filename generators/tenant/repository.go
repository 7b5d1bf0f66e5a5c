package tenant

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	kustypes "sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/encryption"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// targetBranch is the branch of a generated repository whose tenant deploys tags.
const targetBranch = "main"

// Targets generates the repository, or the branch of the platform repository, of each active tenant that
// deploys from Git, sorted by name. It returns an error if two tenants share a branch, because the files of one
// would replace those of the other.
func Targets(spec *v1alpha1.Spec) ([]tree.Target, error) {
	var tenants []*v1alpha1.Tenant
	owners := map[[2]string]string{}
	for _, t := range spec.Tenants {
		if !hasTarget(t) {
			continue
		}
		at := [2]string{t.Spec.Source.URL, branch(t)}
		if other, taken := owners[at]; taken {
			return nil, fmt.Errorf("tenants %q and %q are both generated on branch %q of %s: use a separate branch or repository for each (spec.source)",
				other, t.Metadata.Name, at[1], at[0])
		}
		owners[at] = t.Metadata.Name
		tenants = append(tenants, t)
	}
	targets := make([]tree.Target, len(tenants))
	for i, files := range eachTenant(tenants, func(t *v1alpha1.Tenant) *emit.Files { return repository(spec, t) }) {
		t := tenants[i]
		if err := files.Err(); err != nil {
			return nil, fmt.Errorf("tenant %q: %w", t.Metadata.Name, err)
		}
		targets[i] = tree.Target{
			Name: "tenant-" + t.Metadata.Name,
			URL:  t.Spec.Source.URL, Branch: branch(t),
			Orphan:  spec.OnPlatformRepository(t),
			Applied: appliedFolders(spec, t),
			Tree:    files.Tree,
		}
	}
	return targets, nil
}

func branch(t *v1alpha1.Tenant) string { return cmp.Or(t.Spec.Source.Branch, targetBranch) }

// appliedFolders returns the folders of a tenant's repository that Flux applies to clusters, sorted.
func appliedFolders(spec *v1alpha1.Spec, t *v1alpha1.Tenant) []string {
	folders := []string{}
	for _, on := range spec.TenantClusters(t) {
		folders = append(folders, path.Clean(on.Path))
	}
	return emit.Sorted(folders)
}

// repository returns a tenant's repository: a base with a starter, a folder for each path that is applied to a
// cluster, and the files for users and CI. The tenant may change all of it.
func repository(spec *v1alpha1.Spec, t *v1alpha1.Tenant) *emit.Files {
	out := emit.New()
	shared := path.Join(t.Spec.Source.Path, "base")
	folders := appliedFolders(spec, t)
	if hasStarter(t) {
		starter(out, spec, t, shared)
	}
	for _, dir := range folders {
		if dir != shared && hasStarter(t) {
			environmentFolder(out, t, dir, shared)
		}
	}
	sops, err := encryption.Tenant(spec, t, append(folders, shared)...)
	out.Fail(err)
	out.Text(encryption.File, tree.Managed, sops)
	out.YAML(boundaryFile, tree.Managed, boundaryComment, boundaryOf(spec, t, folders))
	out.CI(t.Spec.Source.URL, "", []string{"fleetwright-secrets", "fleetwright-validate"}, []string{"validate"})
	out.Text("README.md", tree.Once, readme(spec, t, shared))
	out.Ignore()
	return out
}

// environmentFolder writes a folder that a cluster applies: a reference to the base, and a patch with the
// differences.
func environmentFolder(out *emit.Files, t *v1alpha1.Tenant, dir, shared string) {
	out.YAML(path.Join(dir, "starter-patch.yaml"), tree.Once, "Differences from the base.", starterPatch(t, dir))
	out.YAML(path.Join(dir, "kustomization.yaml"), tree.Once, "", emit.Kustomization{
		APIVersion: kustypes.KustomizationVersion, Kind: kustypes.KustomizationKind,
		Resources: []string{emit.Relative(dir, shared)},
		Patches:   []kustypes.Patch{{Path: "starter-patch.yaml"}},
	})
}

// readme returns the README of the tenant's repository, which describes what the platform applies and allows.
func readme(spec *v1alpha1.Spec, t *v1alpha1.Tenant, shared string) []byte {
	var b strings.Builder
	name := t.Metadata.Name
	fmt.Fprintf(&b, "# %s\n\nWhat tenant `%s` deploys. Flux applies a folder of this repository to each cluster:\n\n", name, name)
	b.WriteString("| Cluster | Folder |\n|---|---|\n")
	for _, on := range spec.TenantClusters(t) {
		fmt.Fprintf(&b, "| %s | `%s` |\n", on.Cluster, on.Path)
	}
	if hasStarter(t) {
		fmt.Fprintf(&b, "\n`%s` contains what they share, with a small web server as a starting point: replace it.\n", shared)
	}
	b.WriteString("\n## Rules\n\n")
	if len(t.Spec.Namespaces) == 1 {
		fmt.Fprintf(&b, "- Everything is applied to namespace `%s`.\n", t.Spec.Namespaces[0])
	} else {
		fmt.Fprintf(&b, "- Each object names its namespace, one of `%s`.\n", strings.Join(t.Spec.Namespaces, "`, `"))
	}
	fmt.Fprintf(&b, "- A HelmRelease and a Kustomization set `spec.serviceAccountName: %s`.\n", helmAccount(t))
	b.WriteString("- Sources use only URLs that the platform allows:\n")
	for _, url := range append([]string{t.Spec.Source.URL}, t.Spec.AllowedSources...) {
		fmt.Fprintf(&b, "  - `%s`\n", url)
	}
	if len(t.Spec.Hosts) == 0 {
		b.WriteString("- There are no Ingresses or routes: the platform allows no hosts.\n")
	} else {
		fmt.Fprintf(&b, "- Each Ingress and route names its hosts, out of `%s`.\n", strings.Join(t.Spec.Hosts, "`, `"))
	}
	b.WriteString("- There are no cluster-scoped objects, no remote bases, and no sources in other namespaces.\n" +
		"- Pods meet the pod-security level `" + string(t.Spec.PodSecurity) + "`, stay within the quota, and reach only DNS, their own\n" +
		"  namespace and what the platform allows.\n" +
		"- A Secret is committed only when `sops` has encrypted it, in a file that ends in `.sops.yaml`.\n\n" +
		"## Before you push\n\n    fleetwright validate\n")
	return []byte(b.String())
}
