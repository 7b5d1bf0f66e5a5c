// Package shapes_test validates small trees in the shapes that the documentation of Flux, the Flux Operator, k0rdent and
// Kommander shows: nothing wrong is found in them, everything that could be built is built, the rest is named, and one
// fault in each place is found.
package shapes_test

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/testarchive"
	"github.com/fleetwright/fleetwright/validators"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// fault breaks one thing in a file of a shape. Want is where it must be found: file:line [rule].
type fault struct{ name, file, old, fresh, want string }

// faults by their shapes.
var faults = map[string][]fault{
	"flux2-multi-tenancy": {
		{"a patch of a tenant's path", "tenants/staging/dev-team-patch.yaml", "path: ./staging", "path: ./stagin", "tenants/staging/dev-team-patch.yaml:5 [flux-path-missing]"},
		{"a path", "clusters/staging/infrastructure.yaml", "path: ./infrastructure/kyverno-policies", "path: ./infrastructure/kyverno-policy", "clusters/staging/infrastructure.yaml:21 [flux-path-missing]"},
		{"a patch of the tenant's branch", "source/apps/dev-team/staging/podinfo-values.yaml", "name: podinfo", "name: podinfos", "staging/kustomization.yaml:4 [flux-build-failed]"},
	},
	"flux2-kustomize-helm-example": {
		{"what is copied into an artifact", "clusters/production/artifacts.yaml", "@monorepo/apps/production/**", "@monorepo/apps/prodution/**", "clusters/production/artifacts.yaml:14 [flux-path-missing]"},
		{"a path within an artifact", "clusters/production/infrastructure.yaml", "path: ./configs", "path: ./config", "clusters/production/infrastructure.yaml:22 [flux-path-missing]"},
	},
	"d1-fleet": {
		{"a variable of the cluster", "clusters/staging/runtime-info.yaml", "ENVIRONMENT: staging", "ENVIRONMENT: stagin", "tenants/apps/frontend/sync.yaml:17 [flux-path-missing], tenants/infra/admission.yaml:12 [flux-path-missing]"},
		{"a source of another repository", "tenants/apps/frontend/sync.yaml", "sourceRef: {kind: GitRepository, name: flux-apps}", "sourceRef: {kind: GitRepository, name: flux-app}", "tenants/apps/frontend/rbac.yaml:8 [tenant-admission-missing], tenants/apps/frontend/sync.yaml:19 [flux-source-missing]"},
	},
	"d2-fleet": {
		{"a variable that the operator copies", "source/frontend/apps/base/podinfo.yaml", "${CLUSTER_DOMAIN}", "${CLUSTER_DOMIAN}", "base/podinfo.yaml:12 [flux-substitution-undefined], tenants/apps.yaml:35 [tenant-admission-missing]"},
		{"a folder of an artifact", "tenants/infra.yaml", "path: ./controllers/", "path: ./controler/", "tenants/infra.yaml:53 [flux-path-missing]"},
		{"values of the operator", "clusters/staging/flux-system/flux-operator.yaml", "name: flux-operator-values", "name: flux-operator-value", "clusters/staging/flux-system/flux-operator.yaml:22 [flux-values-reference-missing], tenants/apps.yaml:35 [tenant-admission-missing]"},
	},
	"flux-operator-monorepo": {
		{"a path", "clusters/dev/infrastructure.yaml", "path: ./infrastructure", "path: ./infrastruture", "clusters/dev/flux-instance.yaml:12 [graph-coverage-low], clusters/dev/infrastructure.yaml:9 [flux-path-missing]"},
	},
	"flux-quick-start": {
		{"a path in the repository of podinfo", "clusters/my-cluster/podinfo-kustomization.yaml", "path: ./kustomize", "path: ./kustomise", "clusters/my-cluster/podinfo-kustomization.yaml:8 [flux-path-missing]"},
		{"the target of a patch", "clusters/my-cluster/podinfo-kustomization.yaml", "        name: podinfo\n        kind: HorizontalPodAutoscaler", "        name: podinfos\n        kind: HorizontalPodAutoscaler", "clusters/my-cluster/podinfo-kustomization.yaml:26 [flux-patch-target-missing]"},
		{"the source", "clusters/my-cluster/podinfo-kustomization.yaml", "    name: podinfo\n  targetNamespace", "    name: podinf\n  targetNamespace", "clusters/my-cluster/podinfo-kustomization.yaml:13 [flux-source-missing]"},
	},
	"k0rdent-quick-start": {
		{"the template of a cluster", "clusters-aws/cluster.yaml", "aws-standalone-cp-1-0-43", "aws-standalon-cp-1-0-43", "clusters-aws/cluster.yaml:5 [k0rdent-template-missing]"},
		{"the order", "clusters/mgmt/aws.yaml", "dependsOn: [{name: credentials}]", "suspend: false", "clusters-aws/cluster.yaml:1 [k0rdent-apply-order]"},
		{"the credential", "clusters-aws/cluster.yaml", "credential: aws-cluster-identity-cred", "credential: aws-cluster-identity-creds", "clusters-aws/cluster.yaml:6 [k0rdent-credential-missing]"},
	},
	"kommander-catalog": {
		{"a file of a version", "services/podinfo/6.14.0/kustomization.yaml", "podinfo.yaml,", "podinf.yaml,", "services/podinfo/6.14.0/kustomization.yaml:3 [flux-build-failed], services/podinfo/6.9.0/defaults/cm.yaml:3 [flux-watch-label-missing]"},
		{"a field", "services/podinfo/6.14.0/podinfo.yaml", "releaseName: podinfo", "relaseName: podinfo", "services/podinfo/6.14.0/defaults/cm.yaml:3 [flux-watch-label-missing], services/podinfo/6.14.0/podinfo.yaml:28 [schema-unknown-field], services/podinfo/6.9.0/defaults/cm.yaml:3 [flux-watch-label-missing]"},
	},
	"kommander-management": {
		{"the values of an application", "applications/gatekeeper.yaml", "configOverrides: {name: gatekeeper-overrides}", "configOverrides: {name: gatekeeper-override}", "applications/gatekeeper.yaml:13 [kommander-override-missing]"},
		{"the workspace of a project", "projects/checkout.yaml", "workspaceRef: {name: retail}", "workspaceRef: {name: retial}", "projects/checkout.yaml:5 [kommander-workspace-missing]"},
		{"the role of a group", "projects/checkout.yaml", "projectRoleRef: {name: deployers}", "projectRoleRef: {name: deployer}", "projects/checkout.yaml:19 [kommander-role-missing]"},
		{"a label of a catalog", "catalogs/retail.yaml", "kommander.d2iq.io/gitapps-gitrepository-type: catalog", "kommander.d2iq.io/gitapps-gitrepository-type: catlog", "catalogs/retail.yaml:7 [kommander-catalog-label]"},
		{"a namespace", "applications/gatekeeper.yaml", "metadata: {name: gatekeeper-overrides, namespace: kommander}", "metadata: {name: gatekeeper-overrides, namespace: komander}", "applications/gatekeeper.yaml:3 [flux-namespace-missing], applications/gatekeeper.yaml:13 [kommander-override-missing]"},
	},
	"cluster-template": {
		{"a version that only the bootstrap has", "bootstrap/helmfile/templates/release.yaml.gotmpl", "{{ $oci.spec.ref.tag }}", "1.20.0", "bootstrap/helmfile/default.yaml:4 [bootstrap-version-drift], bootstrap/helmfile/default.yaml:4 [bootstrap-version-drift], bootstrap/helmfile/default.yaml:4 [bootstrap-version-drift]"},
		{"an application that is not listed", "kubernetes/apps/flux-system/kustomization.yaml", "./flux-operator/ks.yaml", "./flux-operater/ks.yaml", "kubernetes/apps/flux-system/kustomization.yaml:7 [flux-build-failed]"},
	},
}

