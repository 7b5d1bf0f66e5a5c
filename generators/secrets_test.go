package generators_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"

	"filippo.io/age"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/encryption"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/specs"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// declaring is a specification with a Secret of each scope.
func declaring(t *testing.T, layout string, clusters ...string) *v1alpha1.Spec {
	t.Helper()
	key := func() string {
		id, err := age.GenerateX25519Identity()
		if err != nil {
			t.Fatal(err)
		}
		return id.Recipient().String()
	}
	object := func(kind, name, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: fleetwright.dev/v1alpha1, kind: %s, metadata: {name: %s}, spec: %s}\n", kind, name, spec)
	}
	text := object("Fleet", "f", "{repository: {url: https://h/fleet}, layout: "+layout+"}") +
		object("Addon", "dns", "{namespace: network, stage: configs, resources: [{name: a, manifests: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}]}]}") +
		object("Tenant", "shop", "{source: {url: https://h/shop}}")
	var recipients []string
	for _, c := range clusters {
		text += object("Cluster", c, "{}")
		recipients = append(recipients, c+": {age: ["+key()+"]}")
	}
	keys := "keys: [{name: k, from: {env: K}}]"
	text += object("Encryption", "e", "{recipients: {clusters: {"+strings.Join(recipients, ", ")+"}}, secrets: ["+
		"{name: all, namespace: network, "+keys+"}, {name: each, namespace: flux-system, scope: clusters, "+keys+"}, {name: own, scope: tenant, tenant: shop, "+keys+"}]}")
	return load(t, specs.File{Path: "spec.yaml", Content: []byte(text)})
}

// Only the files that there are stand in kustomizations, as they are, for those
// who apply them; where they stand, their rule of .sops.yaml is for these alone.
func TestSecrets(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	for _, c := range []struct {
		layout   string
		clusters []string
		// listed is what a kustomization lists with all files there.
		listed map[string]string
		// readers are the clusters of each file.
		readers map[string][]string
	}{
		{
			"fleet", []string{"eu", "us"},
			map[string]string{
				"infrastructure/secrets/base": "network/all.sops.yaml", "infrastructure/secrets/eu": "flux-system/each.sops.yaml", "infrastructure/secrets/us": "flux-system/each.sops.yaml",
				"infrastructure/controllers/eu": "../../secrets/base", "infrastructure/controllers/us": "../../secrets/us", "tenants/base/shop": "secrets/shop-flux/own.sops.yaml",
			},
			map[string][]string{
				"infrastructure/secrets/base/network/all.sops.yaml": {"eu", "us"}, "infrastructure/secrets/eu/flux-system/each.sops.yaml": {"eu"},
				"infrastructure/secrets/us/flux-system/each.sops.yaml": {"us"}, "tenants/base/shop/secrets/shop-flux/own.sops.yaml": {"eu", "us"},
			},
		},
		{
			"apps", []string{"home"},
			map[string]string{
				"kubernetes/apps/network": "all.sops.yaml", "kubernetes/apps/flux-system": "each.sops.yaml", "kubernetes/tenants/base/shop": "secrets/shop-flux/own.sops.yaml",
			},
			map[string][]string{
				"kubernetes/apps/network/all.sops.yaml": {"home"}, "kubernetes/apps/flux-system/each.sops.yaml": {"home"}, "kubernetes/tenants/base/shop/secrets/shop-flux/own.sops.yaml": {"home"},
			},
		},
	} {
		t.Run(c.layout, func(t *testing.T) {
			spec := declaring(t, c.layout, c.clusters...)
			config, err := encryption.Platform(spec)
			if err != nil {
				t.Fatal(err)
			}
			rules, err := secrets.ParseConfig(secrets.ConfigName, config)
			if err != nil {
				t.Fatal(err)
			}
			there := map[string][]byte{}
			for _, f := range generators.SecretFiles(spec) {
				there[f.Path] = []byte("the ciphertext of " + f.Path)
				if !slices.Equal(f.Clusters, c.readers[f.Path]) {
					t.Errorf("%s is of %v, want %v", f.Path, f.Clusters, c.readers[f.Path])
				}
				var want, got []string
				for _, cluster := range f.Clusters {
					want = append(want, spec.Encryption.Spec.Recipients.Clusters[cluster].Age...)
				}
				for _, r := range rules.For(f.Path).Recipients {
					got = append(got, r.ID)
				}
				slices.Sort(want)
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Errorf("%s is encrypted to %v, want those of %v: %v", f.Path, got, f.Clusters, want)
				}
			}
			if len(there) != len(c.readers) {
				t.Errorf("%d files, want %d", len(there), len(c.readers))
			}
			files := platform(t, spec, there)
			for dir, entry := range c.listed {
				if k := string(files[dir+"/kustomization.yaml"].Content); !strings.Contains(k, "\n- "+entry+"\n") {
					t.Errorf("%s does not list %s:\n%s", dir, entry, k)
				}
			}
			for file, content := range there {
				if f := files[file]; f.Mode != tree.Carried || string(f.Content) != string(content) {
					t.Errorf("%s is carried as %q, %q", file, f.Mode, f.Content)
				}
			}
			for file, f := range platform(t, spec, nil) {
				if strings.HasSuffix(file, ".sops.yaml") && file != ".sops.yaml" || strings.Contains(string(f.Content), "\n- ") && strings.Contains(string(f.Content), ".sops.yaml\n") && strings.HasSuffix(file, "kustomization.yaml") ||
					strings.Contains(string(f.Content), "../secrets/") {
					t.Errorf("%s speaks of a Secret that is not there:\n%s", file, f.Content)
				}
			}
			// What applies them decrypts, also where it has nothing else to apply.
			units := 0
			for file, f := range files {
				if strings.Contains(string(f.Content), "kind: Kustomization\n") && strings.Contains(string(f.Content), "sourceRef:") {
					units++
					if strings.Count(string(f.Content), "provider: sops") != strings.Count(string(f.Content), "sourceRef:") && !strings.Contains(file, "sync.yaml") {
						t.Errorf("%s has a Kustomization that does not decrypt", file)
					}
				}
			}
			if units == 0 {
				t.Error("no Kustomization was looked at")
			}
		})
	}
}

// The Secrets of a tenant that is Removed stay in Git, and are no longer applied.
func TestSecretsOfARemovedTenant(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	spec := declaring(t, "fleet", "eu")
	spec.Tenants[0].Spec.State = v1alpha1.StateRemoved
	const file = "tenants/base/shop/secrets/shop-flux/own.sops.yaml"
	files := platform(t, spec, map[string][]byte{file: []byte("its ciphertext")})
	if f, there := files[file]; !there || f.Mode != tree.Carried {
		t.Errorf("%s is gone", file)
	}
	if k := string(files["tenants/base/shop/kustomization.yaml"].Content); strings.Contains(k, "own.sops.yaml") {
		t.Errorf("it is still applied:\n%s", k)
	}
}

// platform renders the platform's target with files of Secrets.
func platform(t *testing.T, spec *v1alpha1.Spec, there map[string][]byte) map[string]tree.File {
	t.Helper()
	target, err := generators.Platform(spec, generators.Options{Secrets: there})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]tree.File{}
	for f := range target.Tree.All() {
		files[f.Path] = f
	}
	return files
}
