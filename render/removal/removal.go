// Package removal refuses a render that accidentally removes what cannot be recovered: a cluster, a platform product or a
// part of it, the stored data of an add-on, a tenant from a cluster or a namespace of it, or a declared Secret.
package removal

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/strict"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// Prefixes of the names in Change.Allowed.
const (
	allowCluster = "cluster/"
	allowAddon   = "addon/"
	allowProduct = "product/"
	allowTenant  = "tenant/"
	allowSecret  = "secret/"
)

// allowable lists the known prefixes; wanted lists them for messages.
var allowable = []string{allowCluster, allowAddon, allowProduct, allowTenant, allowSecret}

const wanted = "cluster/NAME, addon/NAME, product/NAME, tenant/NAME or secret/NAMESPACE/NAME"

// Change describes how a render changes the platform repository.
type Change struct {
	// Spec is the specification, or nil if it is unknown.
	Spec *v1alpha1.Spec
	// Guards are the guards of the specification, and Tenants its tenants.
	Guards  []string
	Tenants []tree.TenantState
	// Allowed lists what may be removed together with all data that this loses: cluster/NAME, addon/NAME, product/NAME,
	// tenant/NAME or secret/NAMESPACE/NAME.
	Allowed []string
	// Inventory is the inventory of the last render, and Plan lists the files that this render writes and deletes.
	Inventory *tree.Inventory
	Plan      *tree.Plan
}

// removal collects the guards of an inventory that a specification no longer has. A guard protects something
// that must not be removed by accident.
type removal struct {
	Change
	// now holds the guards of the specification, and paths the folders of its clusters.
	now   map[string]bool
	paths map[string]string
	// clusters are the removed clusters, and moved the clusters whose folder changed. Both map a name to the former folder.
	clusters, moved map[string]string
	// renamed maps removed clusters to the new cluster with the same folder.
	renamed map[string]string
	// created are the new clusters.
	created []string
	// held lists, for each removed cluster, its platform products, and its add-ons by the data that they store.
	held map[string]map[string][]string
	// off maps tenants, and namespaces of tenants, to the remaining clusters that they leave. states and before are the
	// states of the tenants by name, now and at the last render.
	off            map[residence][]string
	states, before map[string]string
	// losses are the kinds of data that are lost with the releases of add-ons, with the clusters.
	losses map[release]map[string][]string
	// products are the removed products, and the removed parts of remaining ones.
	products []generators.Guard
	// upgrades are the objects that kcm does not upgrade although its version changed.
	upgrades []generators.Guard
	// had lists the products of each cluster at the last render.
	had map[string][]string
	// retired maps the files that are removed to the guards of their Secrets, as long as no error names the file.
	retired map[string]generators.Guard
}

// release is a Helm release of an add-on.
type release struct{ addon, name string }

// Check refuses a change that removes a cluster, a platform product or a part of it, the stored data of an add-on, a
// tenant from a cluster, or a declared Secret, unless Allowed names it. The error is strict.Errors, or an error about
// Allowed.
func Check(c Change) error {
	for _, name := range c.Allowed {
		if kind, what, _ := strings.Cut(name, "/"); what == "" || !slices.Contains(allowable, kind+"/") {
			return advice.Input(fmt.Errorf("allowed removal %q: want %s", name, wanted), "")
		}
	}
	r := &removal{
		Change: c, now: map[string]bool{}, paths: map[string]string{}, clusters: map[string]string{}, moved: map[string]string{},
		renamed: map[string]string{}, held: map[string]map[string][]string{}, losses: map[release]map[string][]string{},
		off: map[residence][]string{}, states: states(c.Tenants), before: states(c.Inventory.Tenants), had: map[string][]string{}, retired: map[string]generators.Guard{},
	}
	r.gather()
	if errs := r.errors(); len(errs) > 0 {
		return strict.Errors(errs)
	}
	return nil
}

