//go:build hostile && unix

package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestGuardsOfARun: a run that takes more than --timeout or --memory allow ends with a report of what is known, of what ended
// it and of what was under way, in each format.
func TestGuardsOfARun(t *testing.T) {
	binary, dir := builtCommand(t), t.TempDir()
	all := hostileCases()
	at := slices.IndexFunc(all, func(c hostileCase) bool { return c.name == "references of a configuration" })
	all[at].make(t, dir, "")
	putFile(t, filepath.Join(dir, "deep.yaml"), []byte("a: "+strings.Repeat("[", 300)+strings.Repeat("]", 300)))
	for limit, why := range map[string]string{
		"--timeout=5s":    "the run takes more than 5s, which --timeout allows",
		"--memory=192MiB": "the run takes more than 192 MiB of memory, which --memory allows",
	} {
		for _, format := range []string{"text", "json"} {
			t.Run(limit+" "+format, func(t *testing.T) {
				cmd := exec.CommandContext(t.Context(), binary, "validate", limit, "--format", format)
				cmd.Dir, cmd.Env = dir, strangerEnv()
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				_ = cmd.Run() // the status is looked at
				text := stdout.String()
				if cmd.ProcessState.ExitCode() != statusFindings {
					t.Errorf("status %d: %s", cmd.ProcessState.ExitCode(), tail(stderr.String()))
				}
				for _, want := range []string{why + ": not everything was checked", "the build of app was not finished: " + why, "deep.yaml was not checked: "} {
					if !strings.Contains(text, want) {
						t.Errorf("no %q in %s", want, tail(text))
					}
				}
				if format == "json" && !json.Valid(stdout.Bytes()) {
					t.Errorf("no JSON: %s", tail(text))
				}
			})
		}
	}
}
