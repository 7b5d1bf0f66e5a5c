package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
	"sigs.k8s.io/yaml"
)

// Root returns the checkout that contains this module.
func Root(t testing.TB) string {
	t.Helper()
	root, err := filepath.Abs("..")
	must(t, err)
	return root
}

// A Fleet is an example as its platform engineer uses it: a clone of the
// platform repository with the specification in it, which git and Fleetwright change.
//
// It changes two parts of the specification: recipients, since no test has the examples' private keys, and ssh:// addresses,
// which become https://.
type Fleet struct {
	Name     string
	Dir      string // the clone
	Internet *Internet

	t     testing.TB
	token string
	keys  map[string]*age.X25519Identity // by the scope in the specification: clusters/staging, tenants/team-a
}

// NewFleet clones an empty platform repository and adds the example's specification.
func NewFleet(t testing.TB, example string) *Fleet {
	t.Helper()
	f := &Fleet{Name: example, Dir: filepath.Join(t.TempDir(), "platform"), t: t, keys: map[string]*age.X25519Identity{}}
	f.Internet = StartInternet(t, "git.acme.example", "registry.acme.example", "git.home.example", "git.classic.example", "git.nimbus.example")
	must(t, os.CopyFS(filepath.Join(f.Dir, "fleet"), os.DirFS(filepath.Join(Root(t), "examples", example, "fleet"))))
	f.each(func(text string) string { return strings.ReplaceAll(text, "url: ssh://git@", "url: https://") })
	f.ownKeys()
	f.token = f.Internet.GrantAll()
	for _, url := range f.repositories() {
		f.Internet.NewRepository(url)
	}
	f.git("init", "--quiet", "--initial-branch=main")
	f.git("remote", "add", "origin", f.PlatformURL())
	return f
}

// PlatformURL returns the address of the platform repository.
func (f *Fleet) PlatformURL() string { return f.repositories()[0] }

// repositories returns the addresses of the Git repositories in the specification, the
// platform's first.
func (f *Fleet) repositories() []string {
	urls := []string{f.document("Fleet", "").get("spec", "repository", "url").(string)}
	for _, tenant := range f.documents("Tenant") {
		if url, ok := tenant.get("spec", "source", "url").(string); ok && strings.HasPrefix(url, "https://") {
			urls = append(urls, url)
		}
	}
	return urls
}

var recipient = regexp.MustCompile(`age1[0-9a-z]{58}`)

// ownKeys replaces every recipient of the specification by the public part of a key that the test creates.
func (f *Fleet) ownKeys() {
	f.t.Helper()
	identities := map[string]*age.X25519Identity{}
	f.each(func(text string) string {
		return recipient.ReplaceAllStringFunc(text, func(old string) string {
			if identities[old] == nil {
				identity, err := age.GenerateX25519Identity()
				must(f.t, err)
				identities[old] = identity
				identities[identity.Recipient().String()] = identity
			}
			return identities[old].Recipient().String()
		})
	})
	recipients := f.document("Encryption", "").get("spec", "recipients").(map[string]any)
	for _, scope := range []string{"clusters", "tenants"} {
		of, _ := recipients[scope].(map[string]any) // a fleet without tenants has no recipients of tenants
		for name, value := range of {
			key := value.(map[string]any)["age"].([]any)[0].(string)
			f.keys[scope+"/"+name] = identities[key]
		}
	}
}

// Key returns the private age key of a scope: clusters/NAME or tenants/NAME.
func (f *Fleet) Key(scope string) string { return f.keys[scope].String() }

// Edit replaces a string in the specification; the test fails if the string isn't there.
func (f *Fleet) Edit(old, new string) {
	f.t.Helper()
	found := false
	f.each(func(text string) string {
		found = found || strings.Contains(text, old)
		return strings.Replace(text, old, new, 1)
	})
	if !found {
		f.t.Fatalf("the specification of %s has no %q", f.Name, old)
	}
}

// SetState sets the state of a tenant.
func (f *Fleet) SetState(tenant, state string) {
	f.t.Helper()
	f.each(func(text string) string {
		docs := strings.Split(text, "\n---\n")
		for i, doc := range docs {
			var d document
			if yaml.Unmarshal([]byte(doc), &d) != nil || d["kind"] != "Tenant" || d.get("metadata", "name") != tenant {
				continue
			}
			doc = regexp.MustCompile(`(?m)^  state: .*\n?`).ReplaceAllString(strings.TrimRight(doc, "\n")+"\n", "")
			docs[i] = strings.TrimRight(doc, "\n") + "\n  state: " + state + "\n"
		}
		return strings.Join(docs, "\n---\n")
	})
}

