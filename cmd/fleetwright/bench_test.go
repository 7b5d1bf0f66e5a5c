package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// stagedFiles makes a repository of 2,000 files, 100 of which are staged, one of them a file of
// variables, for which all kustomizations are looked at.
func stagedFiles(b testing.TB) (dir string) {
	dir = b.TempDir()
	git := func(args ...string) {
		c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.com"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			b.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	put := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	write := func(round int, n int) {
		for i := range n {
			file := filepath.Join(dir, fmt.Sprintf("apps/ns%d/app%d/app/deployment.yaml", i%20, i))
			text := fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app%d\n  namespace: ns%d\nspec:\n  replicas: %d\n", i, i%20, round)
			for j := range 60 {
				text += fmt.Sprintf("  field%d: value-%d\n", j, j)
			}
			put(file, text)
			put(filepath.Join(filepath.Dir(file), "kustomization.yaml"), "resources: [deployment.yaml]\n")
		}
	}
	git("init", "-q")
	write(1, 1000)
	git("add", ".")
	git("commit", "-qm", "first")
	git("gc", "-q")
	write(2, 99)
	put(filepath.Join(dir, "apps", "settings.env"), "MODE=fast\n")
	git("add", ".")
	return dir
}

// BenchmarkSecretsCheckStaged is the pre-commit hook on a commit of 100 files, in a
// repository of 2,000.
func BenchmarkSecretsCheckStaged(b *testing.B) {
	binary, dir := builtCommand(b), stagedFiles(b)
	var cpu time.Duration
	for b.Loop() {
		c := exec.Command(binary, "secrets", "check", "--staged", dir)
		if out, err := c.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		cpu += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	b.ReportMetric(float64(cpu.Milliseconds())/float64(b.N), "cpu-ms/op")
}