// errors returns the errors about the removed objects: clusters first, then products, add-ons, tenants, and the Secrets
// that none of these errors names.
func (r *removal) errors() []*strict.Error {
	var errs []*strict.Error
	for _, name := range slices.Sorted(maps.Keys(r.clusters)) {
		errs = append(errs, r.cluster(name))
	}
	for _, name := range slices.Sorted(maps.Keys(r.moved)) {
		errs = append(errs, r.movedCluster(name))
	}
	for _, g := range r.products {
		errs = append(errs, r.product(g))
	}
	for _, g := range r.upgrades {
		errs = append(errs, upgrade(g))
	}
	for _, rel := range slices.SortedFunc(maps.Keys(r.losses), func(a, b release) int {
		return cmp.Or(cmp.Compare(a.addon, b.addon), cmp.Compare(a.name, b.name))
	}) {
		errs = append(errs, r.addon(rel)...)
	}
	for _, from := range slices.SortedFunc(maps.Keys(r.off), func(a, b residence) int {
		return cmp.Or(cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.namespace, b.namespace))
	}) {
		errs = append(errs, r.tenant(from))
	}
	return append(errs, r.secrets()...)
}

// allows reports whether Allowed names an object.
func (r *removal) allows(prefix, name string) bool { return slices.Contains(r.Allowed, prefix+name) }

// gather compares the guards of the last render with those of the current one.
func (r *removal) gather() {
	folders := map[string]string{}
	for _, text := range r.Guards {
		r.now[text] = true
		if g, ok := generators.ParseGuard(text); ok && g.Kind == generators.GuardCluster {
			r.paths[g.Cluster], folders[g.Path] = g.Path, g.Cluster
		}
	}
	var old []generators.Guard
	before := map[string]bool{}
	for _, text := range r.Inventory.Guards {
		if g, ok := generators.ParseGuard(text); ok {
			old, before[g.Cluster] = append(old, g), true
		}
	}
	for _, g := range old {
		if now := folders[g.Path]; g.Kind == generators.GuardCluster && r.paths[g.Cluster] == "" && now != "" && !before[now] {
			r.renamed[g.Cluster] = now
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.paths)) {
		if !before[name] {
			r.created = append(r.created, name)
		}
	}
	r.gatherSecrets(old)
	for _, g := range old {
		if !r.now[g.String()] && g.Kind != generators.GuardSecret {
			r.compare(g)
		}
	}
}

// compare records what clusters lose with a guard that only the last render has.
func (r *removal) compare(g generators.Guard) {
	_, stays := r.paths[g.Cluster]
	to, renamed := r.renamed[g.Cluster]
	switch {
	case g.Kind == generators.GuardCluster && r.allows(allowCluster, g.Cluster):
		if !stays {
			r.claim(r.ofCluster(g.Cluster))
		}
	case g.Kind == generators.GuardCluster && stays:
		r.moved[g.Cluster] = g.Path
	case g.Kind == generators.GuardCluster:
		r.clusters[g.Cluster] = g.Path
	case !stays && !renamed:
		if !r.allows(allowCluster, g.Cluster) {
			r.hold(g)
		}
	default:
		if renamed { // Flux still syncs the folder, and deletes the objects that the new cluster does not have
			g.Cluster = to
		}
		if !r.now[g.String()] {
			r.lose(g)
		}
	}
}

// hold records what a removed cluster contains.
func (r *removal) hold(g generators.Guard) {
	if toggle, _ := g.CreatedOnce(); toggle != "" || g.Namespace != "" {
		return
	}
	what, name := g.Loses, g.Addon
	switch g.Kind {
	case generators.GuardProduct:
		what, name = "", path.Join(g.Product, g.Part)
	case generators.GuardTenant:
		what, name = tenants, g.Tenant
	}
	if r.held[g.Cluster] == nil {
		r.held[g.Cluster] = map[string][]string{}
	}
	r.held[g.Cluster][what] = append(r.held[g.Cluster][what], name)
}

// lose records what a remaining cluster loses.
func (r *removal) lose(g generators.Guard) {
	whole := generators.Guard{Kind: g.Kind, Cluster: g.Cluster, Product: g.Product}
	switch {
	case r.upgraded(g):
	case g.Kind == generators.GuardProduct:
		allowed := r.allows(allowProduct, g.Product) || r.allows(allowProduct, path.Join(g.Product, g.Part))
		switch {
		case allowed && g.Part == "":
			r.claim(ofOwner(generators.OwnerProduct + g.Product))
		case allowed:
		case g.Part == "" || r.now[whole.String()]:
			r.products = append(r.products, g)
		}
	case g.Kind == generators.GuardTenant:
		r.leave(g)
	case r.Spec != nil && generators.Stays(r.Spec, g):
	case r.allows(allowAddon, g.Addon):
		r.claim(r.ofGoneNamespace(path.Dir(g.Release)))
	default:
		rel := release{g.Addon, g.Release}
		if r.losses[rel] == nil {
			r.losses[rel] = map[string][]string{}
		}
		r.losses[rel][g.Cluster] = append(r.losses[rel][g.Cluster], g.Loses)
	}
}

