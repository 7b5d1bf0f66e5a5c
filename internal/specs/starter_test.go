package specs

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"

	"filippo.io/age"
)

func starter(t *testing.T, o StarterOptions) []File {
	t.Helper()
	files, err := Starter(o)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestStarterIsValid(t *testing.T) {
	spec, err := Load(starter(t, StarterOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(spec.Clusters); got != 1 || len(spec.Addons) != 2 || len(spec.Tenants) != 1 {
		t.Errorf("got %d clusters, %d add-ons, %d tenants", got, len(spec.Addons), len(spec.Tenants))
	}
	if spec.Encryption != nil {
		t.Error("an Encryption is switched on, whose recipients nobody has")
	}
	if !spec.OnPlatformRepository(spec.Tenants[0]) {
		t.Error("the tenant is not on a branch of the platform repository")
	}
	for _, f := range starter(t, StarterOptions{}) {
		if !strings.HasPrefix(string(f.Content), "# yaml-language-server: $schema=https://") {
			t.Errorf("%s does not begin with its schema", f.Path)
		}
	}
}

// commentedCode is a line that the starter says may be switched on.
var commentedCode = regexp.MustCompile(`(?m)^( *)#( {2,}|[^ \n])`)

func TestStarterCommentsAreValid(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	files := starter(t, StarterOptions{})
	for i, f := range files {
		text := commentedCode.ReplaceAllString(string(f.Content), "$1$2")
		files[i].Content = []byte(regexp.MustCompile(`age1-recipient-of-[a-z-]+`).ReplaceAllStringFunc(text, func(string) string {
			return recipient(t)
		}))
	}
	spec, err := Load(files)
	if err != nil {
		t.Fatal(err)
	}
	if spec.Encryption == nil || spec.Addons[0].Spec.Bootstrap == nil || spec.Fleet.Spec.Repository.SecretRef == nil {
		t.Error("the comments were not switched on")
	}
}

func recipient(t *testing.T) string {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return id.Recipient().String()
}

// The starter shows every field; those of a platform product its example does.
func TestStarterShowsEveryField(t *testing.T) {
	var text strings.Builder
	for _, f := range starter(t, StarterOptions{}) {
		text.Write(f.Content)
	}
	for _, product := range []string{"k0rdent", "kommander"} {
		example, err := os.ReadFile("../../examples/" + product + "/fleet/" + product + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		text.Write(example)
	}
	table, err := fieldTable()
	if err != nil {
		t.Fatal(err)
	}
	for kind, fields := range table {
		for _, name := range fields.Names {
			if !regexp.MustCompile(`\b` + name + `:`).MatchString(text.String()) {
				t.Errorf("the starter does not show %s of %s", name, kind.Name())
			}
		}
	}
}

func TestStarterRepository(t *testing.T) {
	for _, test := range []struct{ remote, want string }{
		{"", "https://git.example.com/platform/fleet.git"},
		{"https://github.com/acme/fleet.git", "https://github.com/acme/fleet.git"},
		{"https://user:token@github.com/acme/fleet", "https://github.com/acme/fleet"},
		{"https://token@github.com/acme/fleet", "https://github.com/acme/fleet"},
		{"git@github.com:acme/fleet.git", "ssh://git@github.com/acme/fleet.git"},
		{"host.example:/srv/fleet.git", "ssh://host.example/srv/fleet.git"},
		{"ssh://git@host:2222/fleet", "ssh://git@host:2222/fleet"},
		{"/srv/git/fleet.git", "file:///srv/git/fleet.git"},
		{"/srv/a: #b", "file:///srv/a:%20%23b"},
		{"../fleet", "https://git.example.com/platform/fleet.git"},
		{"git://host/fleet", "https://git.example.com/platform/fleet.git"},
	} {
		spec, err := Load(starter(t, StarterOptions{RepositoryURL: test.remote, Branch: "true"}))
		if err != nil {
			t.Errorf("%s: %v", test.remote, err)
			continue
		}
		if got := spec.Fleet.Spec.Repository; got.URL != test.want || got.Branch != "true" {
			t.Errorf("remote %q: got %q branch %q, want %q", test.remote, got.URL, got.Branch, test.want)
		}
		// source-controller reads nothing over SSH without a key.
		ssh := strings.HasPrefix(test.want, "ssh://")
		if (spec.Fleet.Spec.Repository.SecretRef != nil) != ssh || (spec.Tenants[0].Spec.Source.SecretRef != nil) != ssh {
			t.Errorf("remote %q: secretRef of the fleet %v, of the tenant %v", test.remote, spec.Fleet.Spec.Repository.SecretRef, spec.Tenants[0].Spec.Source.SecretRef)
		}
	}
}

func TestStarterIsTheCallers(t *testing.T) {
	files := starter(t, StarterOptions{})
	clear(files[0].Content)
	if again := starter(t, StarterOptions{}); slices.Contains(again[0].Content, 0) {
		t.Error("two callers share a file")
	}
}
