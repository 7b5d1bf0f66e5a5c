//go:build hostile && unix

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// specified is a document of the specification.
func specified(kind, name, spec string) string {
	return "---\napiVersion: fleetwright.dev/v1alpha1\nkind: " + kind + "\nmetadata: {name: " + name + "}\nspec: " + spec + "\n"
}

const aRecipient = "age1qyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqs3290gq"

// aFleet is the least specification that is rendered: of one cluster.
func aFleet() string {
	return specified("Fleet", "fleet", "{repository: {url: 'https://git.example.com/platform/fleet.git', branch: main}, flux: {install: operator}}") + specified("Cluster", "one", "{}")
}

const dryRun = "commit --dry-run --author a<a@example.com>"

// readSpecification are the commands that read a specification and write nothing.
var readSpecification = []string{"render --check", dryRun, "secrets sync --check", "fn RenderFleet"}

// specBombs are specifications that are large, or that the user runs in a repository in which a stranger placed
// something where files are rendered.
func specBombs() []hostileCase {
	spec := func(name, more string, want ...string) hostileCase {
		return hostileCase{name: "a specification with " + name, runs: readSpecification, status: statusUsage, want: want, make: files(map[string]string{
			"fleet/fleet.yaml": aFleet(), "fleet/more.yaml": more,
		})}
	}
	stopping := func(c hostileCase) hostileCase { c.stops = true; return c } // secrets cannot be encrypted by these rules
	tenant := func(i int, spec string) string {
		return specified("Tenant", fmt.Sprint("t", i), "{source: {kind: GitRepository, url: 'https://git.example.com/t.git', branch: main}, environments: {one: ./one}"+spec+"}")
	}
	addon := func(i int, spec string) string {
		return specified("Addon", fmt.Sprint("a", i), "{namespace: a, chart: {url: 'oci://example.com/a', version: 1.0.0}"+spec+"}")
	}
	nested := strings.Repeat("((a{1,9}b?){90})", 600)
	deep := strings.Repeat("{a: ", 150) + "b" + strings.Repeat("}", 150)
	placed := func(name string, place func(t *testing.T, repo, outside string)) hostileCase {
		return hostileCase{name: "a rendered place with " + name, runs: readSpecification[:3], status: statusUsage, stops: true, make: func(t *testing.T, repo, outside string) {
			files(map[string]string{"fleet/fleet.yaml": aFleet() + specified("Encryption", "encryption", "{recipients: {platform: {age: ["+aRecipient+"]}}}")})(t, repo, outside)
			place(t, repo, outside)
		}}
	}
	pipe := func(names ...string) func(*testing.T, string, string) {
		return func(t *testing.T, repo, _ string) {
			for _, name := range names {
				at := filepath.Join(repo, name)
				if err := os.RemoveAll(at); err != nil {
					t.Fatal(err)
				}
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := unix.Mkfifo(at, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	link := func(to string, names ...string) func(*testing.T, string, string) {
		return func(t *testing.T, repo, outside string) {
			for _, name := range names {
				at := filepath.Join(repo, name)
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(strings.ReplaceAll(to, "OUTSIDE", outside), at); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	all := []hostileCase{
		spec("aliases", addon(0, ", values: "+laughs(9))),
		spec("aliases that contain themselves", "---\n&x\napiVersion: fleetwright.dev/v1alpha1\nkind: Addon\nmetadata: &m {<<: *m}\nspec: &s {values: {a: *s}, <<: *x}\n"),
		spec("maps that are merged", "---\n"+mergedMaps()+"apiVersion: fleetwright.dev/v1alpha1\nkind: Addon\nmetadata: {<<: *a59}\nspec: {<<: *a59}\n"),
		spec("aliases in an object", specified("Addon", "a", "{namespace: a, resources: [{name: x, manifests: [{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: "+laughs(9)+"}]}]}")),
		spec("large values in many add-ons", repeat(40, func(i int) string { return addon(i, ", values: {a: "+strings.Repeat("x", 200_000)+"}") })+
			repeat(200, func(i int) string { return specified("Cluster", fmt.Sprint("c", i), "{}") })),
		spec("overrides of each cluster", repeat(300, func(i int) string { return specified("Cluster", fmt.Sprint("c", i), "{}") })+
			addon(0, ", values: {"+repeat(300, func(i int) string { return fmt.Sprintf("k%d: v, ", i) })+"}, overrides: ["+
				repeat(1000, func(i int) string { return fmt.Sprintf("{clusters: {}, values: {k%d: %s}}, ", i, deep) })+"]")),
		spec("many tenants", repeat(3000, func(i int) string { return tenant(i, "") })),
		spec("many tenants of one name", repeat(5000, func(int) string { return tenant(0, "") })),
		spec("many namespaces", tenant(0, ", namespaces: ["+repeat(1500, func(i int) string { return fmt.Sprintf("n%d, ", i) })+"]")),
		spec("many clusters", repeat(1000, func(i int) string { return specified("Cluster", fmt.Sprint("c", i), "{}") })+addon(0, "")),
		spec("variables", specified("Cluster", "two", "{variables: {"+repeat(20_000, func(i int) string { return fmt.Sprintf("V%d: '${V%d}${V%d}', ", i, i+1, i+1) })+"}}")+
			addon(0, ", values: {a: '"+strings.Repeat("${V0}", 20_000)+"'}")),
		spec("numbers", tenant(0, `, quota: {requests.cpu: "1e-999999999", limits.memory: "1e999999999"}, limits: {default: {cpu: "1e-999999999"}, max: {memory: "`+strings.Repeat("9", 100_000)+`"}}`),
			"is not a quantity"),
		spec("patterns", specified("Encryption", "encryption", "{recipients: {platform: {age: ["+aRecipient+"]}}, encryptedRegex: '"+nested+"', rules: [{pathRegex: '"+nested+"', encryptedRegex: '"+nested+"', recipients: {age: ["+aRecipient+"]}}]}"),
			"repetitions come to"),
		stopping(spec("many rules", specified("Encryption", "encryption", "{recipients: {platform: {age: ["+aRecipient+"]}}, rules: ["+
			repeat(5000, func(i int) string {
				return fmt.Sprintf("{pathRegex: '^%d/(a{1,30}b?){5}', recipients: {age: [%s]}}, ", i, aRecipient)
			})+"]}"))),
		spec("many secrets", specified("Encryption", "encryption", "{recipients: {platform: {age: ["+aRecipient+"]}, clusters: {one: {age: ["+aRecipient+"]}}}, secrets: ["+
			repeat(5000, func(i int) string {
				return fmt.Sprintf("{name: s%d, namespace: a, scope: clusters, keys: [{name: a, from: {generate: {length: 40}}}]}, ", i)
			})+"]}")),
		spec("secrets from odd files", specified("Encryption", "encryption", "{recipients: {platform: {age: ["+aRecipient+"]}}, secrets: [{name: s, namespace: a, scope: platform, keys: ["+
			repeat(8, func(i int) string {
				return fmt.Sprintf("{name: k%d, from: {file: %s}}, ", i, []string{"/dev/zero", "/proc/self/environ", "/etc/passwd", "../outside/secret.env", ".git/config", "fleet", "/proc/self/fd/0", "~/.ssh/id_rsa"}[i])
			})+"]}]}")),
		spec("a large expression", tenant(0, ", hosts: ["+repeat(5000, func(i int) string { return fmt.Sprintf("'*.h%d.example.com', ", i) })+"], allowedSources: ["+
			repeat(5000, func(i int) string { return fmt.Sprintf("'https://h%d.example.com/', ", i) })+"]")),
		spec("dependencies in a circle", repeat(2000, func(i int) string {
			return addon(i, fmt.Sprintf(", dependsOn: [{name: a%d}, {name: a%d}], bootstrap: {needs: [a%d]}", (i+1)%2000, (i*7)%2000, (i+3)%2000))
		})),
		spec("misspelt references", repeat(2000, func(i int) string { return addon(i, fmt.Sprintf(", dependsOn: [{name: b%d}]", i)) })),
		spec("unknown fields", repeat(2000, func(i int) string {
			return specified("Tenant", fmt.Sprint("t", i), fmt.Sprintf("{sorce%d: {}, environment: {}, namespace: []}", i))
		})),
		spec("long names", specified("Addon", strings.Repeat("a", 1_000_000), "{namespace: "+strings.Repeat("b", 1_000_000)+"}")),
		spec("deep values", addon(0, ", values: "+strings.Repeat("[", 100_000))),
		placed("a large file", func(t *testing.T, repo, _ string) {
			for _, name := range []string{".sops.yaml", "clusters/one/infrastructure.yaml", "clusters/one/flux-system/kustomization.yaml", ".fleetwright/inventory.yaml"} {
				big(t, filepath.Join(repo, name), "", strings.Repeat("x: y\n", 200), 30_000)
			}
		}),
		placed("many lines", func(t *testing.T, repo, _ string) {
			for _, name := range []string{".sops.yaml", "clusters/one/infrastructure.yaml", "clusters/one/flux-system/kustomization.yaml"} {
				putFile(t, filepath.Join(repo, name), []byte(repeat(400_000, func(i int) string { return fmt.Sprintf("k%d: v\n", i%977) })))
			}
		}),
		placed("a large inventory", func(t *testing.T, repo, _ string) {
			putFile(t, filepath.Join(repo, ".fleetwright/inventory.yaml"), []byte("apiVersion: fleetwright.dev/v1alpha1\nkind: Inventory\nmetadata: {name: inventory}\nspec:\n  files:\n"+
				repeat(100_000, func(i int) string {
					return fmt.Sprintf("  - {path: '../../outside/%d', mode: managed, digest: 'sha256:%064d'}\n", i, i)
				})))
		}),
		placed("an inventory that contains itself", func(t *testing.T, repo, _ string) {
			putFile(t, filepath.Join(repo, ".fleetwright/inventory.yaml"), []byte("&x\napiVersion: fleetwright.dev/v1alpha1\nkind: Inventory\nmetadata: &m {<<: *m}\nspec: *x\n"))
		}),
		placed("an inventory of maps that are merged", func(t *testing.T, repo, _ string) {
			putFile(t, filepath.Join(repo, ".fleetwright/inventory.yaml"), []byte(mergedMaps()+"apiVersion: fleetwright.dev/v1alpha1\nkind: Inventory\nmetadata: {<<: *a59}\nspec: {<<: *a59}\n"))
		}),
		placed("an inventory of aliases", func(t *testing.T, repo, _ string) {
			putFile(t, filepath.Join(repo, ".fleetwright/inventory.yaml"), []byte("apiVersion: fleetwright.dev/v1alpha1\nkind: Inventory\nmetadata: {name: inventory}\nspec: "+laughs(9)+"\n"))
		}),
		placed("pipes", pipe(".sops.yaml", "clusters/one/infrastructure.yaml", "clusters/one/flux-system/kustomization.yaml")),
		placed("a pipe as the inventory", pipe(".fleetwright/inventory.yaml")),
		placed("a pipe as the journal", pipe(".fleetwright/.git/journal", ".fleetwright/.git/lock")),
		placed("a pipe as the specification", pipe("fleet/fleet.yaml")),
		placed("links out", link("OUTSIDE/secret.yaml", ".sops.yaml", "clusters/one/infrastructure.yaml", ".fleetwright/inventory.yaml", "fleet/linked.yaml")),
		placed("a folder that is a link out", link("OUTSIDE", "clusters", "infrastructure", ".fleetwright", "tenants")),
		placed("a specification that is a link out", func(t *testing.T, repo, outside string) {
			if err := os.RemoveAll(filepath.Join(repo, "fleet")); err != nil {
				t.Fatal(err)
			}
			link("OUTSIDE", "fleet")(t, repo, outside)
		}),
	}
	for i := range all {
		add := all[i].make
		all[i].make = func(t *testing.T, repo, outside string) {
			add(t, repo, outside)
			commitAll(t, repo)
		}
	}
	return all
}

// mergedMaps are maps of which each merges the one before it three times.
func mergedMaps() string {
	return "a0: &a0 {k: v}\n" + repeat(59, func(i int) string { return fmt.Sprintf("a%d: &a%d {<<: [*a%d, *a%d, *a%d]}\n", i+1, i+1, i, i, i) })
}

// streams are what the function's doors render, in which a file leads elsewhere or is large.
func streamBombs() []hostileCase {
	file := func(target, path, content string) string {
		return "---\napiVersion: fleetwright.dev/v1alpha1\nkind: File\nmetadata: {name: f}\nspec: {target: " + target + ", path: " + path + ", content: " + content + "}\n"
	}
	texts := map[string]string{
		"paths out": repeat(5, func(i int) string {
			return file("platform", fmt.Sprintf("%q", []string{"../outside/a", "/etc/a", ".git/config", "a/../../outside/a", "x\x1b[31m"}[i]), "a")
		}),
		"aliases":                     file("platform", "a", laughs(9)),
		"a file that contains itself": "---\n&x\napiVersion: fleetwright.dev/v1alpha1\nkind: File\nmetadata: &m {<<: *m}\n<<: *x\nspec: *x\n",
		"aliases of maps":             "---\n" + mergedMaps() + "apiVersion: fleetwright.dev/v1alpha1\nkind: File\nmetadata: {<<: *a59}\nspec: {<<: *a59}\n",
		"many files":                  repeat(20_000, func(i int) string { return file("platform", fmt.Sprintf("a/%d", i), "a") }),
		"many targets":                repeat(5000, func(i int) string { return file(fmt.Sprint("tenant-", i), "a", "a") }),
		"a large file":                file("platform", "a", strings.Repeat("x", 20<<20)),
		"deep nesting":                file("platform", "a", strings.Repeat("[", 100_000)),
		"an odd target":               file("'../outside'", "a", "a"),
	}
	var all []hostileCase
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		all = append(all, hostileCase{name: "a stream with " + name, runs: []string{"render --check --from-stream stream.yaml", "commit --dry-run --from-stream stream.yaml --no-gpg-sign --author a<a@example.com>"}, status: statusUsage, make: func(t *testing.T, repo, _ string) {
			files(map[string]string{"stream.yaml": texts[name], "fleet/fleet.yaml": aFleet()})(t, repo, "")
			commitAll(t, repo)
		}})
	}
	return all
}
