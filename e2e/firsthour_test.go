package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetwright/fleetwright/e2e/harness"
)

// hour is the first hour of a user who follows docs/first-cluster.md.
type hour struct {
	site
	control *harness.Cluster
	net     *harness.Internet
	ssh     *harness.SSH
	env     []string
	dir     string // the working directory
	ran     int
}

// hourURL is the repository of the page.
const hourURL = "ssh://git@github.com/acme/platform"

// TestFirstHour runs the commands of docs/first-cluster.md as they are printed, from an empty folder, until the page's own
// checks say that everything is Ready. The boot alone is replaced. helmfile pulls the chart of the Flux Operator from
// ghcr.io, which the operator's Go module does not contain, and waits for the operator's pod, for which there is no node;
// the operator then pulls Flux's own distribution from ghcr.io, and its pods need nodes, too. So the test installs Flux and
// the FluxInstance as the operator would. The waits of check and of the last command, which the helmfile's hooks have, too,
// are real. TestBootWithEachHelm of examples runs boot with the real helmfile and Helm 3 and 4.
func TestFirstHour(t *testing.T) {
	if os.Getenv(alone) == "" {
		t.Parallel()
		t.Logf("proved on a real API server:\n%s", strings.Join(inProcess(t), "\n"))
		return
	}
	h := startHour(t)
	for _, step := range page(t) {
		if step.file != "" {
			h.appendTo(t, step.file, step.text)
			continue
		}
		out := h.follow(t, step.text)
		switch step.text {
		case "fleetwright secrets sync":
			h.addDeployKeys(t, out)
		case "fleetwright commit":
			h.repeats(t, out)
		}
	}
	h.runs(t)
}

// step is a command of the page, or a text that the page says to append to a file.
type step struct{ file, text string }

// page returns the steps of docs/first-cluster.md, in order.
func page(t *testing.T) []step {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(harness.Root(t), "docs", "first-cluster.md"))
	must(t, err)
	appends := regexp.MustCompile("^Append to `([^`]+)`")
	var steps []step
	block, file := "", ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch fence, isFence := strings.CutPrefix(line, "```"); {
		case isFence && block != "":
			block = ""
		case isFence:
			block = fence
			if fence == "yaml" {
				steps = append(steps, step{file: file})
			}
		case block == "console":
			command, isCommand := strings.CutPrefix(line, "$ ")
			if !isCommand {
				t.Fatalf("docs/first-cluster.md: %q is no command", line)
			}
			steps = append(steps, step{text: command})
		case block == "yaml":
			steps[len(steps)-1].text += line + "\n"
		default:
			if m := appends.FindStringSubmatch(line); m != nil {
				file = m[1]
			}
		}
	}
	if len(steps) < 15 {
		t.Fatalf("docs/first-cluster.md has only the steps %q", steps)
	}
	return steps
}

// startHour starts a cluster, a Git host, and a machine whose home folder is empty.
func startHour(t *testing.T) *hour {
	t.Helper()
	if _, err := exec.LookPath("kubectl"); err != nil {
		must(t, harness.UseTools("kubectl"))
	}
	h := &hour{net: harness.StartInternet(t, "github.com"), dir: t.TempDir()}
	h.net.NewRepository("https://github.com/acme/platform")
	h.ssh = h.net.StartSSH(t, "github.com")
	t.Setenv("ALL_PROXY", h.ssh.Proxy()) // for source-controller
	h.control = harness.StartCluster(t, slices.Concat(harness.FluxKinds(t), harness.GatewayKinds(), harness.CertManagerKinds())...)
	home, tools := t.TempDir(), t.TempDir()
	git := "[user]\n\tname = Ada\n\temail = ada@example.com\n[url \"file://" + h.net.Repositories + "/github.com/\"]\n\tinsteadOf = ssh://git@github.com/\n"
	must(t, os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(git), 0o600))
	scan := "#!/bin/sh\ntest \"$*\" = github.com && cat <<'end'\n" + h.ssh.KnownHosts() + "end\n"
	must(t, os.WriteFile(filepath.Join(tools, "ssh-keyscan"), []byte(scan), 0o700)) //nolint:gosec // a program
	h.env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "SOPS_") || strings.HasPrefix(v, "XDG_") || strings.HasPrefix(v, "GIT_") || strings.HasPrefix(v, "CI=")
	}), "HOME="+home, "KUBECONFIG="+h.control.Kubeconfig(t), "PATH="+strings.Join([]string{tools, filepath.Join(harness.Root(t), "bin"), os.Getenv("PATH")}, ":"))
	return h
}