// Remove removes an object from the specification.
func (f *Fleet) Remove(kind, name string) {
	f.t.Helper()
	f.each(func(text string) string {
		return strings.Join(slices.DeleteFunc(strings.Split(text, "\n---\n"), func(doc string) bool {
			var d document
			return yaml.Unmarshal([]byte(doc), &d) == nil && d["kind"] == kind && d.get("metadata", "name") == name
		}), "\n---\n")
	})
}

// A GitTenant is a tenant with a repository or branch of its own.
type GitTenant struct {
	Name, URL, Branch string
	Namespace         string // the first namespace of its workloads
}

// GitTenants returns the GitTenants of the specification, in the files' order.
func (f *Fleet) GitTenants() []GitTenant {
	f.t.Helper()
	var tenants []GitTenant
	for _, d := range f.documents("Tenant") {
		if kind := d.get("spec", "source", "kind"); kind == "OCIRepository" {
			continue
		}
		name := d.get("metadata", "name").(string)
		tenant := GitTenant{Name: name, URL: f.PlatformURL(), Namespace: name}
		if url, ok := d.get("spec", "source", "url").(string); ok {
			tenant.URL = url
		}
		tenant.Branch, _ = d.get("spec", "source", "branch").(string)
		if namespaces, ok := d.get("spec", "namespaces").([]any); ok {
			tenant.Namespace = namespaces[0].(string)
		}
		tenants = append(tenants, tenant)
	}
	return tenants
}

// Commit commits the specification with git, and commits and pushes the rendered files with Fleetwright, with additional
// flags.
func (f *Fleet) Commit(message string, flags ...string) {
	f.t.Helper()
	f.git("add", "--all")
	f.git("commit", "--quiet", "--message", message)
	f.Render(flags...)
}

// SyncSecrets creates the declared Secrets with Fleetwright, and with values of the test: the value for a tenant's token opens
// the tenant's repository. env contains further variables for values that come from the environment.
func (f *Fleet) SyncSecrets(env ...string) {
	f.t.Helper()
	if len(f.Declared()) == 0 {
		return
	}
	c := f.command(filepath.Join(Root(f.t), "bin", "fleetwright"), "secrets", "sync", f.Dir)
	c.Env = append(append(c.Environ(), env...), "GRAFANA_ADMIN_USER="+DeclaredValue, "CLOUDFLARE_API_TOKEN="+DeclaredValue,
		"TEAM_B_USERNAME=git", "TEAM_B_TOKEN="+f.Internet.Grant(f.PlatformURL()))
	if out, err := c.CombinedOutput(); err != nil {
		f.t.Fatalf("secrets sync: %v\n%s", err, out)
	}
}

// DeclaredValue is the value of declared Secrets that come from the environment. Flux would replace the variable in it if it
// substituted variables after it decrypts.
const DeclaredValue = "what was ${CLUSTER_NAME} $2y$10$ declared"

// A DeclaredSecret is a Secret that the specification declares.
type DeclaredSecret struct {
	Name, Namespace, Scope, Tenant string
	Keys                           []struct {
		Name string
		From map[string]any
	}
}

// Declared returns the Secrets that the specification declares.
func (f *Fleet) Declared() []DeclaredSecret {
	f.t.Helper()
	text, err := yaml.Marshal(f.document("Encryption", "").get("spec", "secrets"))
	must(f.t, err)
	var declared []DeclaredSecret
	must(f.t, yaml.Unmarshal(text, &declared))
	for i, d := range declared {
		if d.Namespace == "" {
			declared[i].Namespace = d.Tenant + "-flux"
		}
	}
	return declared
}

// Declares reports whether the specification declares a Secret.
func (f *Fleet) Declares(namespace, name string) bool {
	f.t.Helper()
	return slices.ContainsFunc(f.Declared(), func(d DeclaredSecret) bool { return d.Namespace == namespace && d.Name == name })
}

// Recipients returns the current public keys of a tenant in the specification.
func (f *Fleet) Recipients(tenant string) []any {
	f.t.Helper()
	keys, _ := f.document("Encryption", "").get("spec", "recipients", "tenants", tenant, "age").([]any)
	return keys
}

// Render renders, commits and pushes with Fleetwright.
func (f *Fleet) Render(flags ...string) {
	f.t.Helper()
	f.run(filepath.Join(Root(f.t), "bin", "fleetwright"), append(f.commitArgs(), flags...)...)
}

// Head returns the commit at the head of a branch of a repository.
func (f *Fleet) Head(url, branch string) string {
	f.t.Helper()
	_, path, _ := strings.Cut(url, "://")
	out, err := exec.Command("git", "-C", filepath.Join(f.Internet.Repositories, path), "rev-parse", branch).Output()
	must(f.t, err)
	return strings.TrimSpace(string(out))
}