// roots are the folders that are applied in shapes which have no cluster.
var roots = map[string][]string{"kommander-catalog": {"services/podinfo/6.14.0", "services/podinfo/6.9.0"}}

func TestShapes(t *testing.T) {
	all, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(all) != len(faults) {
		t.Fatalf("%d shapes and faults of %d: %v", len(all), len(faults), err)
	}
	for _, file := range all {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			testarchive.CheckWant(t, file, archive, []byte(validate(t, archive.Files, roots[name]...).text()))
		})
		if len(faults[name]) == 0 {
			t.Errorf("no fault is made in %s", name)
		}
		for _, f := range faults[name] {
			t.Run(name+"/"+f.name, func(t *testing.T) {
				if got := validate(t, f.make(t, archive.Files), roots[name]...).places(); got != f.want {
					t.Errorf("found %s, want %s", got, f.want)
				}
			})
		}
	}
}

// make makes the fault.
func (f fault) make(t *testing.T, files []txtar.File) []txtar.File {
	t.Helper()
	broken := slices.Clone(files)
	for i, one := range broken {
		if one.Name == f.file && bytes.Count(one.Data, []byte(f.old)) == 1 {
			broken[i].Data = bytes.Replace(one.Data, []byte(f.old), []byte(f.fresh), 1)
			return broken
		}
	}
	t.Fatalf("%s does not have %q once", f.file, f.old)
	return nil
}

