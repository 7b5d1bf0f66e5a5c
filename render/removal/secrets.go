package removal

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/strict"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// gatherSecrets finds the Secrets whose files are removed. It skips the Secrets of a tenant that left step by step.
func (r *removal) gatherSecrets(old []generators.Guard) {
	for _, file := range r.Plan.Retired() {
		r.retired[file] = generators.Guard{Kind: generators.GuardSecret, Owner: generators.OwnerPlatform, Secret: named(file), Path: file}
	}
	for _, g := range old {
		if _, goes := r.retired[g.Path]; goes && g.Kind == generators.GuardSecret {
			r.retired[g.Path] = g
		}
		if g.Kind == generators.GuardProduct {
			r.had[g.Cluster] = append(r.had[g.Cluster], g.Product)
		}
	}
	for name := range r.before {
		if _, stays := r.states[name]; !stays {
			r.claim(ofOwner(generators.OwnerTenant + name))
		}
	}
}

// named derives the namespace and name of a Secret from the path of its file, for an inventory without a guard of the
// Secret.
func named(file string) string {
	name, _, _ := strings.Cut(path.Base(file), ".")
	return path.Join(path.Base(path.Dir(file)), name)
}

// claim removes from retired the Secrets that another error names or that may be removed, and returns their files,
// sorted.
func (r *removal) claim(of func(generators.Guard) bool) (claimed []string) {
	for _, file := range slices.Sorted(maps.Keys(r.retired)) {
		if of(r.retired[file]) {
			delete(r.retired, file)
			claimed = append(claimed, file)
		}
	}
	return claimed
}

// ofOwner matches the Secrets of an owner.
func ofOwner(owner string) func(generators.Guard) bool {
	return func(g generators.Guard) bool { return g.Owner == owner }
}

// ofNamespace matches the Secrets of the platform in the namespace of an add-on.
func ofNamespace(namespace string) func(generators.Guard) bool {
	return func(g generators.Guard) bool {
		return path.Dir(g.Secret) == namespace && (g.Owner == generators.OwnerPlatform || strings.HasPrefix(g.Owner, generators.OwnerCluster))
	}
}

// ofGoneNamespace matches the platform's Secrets in a namespace that has no add-on of the specification any more. It
// skips Secrets that the specification declares under the same name in another namespace, without a file there yet.
func (r *removal) ofGoneNamespace(namespace string) func(generators.Guard) bool {
	gone := r.Spec != nil && !slices.ContainsFunc(r.Spec.Addons, func(a *v1alpha1.Addon) bool { return a.Spec.Namespace == namespace })
	within := ofNamespace(namespace)
	return func(g generators.Guard) bool { return gone && within(g) && !r.moves(g) }
}

// moves reports whether the specification declares a Secret of the same name in another namespace, and no file exists
// there.
func (r *removal) moves(old generators.Guard) bool {
	return slices.ContainsFunc(r.Guards, func(text string) bool {
		g, ok := generators.ParseGuard(text)
		return ok && g.Kind == generators.GuardSecret && g.Secret != old.Secret && path.Base(g.Secret) == path.Base(old.Secret) && !r.exists(g.Path)
	})
}

// ofCluster matches the Secrets of a removed cluster, and of the products that were removed with it.
func (r *removal) ofCluster(name string) func(generators.Guard) bool {
	return func(g generators.Guard) bool {
		product, isProduct := strings.CutPrefix(g.Owner, generators.OwnerProduct)
		return g.Owner == generators.OwnerCluster+name || isProduct && slices.Contains(r.had[name], product) && !r.hasProduct(product)
	}
}

// hasProduct reports whether a cluster of the specification has a product.
func (r *removal) hasProduct(name string) bool {
	for cluster := range r.paths {
		if r.now[generators.Guard{Kind: generators.GuardProduct, Cluster: cluster, Product: name}.String()] {
			return true
		}
	}
	return false
}

// secrets returns the errors about declared Secrets that no other error names, one for each.
func (r *removal) secrets() []*strict.Error {
	files := map[string][]string{}
	for file, g := range r.retired {
		if !r.allows(allowSecret, g.Secret) {
			files[g.Secret] = append(files[g.Secret], file)
		}
	}
	var errs []*strict.Error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		errs = append(errs, r.secret(name, files[name]))
	}
	return errs
}

// secret returns the error about removed files of a declared Secret.
func (r *removal) secret(name string, files []string) *strict.Error {
	message := fmt.Sprintf("declared Secret %s was removed from the specification", strict.Quote(name))
	hint := strings.TrimPrefix(lost(files, r.names()), "; ") + "; Flux deletes the Secret on the clusters, and what reads it fails"
	allow := fmt.Sprintf("; save what is needed, and allow it with --allow-removal %s%s", allowSecret, name)
	if now := r.filesOf(name); len(now) > 0 {
		message = fmt.Sprintf("declared Secret %s no longer has the file %s", strict.Quote(name), strings.Join(slices.Sorted(slices.Values(files)), ", "))
		if fresh := slices.DeleteFunc(now, r.exists); len(fresh) > 0 {
			hint = fmt.Sprintf("\"fleetwright secrets sync\" would generate other values for %s: move the file there first and run \"fleetwright secrets updatekeys\"", output.List(fresh))
			allow = strings.Replace(allow, "; save what is needed, and", "; or", 1)
		}
	}
	return &strict.Error{Object: v1alpha1.KindEncryption + " Secret " + name, Message: message, Hint: hint + allow}
}

// filesOf returns the files of a declared Secret in the specification, sorted.
func (r *removal) filesOf(name string) (files []string) {
	for _, text := range r.Guards {
		if g, ok := generators.ParseGuard(text); ok && g.Kind == generators.GuardSecret && g.Secret == name {
			files = append(files, g.Path)
		}
	}
	return files
}

// exists reports whether a plan contains a file with the mode Carried.
func (r *removal) exists(file string) bool {
	return slices.ContainsFunc(r.Plan.Steps, func(s tree.Step) bool { return s.Path == file && s.Mode == tree.Carried })
}
