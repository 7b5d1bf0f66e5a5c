package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/rogpeppe/go-internal/testscript"
)

// ageKey makes a key of age: agekey NAME writes NAME.agekey and puts the
// recipient into the variable NAME.
func ageKey(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: agekey NAME")
	}
	id, err := age.GenerateX25519Identity()
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".agekey"), []byte(id.String()+"\n"), 0o600))
	ts.Setenv(args[0], id.Recipient().String())
}

// BenchmarkSecretsCheckStaged is the pre-commit hook on a commit of 100 files, in a
// repository of 2,000, the start of the process included. It is to take less than
// 300 ms.
func BenchmarkSecretsCheckStaged(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "fleetwright")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	dir := b.TempDir()
	git := func(args ...string) {
		c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.com"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			b.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(round int, n int) {
		for i := range n {
			file := filepath.Join(dir, fmt.Sprintf("apps/ns%d/app%d/app/deployment.yaml", i%20, i))
			text := fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app%d\n  namespace: ns%d\nspec:\n  replicas: %d\n", i, i%20, round)
			for j := range 60 {
				text += fmt.Sprintf("  field%d: value-%d\n", j, j)
			}
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				b.Fatal(err)
			}
			for name, content := range map[string]string{file: text, filepath.Join(filepath.Dir(file), "kustomization.yaml"): "resources: [deployment.yaml]\n"} {
				if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	git("init", "-q")
	write(1, 1000)
	git("add", ".")
	git("commit", "-qm", "first")
	git("gc", "-q")
	write(2, 100)
	git("add", ".")
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