// keeps describes what Flux does on a cluster after its folder is removed from Git.
func keeps(path string) string {
	return fmt.Sprintf("Flux deletes nothing there: the path ./%s disappears, so that its Kustomization fails and the cluster keeps what runs, without updates", path)
}

// holding describes what a removed cluster contains, as far as the guards show it.
func (r *removal) holding(name string) string {
	held := r.held[name]
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(held)) {
		if what == tenants || what == unknown {
			continue
		}
		names := slices.Compact(slices.Sorted(slices.Values(held[what])))
		parts = append(parts, strings.TrimPrefix(strings.ReplaceAll(what, "-", " ")+" of ", " of ")+output.List(names))
	}
	if len(held[tenants]) > 0 {
		parts = append(parts, "the objects of tenants on it: "+output.List(held[tenants]))
	}
	charts := "charts"
	if names := held[unknown]; len(names) > 0 {
		charts = "the charts of " + output.List(slices.Compact(slices.Sorted(slices.Values(names))))
	}
	parts = append(parts, "the volumes and load balancers that "+charts+" ask for by default, which the specification does not show")
	return "it holds " + strings.Join(parts, "; ")
}

func (r *removal) cluster(name string) *strict.Error {
	secrets := r.claim(r.ofCluster(name))
	e := &strict.Error{
		Object:  v1alpha1.KindCluster + " " + name,
		Message: fmt.Sprintf("cluster %s was removed from the specification: %d files of the platform repository would be deleted", strict.Quote(name), r.Plan.Summary().Deleted),
	}
	to, action := r.renamed[name], ""
	if to == "" {
		e.Hint, action = keeps(r.clusters[name])+"; "+r.holding(name), "; delete the cluster with its volumes and load balancers first, and"
		if len(r.created) == 1 && len(r.clusters) == 1 {
			e.Hint = fmt.Sprintf("if the cluster is now called %s, keep its folder: write spec.path: %s in Cluster %s. Otherwise ", r.created[0], r.clusters[name], r.created[0]) + e.Hint
		}
	} else {
		e.Message = fmt.Sprintf("cluster %s was removed from the specification, and cluster %s has its folder", strict.Quote(name), strict.Quote(to))
		e.Hint = "Flux on the cluster then applies the files of " + to
	}
	if len(secrets) > 0 {
		e.Hint += lost(secrets, r.names())
		if to == "" && len(r.created) == 1 && len(r.clusters) == 1 {
			to = r.created[0]
		}
		if to != "" {
			e.Hint += fmt.Sprintf("; if the cluster is now called %s, move these files into its folder first and run \"fleetwright secrets updatekeys\": \"fleetwright secrets sync\" would generate other values",
				strict.Quote(to))
		}
	}
	e.Hint += cmp.Or(action, ";") + fmt.Sprintf(" allow it with --allow-removal %s%s", allowCluster, name)
	return e
}

func (r *removal) movedCluster(name string) *strict.Error {
	return &strict.Error{
		Object:  v1alpha1.KindCluster + " " + name,
		Message: fmt.Sprintf("the folder of cluster %s was changed, but Flux on the cluster syncs %s", strict.Quote(name), strict.Quote(r.moved[name])),
		Hint: keeps(r.moved[name]) + fmt.Sprintf("; set spec.path to %s, or allow it with --allow-removal %s%s and then change the path on the cluster (the FluxInstance, or flux bootstrap)",
			strict.Quote(r.moved[name]), allowCluster, name),
	}
}

