package harness

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Profile returns the tenant's spec.access.profile.
func (f *Fleet) Profile(tenant string) string {
	f.t.Helper()
	if profile, ok := f.document("Tenant", tenant).get("spec", "access", "profile").(string); ok {
		return profile
	}
	return "restricted"
}

// RemoveTenant removes a tenant from the specification, with its recipients and Secrets, as these must not name a tenant that
// does not exist. It also deletes the Secrets' files, which Fleetwright never deletes.
func (f *Fleet) RemoveTenant(name string) {
	f.t.Helper()
	for _, d := range f.Declared() {
		if d.Tenant == name {
			found, err := filepath.Glob(filepath.Join(f.Dir, "*", "base", name, "secrets", d.Namespace, d.Name+".sops.yaml"))
			must(f.t, err)
			deeper, err := filepath.Glob(filepath.Join(f.Dir, "*", "*", "base", name, "secrets", d.Namespace, d.Name+".sops.yaml"))
			must(f.t, err)
			for _, file := range append(found, deeper...) {
				must(f.t, os.Remove(file))
			}
		}
	}
	f.Remove("Tenant", name)
	recipients := regexp.MustCompile(`(?m)^      ` + name + `:\n(?:        .*\n)+`)
	secrets := regexp.MustCompile(`(?m)^    - name: .*\n(?:      .*\n)+`)
	f.each(func(text string) string {
		return secrets.ReplaceAllStringFunc(recipients.ReplaceAllString(text, ""), func(item string) string {
			if strings.Contains(item, "\n      tenant: "+name+"\n") {
				return ""
			}
			return item
		})
	})
}

// Refused commits a specification that Fleetwright must not render, reverts it, and
// returns Fleetwright's exit code and output.
func (f *Fleet) Refused() (int, string) {
	f.t.Helper()
	f.git("add", "--all")
	f.git("commit", "--quiet", "--message", "Change what must stay")
	cmd := f.command(filepath.Join(Root(f.t), "bin", "fleetwright"), f.commitArgs()...)
	out, err := cmd.CombinedOutput()
	if exited := new(exec.ExitError); !errors.As(err, &exited) {
		must(f.t, err)
	}
	f.git("reset", "--quiet", "--hard", "HEAD~1")
	return cmd.ProcessState.ExitCode(), string(out)
}

// commitArgs returns the arguments with which the fleet is rendered and committed.
func (f *Fleet) commitArgs() []string {
	args := []string{"commit", f.Dir, "--push"}
	if f.Name == "classic" {
		args = append(args, "--flux-manifests", os.Getenv("FLUX_MANIFESTS"))
	}
	return args
}

// command returns a command with the engineer's token that only reaches the fleet's Internet.
func (f *Fleet) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = append(f.Internet.Env(),
		"FLEETWRIGHT_GIT_TOKEN="+f.token,
		"GIT_AUTHOR_NAME=E2E", "GIT_AUTHOR_EMAIL=e2e@example.com", "GIT_COMMITTER_NAME=E2E", "GIT_COMMITTER_EMAIL=e2e@example.com")
	return cmd
}
