package fetch

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/fetch/fetchtest"
)

// newKey returns a private key and its signer.
func newKey(t *testing.T) (ed25519.PrivateKey, ssh.Signer) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return key, signer
}

// sshServer serves repositories over SSH, with git itself, to whoever has a key; it returns its address.
func sshServer(t *testing.T, host ssh.Signer, user ssh.PublicKey) string {
	t.Helper()
	config := &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if c.User() != "git" || string(key.Marshal()) != string(user.Marshal()) {
			return nil, fmt.Errorf("unknown key")
		}
		return nil, nil
	}}
	config.AddHostKey(host)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serveSSH(conn, config)
		}
	}()
	return listener.Addr().String()
}

func serveSSH(conn net.Conn, config *ssh.ServerConfig) {
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for open := range channels {
		channel, requests, err := open.Accept()
		if err != nil {
			return
		}
		for r := range requests {
			_ = r.Reply(r.Type == "exec", nil)
			if r.Type != "exec" {
				continue
			}
			var run struct{ Command string }
			_ = ssh.Unmarshal(r.Payload, &run)
			at := strings.Trim(strings.TrimPrefix(run.Command, "git-upload-pack "), "'")
			c := exec.Command("git", "-c", "safe.directory=*", "upload-pack", at)
			in, _ := c.StdinPipe() // not Stdin, which Run would wait for
			c.Stdout = channel
			go func() { _, _ = io.Copy(in, channel) }()
			_ = c.Run()
			_ = channel.Close()
		}
	}
}

// Over SSH, the key is that of the agent, and the server must be a known host.
func TestGitOverSSH(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts servers")
	}
	r, _ := fetchtest.New(t).Git(t, "app")
	commit := r.Commit(map[string]string{"a.yaml": "over ssh"})
	_, host := newKey(t)
	key, user := newKey(t)
	at := sshServer(t, host, user.PublicKey())

	ring := agent.NewKeyring()
	folder, err := os.MkdirTemp("", "agent") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket, err := net.Listen("unix", filepath.Join(folder, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	go func() {
		for {
			conn, err := socket.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(ring, conn) }()
		}
	}()
	known := filepath.Join(folder, "known_hosts")
	name, port, _ := net.SplitHostPort(at)
	write := func(key ssh.PublicKey) {
		line := fmt.Sprintf("[%s]:%s %s", name, port, ssh.MarshalAuthorizedKey(key))
		if err := os.WriteFile(known, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("SSH_AUTH_SOCK", filepath.Join(folder, "s"))
	t.Setenv("SSH_KNOWN_HOSTS", known)
	o := sourceOptions(t)
	ask := chartref.Source{Kind: chartref.Git, URL: "ssh://git@" + at + r.Dir, Branch: "main"}
	refused := func(want string) {
		t.Helper()
		if out := source(t, o, ask); out.Err == nil || !strings.Contains(out.Err.Error(), want) {
			t.Errorf("the error is %v, want one with %q", out.Err, want)
		}
	}
	_, other := newKey(t)
	write(host.PublicKey())
	refused("accepts no key of the SSH agent")
	if err := ring.Add(agent.AddedKey{PrivateKey: key}); err != nil {
		t.Fatal(err)
	}
	write(other.PublicKey())
	refused("is not that of the known hosts")
	if err := os.WriteFile(known, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused("is not among the known hosts")
	write(host.PublicKey())
	o.Trusted = func(string) bool { return false }
	refused("private address 127.0.0.1")
	o.Trusted = func(string) bool { return true }
	out := source(t, o, ask)
	if files := filesOf(t, o, out); files["a.yaml"] != "over ssh" || out.Entry.Revision != "main@sha1:"+commit {
		t.Errorf("%v of %s", files, out.Entry.Revision)
	}
	ask.URL = "ssh://git@" + at + "/nowhere"
	refused("the repository does not exist")
	ask.URL = "ssh://git@169.254.169.254/x"
	refused("metadata service")
}
