//go:build hostile

package bounds

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestConfined: a process that started again opens no connection, begins no process, changes no file
// and reads none outside. It reads, has threads, and can start again; a command that changes files does so
// inside.
func TestConfined(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("there are no filters of system calls")
	}
	for name, c := range map[string]struct{ change, refused, allowed string }{
		"reads":   {"", "connect,unix,write,remove,rename,process,outside,link,list,passwd,put", "inside,threads,good"},
		"changes": {"1", "connect,unix,write,remove,rename,process,outside,link,list,passwd", "inside,put,threads,good"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := confinedFolder(t)
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			acts := c.refused + "," + c.allowed
			cmd.Env = append(os.Environ(), bombVariable+"=late,"+acts+",deep,large,"+acts, readVariable+"="+dir, changeVariable+"="+c.change)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, tail(string(out)))
			}
			for _, act := range strings.Split(c.refused, ",") {
				if got := regexp.MustCompile(`(?m)^`+act+`: .*(operation not permitted|permission denied)$`).FindAllString(string(out), -1); len(got) != 2 {
					t.Errorf("%s: refused %d times, want 2", act, len(got))
				}
			}
			for _, act := range strings.Split(c.allowed, ",") {
				if got := strings.Count(string(out), "\n"+act+": <nil>\n"); got != 2 {
					t.Errorf("%s: works %d times, want 2", act, got)
				}
			}
			if !strings.Contains(string(out), ", 3 exceeded\n") {
				t.Error("not all three units that take too much are refused")
			}
			if t.Failed() {
				t.Log(string(out))
			}
		})
	}
}

// confinedFolder is a folder with a file in it, one beside it, and a link from one to the other.
func confinedFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "dir")
	err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700)
	for _, file := range []string{filepath.Join(dir, "sub", "file"), filepath.Join(dir, "..", "file")} {
		err = errors.Join(err, os.WriteFile(file, nil, 0o600))
	}
	if err := errors.Join(err, os.Symlink("../file", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	return dir
}
