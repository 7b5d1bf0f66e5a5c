//go:build hostile && unix

package main

import "testing"

// TestSecretsCheckStagedIsOffline runs the hook where the kernel ends a process that starts another
// one or opens a socket.
func TestSecretsCheckStagedIsOffline(t *testing.T) {
	if !canConfine(t) {
		t.Skip("a container may forbid to confine the command")
	}
	needTools(t, "git")
	dir := stagedFiles(t)
	if _, _, err := runConfined(confinedCommand(t.Context(), builtCommand(t), "secrets", "check", "--staged", dir)); err != nil {
		t.Error(err)
	}
}