// result is what is found in a shape, and what of it is built.
type result struct {
	report finding.Report
	built  map[string][]string
}

// validate runs the rules over the files of a shape; those below source/NAMESPACE/NAME are of a source.
func validate(t *testing.T, files []txtar.File, roots ...string) result {
	t.Helper()
	trees := map[string]map[string][]byte{"": {}}
	for _, f := range files {
		source, name := "", f.Name
		if parts := strings.SplitN(f.Name, "/", 4); parts[0] == "source" {
			source, name = parts[1]+"/"+parts[2], parts[3]
		}
		if trees[source] == nil {
			trees[source] = map[string][]byte{}
		}
		if name != "want" {
			trees[source][name] = f.Data
		}
	}
	sources := map[string]*repository.Repository{}
	for source, tree := range trees {
		repo, err := repository.FromFiles(maps.All(tree), repository.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sources[source] = repo
	}
	repo := sources[""]
	delete(sources, "")
	rules, err := validators.Select(nil)
	if err != nil {
		t.Fatal(err)
	}
	r := result{built: map[string][]string{}}
	o := validators.Options{Rules: rules, Reconcile: reconcile.Options{Sources: sources, Roots: roots}}
	if o.Fleet, err = rule.Evaluate(t.Context(), repo, o); err != nil {
		t.Fatal(err)
	}
	for _, c := range o.Fleet.Clusters {
		for _, k := range c.Kustomizations {
			if k.Complete() {
				r.built[c.Name] = append(r.built[c.Name], fmt.Sprintf("%s (%d objects)", k, len(k.Objects)))
			}
		}
	}
	if r.report, err = validators.Run(t.Context(), repo, o); err != nil {
		t.Fatal(err)
	}
	return r
}

// places are those of the findings.
func (r result) places() string {
	var all []string
	for _, f := range r.report.Findings {
		all = append(all, fmt.Sprintf("%s:%d [%s]", f.File, f.Line, f.Rule))
	}
	return strings.Join(all, ", ")
}

// text says what is found, what cannot be decided, and what is built.
func (r result) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d findings\n", len(r.report.Findings))
	for _, f := range r.report.Findings {
		fmt.Fprintf(&b, "%s:%d: %s: %s [%s]\n", f.File, f.Line, f.Severity, f.Message, f.Rule)
	}
	fmt.Fprintln(&b, r.report.Summary.Coverage)
	for _, cluster := range slices.Sorted(maps.Keys(r.built)) {
		fmt.Fprintf(&b, "%s: %s\n", cluster, strings.Join(r.built[cluster], ", "))
	}
	for _, u := range r.report.Summary.Coverage.Unreached {
		fmt.Fprintf(&b, "not reached: %s: %s\n", u.Object.Name, u.Reason)
	}
	for _, u := range r.report.Unresolved {
		fmt.Fprintf(&b, "unresolved: %s:%d: %s [%s]\n", u.File, u.Line, u.Reason, u.Rule)
	}
	return b.String()
}
