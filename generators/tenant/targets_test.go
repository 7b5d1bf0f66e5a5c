package tenant

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/tree"
)

func tenantOf(name, spec string) string {
	return fmt.Sprintf("---\n{apiVersion: fleetwright.dev/v1alpha1, kind: Tenant, metadata: {name: %s}, spec: %s}\n", name, spec)
}

const oneCluster = `{apiVersion: fleetwright.dev/v1alpha1, kind: Fleet, metadata: {name: acme}, spec: {repository: {url: https://github.com/acme/platform}}}
---
{apiVersion: fleetwright.dev/v1alpha1, kind: Cluster, metadata: {name: production}}
`

func TestTargets(t *testing.T) {
	spec := load(t, []byte(oneCluster+
		tenantOf("tagged", "{source: {url: https://github.com/acme/tagged, semver: 1.x}}")+
		tenantOf("branch", "{source: {}}")+
		tenantOf("own", "{source: {url: https://github.com/acme/own, branch: trunk}}")+
		tenantOf("artifact", "{source: {kind: OCIRepository, url: oci://ghcr.io/acme/artifact, tag: v1}}")+
		tenantOf("draining", "{source: {url: https://github.com/acme/draining}, state: Draining}")+
		tenantOf("removed", "{source: {url: https://github.com/acme/removed}, state: Removed}")))
	targets, err := Targets(spec)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, target := range targets {
		got = append(got, fmt.Sprintf("%s %s %s %t", target.Name, target.URL, target.Branch, target.Orphan))
	}
	want := []string{
		"tenant-branch https://github.com/acme/platform tenant/branch true",
		"tenant-own https://github.com/acme/own trunk false",
		"tenant-tagged https://github.com/acme/tagged main false",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got targets\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Two tenants that follow different tags of a repository are both generated on its
// main branch, where each would own the files at the root.
func TestSharedBranchIsRefused(t *testing.T) {
	spec := load(t, []byte(oneCluster+
		tenantOf("one", "{source: {url: https://github.com/acme/mono, semver: 1.x}}")+
		tenantOf("two", "{source: {url: https://github.com/acme/mono, semver: 2.x}}")))
	_, err := Targets(spec)
	if err == nil || !strings.Contains(err.Error(), `tenants "one" and "two" are both generated on branch "main"`) {
		t.Errorf("got error %v", err)
	}
}

// Only what is the platform's to keep is managed in a tenant's repository.
func TestTenantOwnsItsRepository(t *testing.T) {
	cases(t, func(t *testing.T, _ string, spec *v1alpha1.Spec) {
		for _, target := range render(t, spec)[1:] {
			for f := range target.Tree.All() {
				managed := f.Path == ".sops.yaml" || f.Path == ".krmignore" || f.Path == boundaryFile
				if want := map[bool]tree.Mode{true: tree.Managed, false: tree.Once}[managed]; f.Mode != want {
					t.Errorf("%s is %s, want %s", f.Path, f.Mode, want)
				}
			}
		}
	})
}

func TestRelative(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"staging", "base", "../base"},
		{".", "base", "base"},
		{"deploy/live", "deploy/base", "../base"},
		{"a/b/c", "base", "../../../base"},
		{"base/eu", "base", ".."},
	} {
		if got := emit.Relative(c.from, c.to); got != c.want {
			t.Errorf("from %s to %s: got %s, want %s", c.from, c.to, got, c.want)
		}
	}
}

// many is a specification of n tenants on ten clusters.
func many(t testing.TB, n int) *v1alpha1.Spec {
	t.Helper()
	var b strings.Builder
	b.WriteString(strings.SplitAfter(oneCluster, "\n")[0])
	for i := range 10 {
		fmt.Fprintf(&b, "---\n{apiVersion: fleetwright.dev/v1alpha1, kind: Cluster, metadata: {name: c%d}, spec: {environment: env%d}}\n", i, i%3)
	}
	for i := range n {
		b.WriteString(tenantOf(fmt.Sprintf("t%04d", i), fmt.Sprintf("{source: {url: https://github.com/acme/t%04d}}", i)))
	}
	return load(t, []byte(b.String()))
}

func generate(t testing.TB, spec *v1alpha1.Spec) int {
	t.Helper()
	out := emit.New()
	Platform(out, spec, layout.For(spec.Fleet.Spec.Layout), nil)
	targets, err := Targets(spec)
	if err != nil || out.Err() != nil {
		t.Fatal(err, out.Err())
	}
	files := len(out.Tree.Paths())
	for _, target := range targets {
		files += len(target.Tree.Paths())
	}
	return files
}

// BenchmarkTenants generates the platform's part and the targets of tenants on
// ten clusters.
func BenchmarkTenants(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			spec := many(b, n)
			b.ReportAllocs()
			files := 0
			for b.Loop() {
				files = generate(b, spec)
			}
			b.ReportMetric(float64(files), "files")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/tenant")
		})
	}
}
