package harness

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
)

// SSH serves the repositories of one of the Internet's hosts over SSH, each to owners of its deploy key, and read-only.
// A SOCKS proxy on loopback leads to it by its public name.
type SSH struct {
	host, proxy string
	repos       string
	hostKey     ssh.Signer

	mu   sync.Mutex
	keys map[string]string // the paths that keys open, by marshalled public key
}

// StartSSH serves a host of the Internet over SSH until the test ends.
func (n *Internet) StartSSH(t testing.TB, host string) *SSH {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	signer, err := ssh.NewSignerFromKey(private)
	must(t, err)
	s := &SSH{host: host, repos: filepath.Join(n.Repositories, host), hostKey: signer, keys: map[string]string{}}
	server := serve(t, s.session)
	s.proxy = serve(t, func(conn net.Conn) { s.lead(conn, server) })
	return s
}

// serve handles each connection to a port on loopback until the test ends, and returns its address.
func serve(t testing.TB, handle func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				handle(conn)
			}()
		}
	}()
	return listener.Addr().String()
}

// Proxy returns the address of the proxy that leads to the host.
func (s *SSH) Proxy() string { return "socks5://" + s.proxy }

// KnownHosts returns what ssh-keyscan prints of the host.
func (s *SSH) KnownHosts() string {
	return s.host + " " + string(ssh.MarshalAuthorizedKey(s.hostKey.PublicKey()))
}

// Authorize adds a deploy key to a repository. The public key is in the form of an authorized_keys file.
func (s *SSH) Authorize(t testing.TB, public, repository string) {
	t.Helper()
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(public))
	must(t, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[string(key.Marshal())] = repository
}

// lead is a SOCKS proxy (RFC 1928) that connects to one host.
func (s *SSH) lead(conn net.Conn, server string) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(conn, head); err != nil || head[0] != 5 {
		return
	}
	if _, err := io.CopyN(io.Discard, conn, int64(head[1])); err != nil {
		return
	}
	_, _ = conn.Write([]byte{5, 0})
	request := make([]byte, 5)
	if _, err := io.ReadFull(conn, request); err != nil || request[3] != 3 {
		return
	}
	name := make([]byte, int(request[4])+2)
	if _, err := io.ReadFull(conn, name); err != nil {
		return
	}
	host, port := string(name[:len(name)-2]), binary.BigEndian.Uint16(name[len(name)-2:])
	refused := []byte{5, 4, 0, 1, 0, 0, 0, 0, 0, 0}
	if host != s.host || port != 22 {
		_, _ = conn.Write(refused)
		return
	}
	to, err := net.Dial("tcp", server)
	if err != nil {
		_, _ = conn.Write(refused)
		return
	}
	defer to.Close()
	_, _ = conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	go func() {
		_, _ = io.Copy(to, conn)
		_ = to.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(conn, to)
}

// session handles the connection of a client that reads repositories.
func (s *SSH) session(conn net.Conn) {
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		opens, known := s.keys[string(key.Marshal())]
		if !known {
			return nil, errors.New("no repository has this deploy key")
		}
		return &ssh.Permissions{Extensions: map[string]string{"opens": opens}}, nil
	}}
	config.AddHostKey(s.hostKey)
	server, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		if offered.ChannelType() != "session" {
			_ = offered.Reject(ssh.UnknownChannelType, "sessions only")
			continue
		}
		channel, asked, err := offered.Accept()
		if err != nil {
			return
		}
		go s.run(channel, asked, server.Permissions.Extensions["opens"])
	}
}

// run runs the command of a session: git-upload-pack of the repository that the key opens.
func (s *SSH) run(channel ssh.Channel, asked <-chan *ssh.Request, opens string) {
	defer channel.Close()
	for request := range asked {
		if request.Type != "exec" {
			_ = request.Reply(false, nil)
			continue
		}
		var command struct{ Line string }
		status := uint32(1)
		_ = request.Reply(true, nil)
		if err := ssh.Unmarshal(request.Payload, &command); err == nil {
			name, argument, _ := strings.Cut(command.Line, " ")
			repository := strings.TrimSuffix(path.Clean("/"+strings.Trim(argument, "'")), ".git")
			if name == "git-upload-pack" && repository == opens {
				upload := exec.Command("git", "upload-pack", filepath.Join(s.repos, repository))
				upload.Stdin, upload.Stdout, upload.Stderr = channel, channel, channel.Stderr()
				if upload.Run() == nil {
					status = 0
				}
			} else {
				_, _ = fmt.Fprintf(channel.Stderr(), "this key cannot run %s\n", command.Line)
			}
		}
		_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
		return
	}
}
