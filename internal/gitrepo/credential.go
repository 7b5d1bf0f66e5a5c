package gitrepo

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Credential returns the user name and password that git's credential helpers have for an address; "" if they have none.
// Only the configuration of the user and the system determines the helpers: git runs outside of any repository, and does
// not prompt.
func Credential(ctx context.Context, address *url.URL) (user, password string) {
	if strings.ContainsAny(address.Host+address.Path, "\r\n\x00") {
		return "", ""
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return "", ""
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, git, "-c", "core.askPass=", "-c", "credential.interactive=false", "credential", "fill")
	c.Dir = filepath.VolumeName(git) + string(filepath.Separator)
	c.Env = append(gitEnvironment(os.Getenv), "GIT_DIR="+os.DevNull)
	c.Stdin = strings.NewReader("protocol=" + address.Scheme + "\nhost=" + address.Host + "\npath=" + strings.TrimPrefix(address.Path, "/") + "\n\n")
	var out bytes.Buffer
	c.Stdout, c.WaitDelay = &out, time.Second
	if c.Run() != nil {
		return "", ""
	}
	for line := range strings.Lines(out.String()) {
		switch key, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "="); key {
		case "username":
			user = value
		case "password":
			password = value
		}
	}
	return user, password
}
