package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// fieldCase is the right verdict about a small repository that was written after a public bug report, taken from the real
// tools and the controllers' code.
type fieldCase struct {
	// finds are the errors and warnings, and nothing else: "SEVERITY FILE:LINE[-LINE] WORD…"; the words are in the message
	// or the hint.
	finds []string
	// open are words of what is unresolved, one line for each; nil if nothing is.
	open []string
	// build are texts in the output of build for the cluster prod; those after "no " are not in it.
	build []string
}

const noChart = "the chart is not available locally"

var fieldCases = map[string]fieldCase{
	"alert-sources":                             {finds: []string{"error clusters/prod/alerts.yaml:34 eventSeverity info error", "warning clusters/prod/alerts.yaml:24 namespace *"}, open: []string{"chat-address"}},
	"anchors-right":                             {build: []string{"name: nightly", "name: weekly", "busybox:1.37"}},
	"boolean-from-variable-right":               {open: []string{noChart}, build: []string{"suspend: false", "port: 8080"}},
	"bootstrap-behind-git":                      {finds: []string{"error bootstrap/helmfile.yaml:9 1.18.2 1.19.4"}, open: []string{noChart}},
	"components-are-relative-to-path":           {finds: []string{"error clusters/prod/apps.yaml:14 components/tls relative ../../components/tls"}, open: []string{"namespace web"}},
	"config-map-generator-reads-encrypted-file": {finds: []string{"error apps/kustomization.yaml:5-9 settings.sops.yaml encrypted secretGenerator"}},
	"crd-in-the-same-kustomization":             {finds: []string{"warning infra/issuer.yaml:1-6 cert-manager CRD"}, open: []string{noChart}},
	"default-without-vars":                      {finds: []string{"error apps/namespace.yaml:4 team_namespace postBuild Always", "error apps/config.yaml:5 team_namespace postBuild Always"}},
	"dotfiles-in-a-plain-folder":                {finds: []string{"error deploy/.yamllint.yaml:1 kustomization.yaml .sourceignore"}},
	"duplicate-key":                             {finds: []string{"error apps/config.yaml:9 mode 7"}},
	"encrypted-regex-with-spaces":               {finds: []string{"error apps/secret.sops.yaml:7 password encrypted_regex .sops.yaml"}},
	"encrypted-secrets-right":                   {},
	"generator-merges-component":                {finds: []string{"error apps/prod/kustomization.yaml:5-10 settings component"}},
	"helm-charts-field":                         {finds: []string{"error apps/kustomization.yaml:5-9 helmCharts Flux HelmRelease"}, open: []string{"no HelmRelease"}},
	"image-policy-in-another-namespace":         {finds: []string{"warning apps/deployment.yaml:16 web/web namespace", "warning apps/patch.yaml:4 marker patch"}},
	"include-and-submodule-right":               {open: []string{"external/base", "vendor/dashboards", "external/base/web"}},
	"inputs-provider-typo":                      {finds: []string{"error clusters/prod/set.yaml:9 ResourceSetInputProvider"}},
	"invalid-variable-name":                     {finds: []string{"error clusters/prod/vars.yaml:7 node-group apps"}},
	"kommander-override-key":                    {finds: []string{"error workspaces/blue/overrides.yaml:4-7 values.yaml"}, open: []string{"dashboards-3.2.0"}},
	"kpt-package-right":                         {build: []string{"kind: Namespace", "kind: ConfigMap", "no Kptfile"}},
	"list-of-custom-resource-is-replaced":       {open: []string{noChart}, build: []string{"web-extra"}},
	"lockdown-without-account":                  {finds: []string{"error clusters/prod/flux-system/gotk-sync.yaml:14-25 serviceAccountName default", "error clusters/prod/infra.yaml:1-13 serviceAccountName default"}},
	"object-without-namespace":                  {finds: []string{"error apps/config.yaml:1-6 web namespace", "error apps/kustomization.yaml:1-9 files namespace"}},
	"octal-modes-right":                         {build: []string{"288", "488"}},
	"other-repository-without-path-right":       {open: []string{"stack-source"}},
	"patch-target-namespace":                    {finds: []string{"warning clusters/prod/apps.yaml:15-18 namespace web", "warning apps/hpa.yaml:11 Deployment"}, build: []string{"minReplicas: 2"}},
	"path-regex-with-dot-slash":                 {finds: []string{"warning apps/secret.yaml:1-8 path_regex"}},
	"post-renderers":                            {finds: []string{"error apps/release.yaml:11 postRenderes postRenderers"}, open: []string{noChart}},
	"quotes-do-not-help":                        {finds: []string{"error apps/config.yaml:6 listen_port string", "error apps/config.yaml:8 listen_port string", "error apps/config.yaml:9 verbose string"}},
	"ready-expression":                          {finds: []string{"error clusters/prod/apps.yaml:52 dependency self dep"}},
	"replacement-before-prefix":                 {build: []string{"name: blue-worker", "instance: worker"}},
	"resource-set-is-a-template":                {finds: []string{"error clusters/prod/set.yaml:23 tenants/blue"}, build: []string{"name: red", "name: blue"}},
	"resource-set-permute-right":                {build: []string{"size: \"3\"", "{{ .Values.x }}"}},
	"resource-set-unknown-field":                {finds: []string{"error clusters/prod/set.yaml:24 prunes"}},
	"service-template-namespace":                {finds: []string{"error clusters/prod/services.yaml:41 proxy-2-0-1 kcm-system team-a"}, open: []string{"MultiClusterService proxy"}},
	"sourceignore-hides-path":                   {finds: []string{"error clusters/prod/apps.yaml:8 apps .sourceignore:2"}, build: []string{"no name: web"}},
	"strict-with-functions":                     {finds: []string{"error apps/config.yaml:7 site undefined"}},
	"target-namespace-renames-namespace":        {finds: []string{"error apps/namespace.yaml:1-4 targetNamespace team-red"}, build: []string{"name: flux-system", "no team-red"}},
	"values-with-hash":                          {finds: []string{"error apps/release.yaml:13 web-values disableNameSuffixHash"}, open: []string{noChart}},
	"variable-of-child-eaten-by-parent":         {finds: []string{"error apps/web/ks.yaml:24 TEAM $${TEAM} web"}},
	"variables-in-another-namespace":            {finds: []string{"error clusters/prod/team-a.yaml:22 cluster-vars flux-system"}, open: []string{"region"}},
}

