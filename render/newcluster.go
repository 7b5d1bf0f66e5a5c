package render

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/encryption"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// NewCluster is a cluster whose first files a plan writes, with the commands that set it up: they create what Flux needs
// to read Git, run the bootstrap, and check the result. They run with kubectl's context set to the cluster, after its
// files are pushed.
type NewCluster struct {
	Name     string
	Commands []string
}

// NewClusters returns the clusters whose first files a plan writes, by name. keyFile returns the file with a
// cluster's private age key.
func NewClusters(spec *v1alpha1.Spec, target tree.Target, plan *tree.Plan, keyFile func(cluster string) string) []NewCluster {
	if spec == nil || target.Name != generators.PlatformTarget || plan == nil {
		return nil
	}
	lay := layout.For(spec.Fleet.Spec.Layout)
	var all []NewCluster
	for _, c := range spec.Clusters {
		if isNew(c, plan) {
			all = append(all, NewCluster{Name: c.Metadata.Name, Commands: setupCommands(spec, target, c, lay.Bootstrap(c), keyFile(c.Metadata.Name))})
		}
	}
	return all
}

// isNew reports whether a plan creates all files in the folder of a cluster. Files that flux bootstrap may also
// write do not count.
func isNew(c *v1alpha1.Cluster, plan *tree.Plan) bool {
	found := false
	for _, step := range plan.Steps {
		if step.Mode != tree.Managed || !strings.HasPrefix(step.Path, path.Clean(c.Spec.Path)+"/") {
			continue
		}
		if found = true; step.Action != tree.Create {
			return false
		}
	}
	return found
}

// setupCommands returns the commands for a new cluster, in order: those of docs/first-cluster.md from the creation
// of the namespace on.
func setupCommands(spec *v1alpha1.Spec, target tree.Target, c *v1alpha1.Cluster, bootstrap, keyFile string) []string {
	fleet := spec.Fleet.Spec
	commands := []string{"kubectl create namespace " + layout.FluxNamespace}
	if d := encryption.Decryption(spec); d != nil && d.SecretRef != nil {
		commands = append(commands, fmt.Sprintf("kubectl create secret generic %s --namespace=%s --from-file=age.agekey=%s", d.SecretRef.Name, layout.FluxNamespace, keyFile))
	}
	if ref := fleet.Repository.SecretRef; ref != nil {
		commands = append(commands, readGit(spec, c, ref.Name))
	}
	file := path.Join(bootstrap, "Makefile")
	boots := false
	for f := range target.Tree.All() {
		boots = boots || f.Path == file
	}
	if boots {
		commands = append(commands, "fleetwright bootstrap verify", "make -C "+bootstrap+" boot")
	}
	if fleet.Flux.Install == v1alpha1.InstallBootstrap {
		commands = append(commands, fluxBootstrap(fleet.Repository, c))
	}
	for _, product := range spec.ProductsOn(c) {
		if what := product.ByHand(); what != "" {
			commands = append(commands, "# "+what)
		}
	}
	if boots {
		commands = append(commands, "make -C "+bootstrap+" check")
	} else {
		commands = append(commands, fmt.Sprintf(allReady, "--namespace="+layout.FluxNamespace))
	}
	// The namespaces and Kustomizations of tenants exist only after the platform's Kustomizations are ready.
	return append(append(commands, readTenants(spec, c)...), fmt.Sprintf(allReady, "--all-namespaces"))
}

// readTenants returns the commands that create the Secrets with which Flux reads the repositories of a cluster's tenants, except
// those that the specification declares: Flux applies them.
func readTenants(spec *v1alpha1.Spec, c *v1alpha1.Cluster) []string {
	var commands []string
	for _, t := range spec.Tenants {
		source := t.Spec.Source
		on := slices.ContainsFunc(spec.TenantClusters(t), func(on v1alpha1.TenantCluster) bool { return on.Cluster == c.Metadata.Name })
		if !on || t.Spec.State != v1alpha1.StateActive || source.Kind != v1alpha1.SourceGit || source.SecretRef == nil {
			continue
		}
		if secretFile(spec, c, t.Spec.SyncNamespace, source.SecretRef.Name) == "" {
			commands = append(commands, createCredentials(source.SecretRef.Name, t.Spec.SyncNamespace, source.URL))
		}
	}
	return commands
}

// fluxBootstrap returns the command that installs Flux. Without --token-auth, flux turns an https:// URL into an ssh:// one with a
// key of its own.
func fluxBootstrap(r v1alpha1.Repository, c *v1alpha1.Cluster) string {
	flags, note := "", "then revoke a token that was needed for this"
	if !strings.HasPrefix(r.URL, "ssh://") {
		flags = " --token-auth"
		note = "asks for the token, or reads it from GIT_PASSWORD, and keeps it in the Secret: exchange it there for one that can only read"
	}
	if r.SecretRef != nil && r.SecretRef.Name != layout.FluxNamespace {
		flags += " --secret-name=" + r.SecretRef.Name
	}
	return fmt.Sprintf("flux bootstrap git --url=%s --branch=%s --path=%s%s  # %s", r.URL, r.Branch, path.Clean(c.Spec.Path), flags, note)
}

// allReady is the command that waits for all Kustomizations of a scope.
const allReady = "kubectl wait kustomization.kustomize.toolkit.fluxcd.io --all %s --for=condition=Ready --timeout=15m"

// readGit returns the command that creates the Secret with which Flux reads the platform repository. If the specification
// declares the Secret, the command applies its file in Git.
func readGit(spec *v1alpha1.Spec, c *v1alpha1.Cluster, name string) string {
	if file := secretFile(spec, c, layout.FluxNamespace, name); file != "" {
		return "sops --decrypt " + file + " | kubectl apply --server-side --filename=-"
	}
	return createCredentials(name, layout.FluxNamespace, spec.Fleet.Spec.Repository.URL)
}

// secretFile returns the file of a Secret that the specification declares for a cluster, "" if it declares none.
func secretFile(spec *v1alpha1.Spec, c *v1alpha1.Cluster, namespace, name string) string {
	for _, f := range generators.SecretFiles(spec) {
		if f.Secret.Namespace == namespace && f.Secret.Name == name && slices.Contains(f.Clusters, c.Metadata.Name) {
			return f.Path
		}
	}
	return ""
}

// createCredentials returns the command that creates the Secret with the credentials for a Git repository.
func createCredentials(name, namespace, url string) string {
	keys := "--from-file=identity --from-file=known_hosts"
	if !strings.HasPrefix(url, "ssh://") {
		keys = "--from-literal=username=git --from-file=password"
	}
	return fmt.Sprintf("kubectl create secret generic %s --namespace=%s %s  # the credentials of %s", name, namespace, keys, cmp.Or(url, "the repository"))
}
