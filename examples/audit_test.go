package examples_test

import (
	"os"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/specs"
	"github.com/fleetwright/fleetwright/validators"
)

// TestHomelabIsCleanUnderAudit: the homelab shows the fields that the profile audit requires. The only remaining advice is about
// charts that their publishers do not sign.
func TestHomelabIsCleanUnderAudit(t *testing.T) {
	audited(t, load(t, "homelab"), func(id string, _ bool) bool { return id == "source-unverified" })
}

// TestAuditHasFields: the fields of the Fleet that docs/validate.md shows remove what the profile audit advises for the other
// examples, in the tenants' repositories, too. An Alert is an object for which somebody has to name a channel.
func TestAuditHasFields(t *testing.T) {
	page, err := os.ReadFile("../docs/validate.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "## The profile audit\n")
	_, text, _ = strings.Cut(text, "```yaml\n")
	text, _, ok := strings.Cut(text, "```")
	if !ok {
		t.Fatal("the page shows no fields")
	}
	text += "---\napiVersion: fleetwright.dev/v1alpha1\nkind: Cluster\nmetadata: {name: production}\nspec: {environment: production}\n"
	shown, err := specs.Load([]specs.File{{Path: "fleet/fleet.yaml", Content: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"acme", "classic", "k0rdent", "kommander"} {
		t.Run(name, func(t *testing.T) {
			spec := load(t, name)
			fleet, more := &spec.Fleet.Spec, shown.Fleet.Spec
			if fleet.Flux.Install == v1alpha1.InstallOperator {
				fleet.Flux.Size, fleet.Flux.Sharding = more.Flux.Size, more.Flux.Sharding
			}
			fleet.Defaults.DriftDetection, fleet.Defaults.Install, fleet.Defaults.Upgrade = more.Defaults.DriftDetection, more.Defaults.Install, more.Defaults.Upgrade
			audited(t, spec, func(id string, platform bool) bool {
				return !strings.HasPrefix(id, "audit-") || platform && id == "audit-alert-missing"
			})
		})
	}
}

// audited reports what the profile audit advises for each target of a specification, except for some rules.
func audited(t *testing.T, spec *v1alpha1.Spec, but func(id string, platform bool) bool) {
	t.Helper()
	rules, err := validators.Select(nil, validators.Profiles()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range render(t, spec) {
		platform := target.Name == generators.PlatformTarget
		repo, err := repository.FromFiles(func(yield func(string, []byte) bool) {
			for f := range target.Tree.All() {
				if !yield(f.Path, f.Content) {
					return
				}
			}
		}, repository.Options{})
		if err != nil {
			t.Fatal(err)
		}
		report, err := validators.Run(t.Context(), repo, validators.Options{Rules: rules})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report.Findings {
			if !but(f.Rule, platform) {
				t.Errorf("%s/%s:%d: %s [%s]", target.Name, f.File, f.Line, f.Message, f.Rule)
			}
		}
		for _, u := range report.Unresolved {
			if u.Rule == "audit-alert-missing" && !but(u.Rule, platform) {
				t.Errorf("%s/%s:%d: %s [%s]", target.Name, u.File, u.Line, u.Reason, u.Rule)
			}
		}
	}
}