// TestFieldCases validates each case, and builds it. Cases of the same format in ../shared/cases, if they are there, are
// read instead of the copies.
func TestFieldCases(t *testing.T) {
	from := "../../../shared/cases"
	if _, err := os.Stat(from); err != nil {
		from = "../../testdata/cases"
	}
	found, err := filepath.Glob(filepath.Join(from, "*", "*"))
	if err != nil || len(found) < len(fieldCases) {
		t.Fatalf("%d files, %v", len(found), err)
	}
	for name, c := range fieldCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(filepath.Join(from, name))); err != nil {
				t.Fatal(err)
			}
			c.validate(t, dir)
			if len(c.build) > 0 {
				c.checkBuild(t, dir)
			}
		})
	}
}

func (c fieldCase) validate(t *testing.T, dir string) {
	cmd := exec.CommandContext(t.Context(), "fleetwright", "validate", "--format", "json", dir)
	out, _ := cmd.Output() // the status is not looked at
	var report struct {
		Findings []struct {
			Severity, File, Message, Hint string
			Line                          int
		}
		Unresolved []struct{ File, Reason string }
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	left := slices.Clone(c.finds)
	for _, f := range report.Findings {
		if f.Severity == "info" {
			continue
		}
		what := fmt.Sprintf("%s %s:%d: %s; %s", f.Severity, f.File, f.Line, f.Message, f.Hint)
		i := slices.IndexFunc(left, func(want string) bool { return isFound(t, want, f.Severity, f.File, f.Line, f.Message+f.Hint) })
		if i < 0 {
			t.Errorf("a finding that is wrong: %s", what)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	for _, want := range left {
		t.Errorf("not found: %s\n%s", want, out)
	}
	open := slices.Clone(c.open)
	for _, u := range report.Unresolved {
		i := slices.IndexFunc(open, func(words string) bool { return strings.Contains(u.Reason, words) })
		if i < 0 {
			t.Errorf("unresolved at %s: %s", u.File, u.Reason)
			continue
		}
		open = slices.Delete(open, i, i+1)
	}
	for _, words := range open {
		t.Errorf("not unresolved: %s", words)
	}
}

// isFound reports whether a finding is the wanted one.
func isFound(t *testing.T, want, severity, file string, line int, text string) bool {
	words := strings.Fields(want)
	at, lines, _ := strings.Cut(words[1], ":")
	first, last, ranged := strings.Cut(lines, "-")
	if !ranged {
		last = first
	}
	from, err := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	if err != nil || err2 != nil {
		t.Fatalf("%q has no lines", want)
	}
	return severity == words[0] && file == at && line >= from && line <= to &&
		!slices.ContainsFunc(words[2:], func(word string) bool { return !strings.Contains(text, word) })
}

func (c fieldCase) checkBuild(t *testing.T, dir string) {
	cmd := exec.CommandContext(t.Context(), "fleetwright", "build", "--cluster", "prod", dir)
	out, _ := cmd.Output() // what cannot be built is reported by validate
	for _, want := range c.build {
		text, not := strings.CutPrefix(want, "no ")
		if strings.Contains(string(out), text) == not {
			t.Errorf("build: %q:\n%s", want, out)
		}
	}
}