// product returns the error about a removed platform product, or a removed part of it.
func (r *removal) product(g generators.Guard) *strict.Error {
	name, message := path.Join(g.Product, g.Part), fmt.Sprintf("%s was removed from cluster %s of the specification", g.Product, strict.Quote(g.Cluster))
	hint := "Flux deletes nothing of it (deletionPolicy: Orphan): the cluster keeps what runs, without updates"
	if kind, part, isPart := strings.Cut(g.Part, "/"); isPart {
		message = fmt.Sprintf("%s %s of %s was removed from the specification", kind, strict.Quote(part), g.Product)
		hint = "Flux deletes the object, and " + g.Product + " then what it has on clusters: namespaces, with the workloads and volumes in them, or whole clusters"
	}
	if g.Part == "" { // a part of a product has no Secrets of its own
		hint += lost(r.claim(ofOwner(generators.OwnerProduct+g.Product)), r.names())
	}
	return &strict.Error{
		Object: g.Product + " on cluster " + g.Cluster, Message: message,
		Hint: hint + fmt.Sprintf("; save what is needed, and allow it with --allow-removal %s%s", allowProduct, name),
	}
}

// lossOf describes what happens to the data of an add-on, by kind of data.
var lossOf = map[string]string{
	"volumes":        "PersistentVolumeClaims of the chart, and with most storage classes their data (Helm keeps those of StatefulSets)",
	"load-balancers": "load balancers and their addresses",
	"data":           "data, as spec.stateful said",
	unknown:          "whatever its chart stores by default, which the specification does not show",
}

// unknown is the kind of data of an add-on whose chart alone determines what it stores.
const unknown = "unknown"

// addon returns the errors about a removed release: clusters that lose the same data share one error.
func (r *removal) addon(rel release) []*strict.Error {
	clusters := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(r.losses[rel])) {
		what := strings.Join(slices.Sorted(slices.Values(r.losses[rel][name])), ",")
		clusters[what] = append(clusters[what], name)
	}
	namespace, _, _ := strings.Cut(rel.name, "/")
	var errs []*strict.Error
	for _, all := range slices.Sorted(maps.Keys(clusters)) {
		var what, deleted []string
		for _, one := range strings.Split(all, ",") {
			word := strings.ReplaceAll(one, "-", " ")
			what, deleted = append(what, word), append(deleted, cmp.Or(lossOf[one], word))
		}
		names, with, stateless := strings.Join(clusters[all], ", "), " with its "+strings.Join(what, " and "), ""
		if all == unknown {
			with, stateless = "", "; if the add-on stores no data, restore it with stateful: false, render, and then remove it"
		}
		message := fmt.Sprintf("add-on %s no longer has release %s%s on %s", strict.Quote(rel.addon), strict.Quote(rel.name), with, names)
		if r.Spec != nil && r.Spec.Addon(rel.addon) == nil {
			message = fmt.Sprintf("add-on %s, release %s,%s on %s, was removed from the specification", strict.Quote(rel.addon), strict.Quote(rel.name), with, names)
		}
		hint := "Flux deletes " + strings.Join(deleted, ", and ") + lost(r.claim(ofNamespace(namespace)), r.names()) + stateless
		errs = append(errs, &strict.Error{
			Object: v1alpha1.KindAddon + " " + rel.addon, Message: message,
			Hint: hint + fmt.Sprintf("; save what is needed, and allow it with --allow-removal %s%s", allowAddon, rel.addon),
		})
	}
	return errs
}

// names returns the names of all current and removed clusters.
func (r *removal) names() []string {
	return slices.Concat(slices.Collect(maps.Keys(r.paths)), slices.Collect(maps.Keys(r.clusters)), slices.Collect(maps.Keys(r.held)))
}

// lost returns the part of a hint that lists the files whose values are lost in Git; "" without files. Files that differ
// only in the cluster's folder are joined, as dir/{a,b}/file.
func lost(files, clusters []string) string {
	if len(files) == 0 {
		return ""
	}
	groups, order := map[[2]string][]string{}, [][2]string(nil)
	for _, file := range slices.Sorted(slices.Values(files)) {
		parts, key := strings.Split(file, "/"), [2]string{file}
		at := slices.IndexFunc(parts, func(part string) bool { return slices.Contains(clusters, part) })
		if at >= 0 {
			key = [2]string{path.Join(parts[:at]...), path.Join(parts[at+1:]...)}
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], parts[max(at, 0)])
	}
	shown := make([]string, len(order))
	for i, key := range order {
		switch names := groups[key]; {
		case key[1] == "":
			shown[i] = key[0]
		case len(names) == 1:
			shown[i] = path.Join(key[0], names[0], key[1])
		default:
			shown[i] = path.Join(key[0], "{"+strings.Join(names, ",")+"}", key[1])
		}
	}
	return "; Git loses the values of these Secrets, generated ones included: " + strings.Join(shown, ", ")
}