// follow runs a command of the page in the folder in which the command before left the shell, and returns its output.
func (h *hour) follow(t *testing.T, command string) string {
	t.Helper()
	h.ran++
	if command == "make -C bootstrap/staging boot" {
		h.boot(t)
		return ""
	}
	where := filepath.Join(t.TempDir(), "where")
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", command+"\npwd > "+where)
	cmd.Dir, cmd.Env = h.dir, h.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("$ %s\n%s%v", command, out, err)
	}
	dir, err := os.ReadFile(where)
	must(t, err)
	h.dir = strings.TrimSpace(string(dir))
	return string(out)
}

// appendTo appends a text of the page to a file.
func (h *hour) appendTo(t *testing.T, file, text string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(h.dir, file), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	_, err = f.WriteString(text)
	must(t, err)
	must(t, f.Close())
}

// addDeployKeys adds the public keys that secrets sync prints to the Git host.
func (h *hour) addDeployKeys(t *testing.T, out string) {
	t.Helper()
	keys := regexp.MustCompile(`public key of identity: (ssh-ed25519 \S+)\n +add it to `+regexp.QuoteMeta(hourURL)+` as a deploy key that can only read: https://github\.com/acme/platform/settings/keys\n`).
		FindAllStringSubmatch(out, -1)
	if len(keys) != 2 {
		t.Fatalf("secrets sync prints %d public keys with the place to add them, want 2:\n%s", len(keys), out)
	}
	for _, key := range keys {
		h.ssh.Authorize(t, key[1], "/acme/platform")
	}
}

// repeats checks that commit prints the page's commands from the namespace on: those that a new cluster needs.
func (h *hour) repeats(t *testing.T, out string) {
	t.Helper()
	steps := page(t)
	from := slices.IndexFunc(steps, func(s step) bool { return strings.HasPrefix(s.text, "kubectl create namespace") })
	var want strings.Builder
	for _, step := range steps[max(from, 0):] {
		want.WriteString("  " + step.text + "\n")
	}
	_, printed, _ := strings.Cut(strings.ReplaceAll(out, h.home(), "$HOME"), "new cluster staging:\n")
	if from < 0 || printed != want.String() {
		t.Errorf("commit prints for the new cluster\n%swant, as the page\n%s", printed, want.String())
	}
}

func (h *hour) home() string {
	for _, v := range slices.Backward(h.env) {
		if home, ok := strings.CutPrefix(v, "HOME="); ok {
			return home
		}
	}
	return ""
}

// boot replaces the helmfile: the operator installs Flux, and creates the root sync of the FluxInstance.
func (h *hour) boot(t *testing.T) {
	t.Helper()
	h.fleet = &harness.Fleet{Dir: h.dir}
	rendered := h.rendered(t)
	components := harness.Components(t)
	h.control.Apply(components...)
	h.flux = harness.StartFlux(t, h.control, components, h.net)
	h.control.DefineKinds(rendered)
	h.control.DeclareAbsent(h.net)
	for _, object := range rendered {
		if object.GetKind() != "FluxInstance" {
			continue
		}
		h.control.Apply(object)
		h.instanceReady(t, object)
		spec, _, _ := unstructured.NestedMap(object.Object, "spec")
		h.control.Apply(harness.Sync(t, spec)...)
	}
}

// instanceReady writes the status that the operator writes to the FluxInstance.
func (h *hour) instanceReady(t *testing.T, instance *unstructured.Unstructured) {
	t.Helper()
	status := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":"True","reason":"Declared","message":"","lastTransitionTime":%q}]}}`, time.Now().UTC().Format(time.RFC3339))
	_, err := h.control.Any.Resource(schema.GroupVersionResource{Group: "fluxcd.controlplane.io", Version: "v1", Resource: "fluxinstances"}).Namespace(instance.GetNamespace()).
		Patch(t.Context(), instance.GetName(), types.MergePatchType, []byte(status), metav1.PatchOptions{}, "status")
	must(t, err)
}

// runs checks what runs after the page's last check: the platform's namespaces, and the tenant's web server, which started
// under its own policies and only from its own source.
func (h *hour) runs(t *testing.T) {
	t.Helper()
	list, err := h.control.Any.Resource(harness.Kustomizations).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	var names []string
	for _, k := range list.Items {
		names = append(names, k.GetNamespace()+"/"+k.GetName())
	}
	if want := "team-a-flux/team-a"; !slices.Contains(names, want) {
		t.Errorf("the Kustomizations %v have no %s", names, want)
	}
	web, err := h.control.Kube.AppsV1().Deployments("team-a").Get(t.Context(), "podinfo", metav1.GetOptions{})
	must(t, err)
	if web.Status.AvailableReplicas != 1 {
		t.Errorf("the tenant's Deployment has %d available replicas, want 1", web.Status.AvailableReplicas)
	}
	if !t.Failed() {
		fmt.Printf("\n%sdocs/first-cluster.md: its %d commands, as printed, bring %d Kustomizations to a cluster: all Ready, from a private repository by deploy keys\n", proof, h.ran, len(names))
	}
}
