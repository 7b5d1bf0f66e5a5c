package specs

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

const bare = `
apiVersion: fleetwright.dev/v1alpha1
kind: Fleet
metadata: {name: f}
spec: {repository: {url: "https://git.example.com/platform/fleet.git"}}
---
apiVersion: fleetwright.dev/v1alpha1
kind: Cluster
metadata: {name: one}
---
apiVersion: fleetwright.dev/v1alpha1
kind: Cluster
metadata: {name: two}
spec: {environment: test}
---
apiVersion: fleetwright.dev/v1alpha1
kind: Addon
metadata: {name: a}
spec: {namespace: a, chart: {url: "https://charts.example.com", version: 1.2.3}, bootstrap: {}}
---
apiVersion: fleetwright.dev/v1alpha1
kind: Addon
metadata: {name: b}
spec: {namespace: a, chart: {url: "oci://h/b", version: 1.2.3, verify: {}}, dependsOn: [{name: c}, {name: a}], bootstrap: {}}
---
apiVersion: fleetwright.dev/v1alpha1
kind: Addon
metadata: {name: c}
spec: {namespace: a, chart: {url: "oci://h/c", version: 1.2.3}}
---
apiVersion: fleetwright.dev/v1alpha1
kind: Tenant
metadata: {name: t}
spec: {quota: {pods: "7"}, limits: {max: {memory: 1Gi}}}
---
apiVersion: fleetwright.dev/v1alpha1
kind: Tenant
metadata: {name: u}
spec: {source: {url: "https://git.example.com/u.git"}}
---
apiVersion: fleetwright.dev/v1alpha1
kind: Encryption
metadata: {name: e}
spec: {recipients: {platform: {age: [age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg]}}}
`

func TestDefaults(t *testing.T) {
	spec := mustLoad(t, []File{{"bare.yaml", []byte(bare)}})
	addon, tenant := spec.Addon, spec.Tenants[0].Spec
	for _, test := range []struct {
		what      string
		got, want any
	}{
		{"lockdown", *spec.Fleet.Spec.MultiTenancy.Lockdown, true},
		{"flux", spec.Fleet.Spec.Flux.Version, "2.9.x"},
		{"path", spec.Cluster("one").Spec.Path, "clusters/one"},
		{"release", addon("a").Spec.ReleaseName, "a"},
		{"interval", addon("a").Spec.Interval, v1alpha1.Duration("10m")},
		{"timeout", addon("a").Spec.Timeout, v1alpha1.Duration("5m")},
		{"HTTP chart", addon("a").Spec.Chart.Name, "a"},
		{"OCI chart", addon("b").Spec.Chart.Name, ""},
		{"needs", addon("b").Spec.Bootstrap.Needs, []string{"a"}},
		{"namespaces", tenant.Namespaces, []string{"t"}},
		{"sync namespace", tenant.SyncNamespace, "t-flux"},
		{"source", tenant.Source, v1alpha1.TenantSource{Kind: v1alpha1.SourceGit, URL: "https://git.example.com/platform/fleet.git", Branch: "tenant/t", Path: "./"}},
		{"own source", spec.Tenants[1].Spec.Source.Branch, "main"},
		{"environments", tenant.Environments, map[string]string{"one": "./one", "test": "./test"}},
		{"quota", []string{tenant.Quota["pods"], tenant.Quota["count/helmreleases.helm.toolkit.fluxcd.io"]}, []string{"7", "20"}},
		{"limits", []string{tenant.Limits.Max["memory"], tenant.Limits.Max["cpu"]}, []string{"1Gi", "4"}},
		{"age secret", spec.Encryption.Spec.SecretRef.Name, "sops-age"},
	} {
		if !reflect.DeepEqual(test.got, test.want) {
			t.Errorf("%s: got %v, want %v", test.what, test.got, test.want)
		}
	}
	if spec.Tenants[0].Spec.Quota["pods"] == spec.Tenants[1].Spec.Quota["pods"] {
		t.Error("tenants share a quota")
	}
}

func TestDefaultsOfBootstrapAndApps(t *testing.T) {
	spec := mustLoad(t, []File{{"f.yaml", []byte(`
apiVersion: fleetwright.dev/v1alpha1
kind: Fleet
metadata: {name: f}
spec: {repository: {url: "https://h/x"}, layout: apps, flux: {install: bootstrap}}
---
apiVersion: fleetwright.dev/v1alpha1
kind: Cluster
metadata: {name: home}
`)}})
	if v := spec.Fleet.Spec.Flux.Version; !exactVersion.MatchString(v) {
		t.Errorf("bootstrap has version %s", v)
	}
	if p := spec.Clusters[0].Spec.Path; p != "kubernetes/flux/cluster" {
		t.Errorf("path is %s", p)
	}
}

// TestTagsSayTheDefaults holds the schemas' defaults to those that are applied.
func TestTagsSayTheDefaults(t *testing.T) {
	spec := mustLoad(t, []File{{"bare.yaml", []byte(bare)}})
	checked := 0
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		v = reflect.Indirect(v)
		if v.Kind() != reflect.Struct {
			return
		}
		for i := range v.NumField() {
			f, tag := v.Field(i), v.Type().Field(i).Tag.Get("jsonschema")
			var want []string
			for part := range strings.SplitSeq(tag, ",") {
				if len(part) > 8 && part[:8] == "default=" {
					want = append(want, part[8:])
				}
			}
			switch {
			case want == nil:
				walk(f)
				continue
			case f.Kind() == reflect.Slice:
				if !slices.Equal(f.Interface().([]string), want) {
					t.Errorf("%s is %v, its tag says %v", v.Type().Field(i).Name, f, want)
				}
			case f.Kind() == reflect.Pointer:
				if !f.Elem().Bool() || want[0] != "true" {
					t.Errorf("%s is %v, its tag says %v", v.Type().Field(i).Name, f.Elem(), want)
				}
			case f.String() != want[0]:
				t.Errorf("%s is %q, its tag says %q", v.Type().Field(i).Name, f, want[0])
			}
			checked++
		}
	}
	for _, object := range []any{spec.Fleet, spec.Clusters[0], spec.Addon("b"), spec.Tenants[0], spec.Encryption} {
		walk(reflect.ValueOf(object))
	}
	if checked < 15 {
		t.Errorf("only %d defaults were checked", checked)
	}
}