// LinkTo begins the content that Put writes as a symbolic link; the target follows.
const LinkTo = "link to "

// Put writes files into a branch of a repository by hand, as its owners do. Secrets are encrypted as their owners would: with
// Fleetwright by the platform's engineers, with sops by the tenants. An empty content deletes a file.
func (f *Fleet) Put(url, branch string, files map[string]string) {
	f.t.Helper()
	clone := f.t.TempDir()
	f.run("git", "-c", "credential.helper="+f.helper(), "clone", "--quiet", "--branch", branch, url, clone)
	for name, content := range files {
		file := filepath.Join(clone, name)
		if content == "" {
			must(f.t, os.Remove(file))
			continue
		}
		must(f.t, os.MkdirAll(filepath.Dir(file), 0o755))
		if target, ok := strings.CutPrefix(content, LinkTo); ok {
			must(f.t, os.Symlink(target, file))
			continue
		}
		must(f.t, os.WriteFile(file, []byte(content), 0o600))
		switch {
		case !strings.HasSuffix(name, ".sops.yaml"):
		case branch == "main" && url == f.PlatformURL():
			f.run(filepath.Join(Root(f.t), "bin", "fleetwright"), "secrets", "encrypt", file)
		default:
			f.encrypt(clone, name)
		}
	}
	f.run("git", "-C", clone, "add", "--all")
	f.run("git", "-C", clone, "commit", "--quiet", "--allow-empty", "--message", "Put files by hand") // the files may be unchanged
	f.run("git", "-C", clone, "-c", "credential.helper="+f.helper(), "push", "--quiet", "origin", branch)
}

// encrypt runs the real sops, with the repository's own .sops.yaml.
func (f *Fleet) encrypt(dir, name string) {
	f.t.Helper()
	sops := exec.Command("sops", "--encrypt", "--in-place", name)
	sops.Dir = dir
	if out, err := sops.CombinedOutput(); err != nil {
		f.t.Fatalf("sops %s: %v: %s", name, err, out)
	}
}

// Pull updates the engineer's clone.
func (f *Fleet) Pull() {
	f.t.Helper()
	f.git("-c", "credential.helper="+f.helper(), "pull", "--quiet", "--rebase", "origin", "main")
}

func (f *Fleet) helper() string {
	return fmt.Sprintf("!printf 'username=git\\npassword=%s\\n'; #", f.token)
}

func (f *Fleet) git(args ...string) {
	f.t.Helper()
	f.run("git", append([]string{"-C", f.Dir}, args...)...)
}

func (f *Fleet) run(name string, args ...string) {
	f.t.Helper()
	if out, err := f.command(name, args...).CombinedOutput(); err != nil {
		f.t.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
}

// each rewrites every file of the specification.
func (f *Fleet) each(change func(string) string) {
	f.t.Helper()
	for _, file := range f.files() {
		text, err := os.ReadFile(file)
		must(f.t, err)
		must(f.t, os.WriteFile(file, []byte(change(string(text))), 0o600))
	}
}

func (f *Fleet) files() []string {
	f.t.Helper()
	files, err := filepath.Glob(filepath.Join(f.Dir, "fleet", "*.yaml"))
	must(f.t, err)
	slices.Sort(files)
	return files
}

// A document is an object of the specification.
type document map[string]any

func (d document) get(path ...string) any {
	var value any = map[string]any(d)
	for _, key := range path {
		m, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = m[key]
	}
	return value
}

// documents returns the specification's objects of a kind, in the files' order.
func (f *Fleet) documents(kind string) []document {
	f.t.Helper()
	var found []document
	for _, file := range f.files() {
		text, err := os.ReadFile(file)
		must(f.t, err)
		for doc := range strings.SplitSeq(string(text), "\n---\n") {
			var d document
			must(f.t, yaml.Unmarshal([]byte(doc), &d))
			if d["kind"] == kind {
				found = append(found, d)
			}
		}
	}
	return found
}

// document returns the specification's object of a kind with a name, or the first if the name is "".
func (f *Fleet) document(kind, name string) document {
	f.t.Helper()
	for _, d := range f.documents(kind) {
		if name == "" || d.get("metadata", "name") == name {
			return d
		}
	}
	f.t.Fatalf("%s has no %s %q", f.Name, kind, name)
	return nil
}

// UseTools puts the programs that go.mod names as tools first on PATH, for this process and
// those that it starts; they are built when needed.
func UseTools(names ...string) error {
	for _, name := range names {
		out, err := exec.Command("go", "tool", "-n", name).Output()
		if err != nil {
			return fmt.Errorf("go tool -n %s: %w", name, err)
		}
		dir := filepath.Dir(strings.TrimSpace(string(out)))
		if err := os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH")); err != nil {
			return err
		}
	}
	return nil
}
