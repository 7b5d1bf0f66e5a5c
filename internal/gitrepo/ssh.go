package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"

	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"golang.org/x/crypto/ssh"

	"github.com/fleetwright/fleetwright/internal/output"
)

// sshServer is a repository that is accessed over SSH.
type sshServer struct {
	address *url.URL
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	client  *ssh.Client
	in      io.Writer
	out     io.Reader
}

// OverSSH returns the repository at an ssh:// URL. dial opens the connection. It uses the keys of the SSH agent, and the
// server must be one of the user's known hosts.
func OverSSH(address *url.URL, dial func(ctx context.Context, network, address string) (net.Conn, error)) UploadServer {
	return &sshServer{address: address, dial: dial}
}

// Advertise connects to the server and starts git-upload-pack there.
func (s *sshServer) Advertise(ctx context.Context) (io.Reader, error) {
	user := "git"
	if s.address.User != nil {
		user = s.address.User.Username()
	}
	port := s.address.Port()
	if port == "" {
		port = "22"
	}
	at := net.JoinHostPort(s.address.Hostname(), port)
	agent, err := gitssh.NewSSHAgentAuth(user)
	if err != nil {
		return nil, errors.New("no SSH agent is running: start one and add the key with ssh-add")
	}
	config, err := agent.ClientConfig()
	if err != nil {
		return nil, err
	}
	known, err := gitssh.NewKnownHostsDb()
	if err != nil {
		return nil, fmt.Errorf("the known hosts cannot be read: %w", err)
	}
	config.HostKeyCallback, config.HostKeyAlgorithms = known.HostKeyCallback(), known.HostKeyAlgorithms(at)
	connection, err := s.dial(ctx, "tcp", at)
	if err != nil {
		return nil, err
	}
	conn, channels, requests, err := ssh.NewClientConn(connection, at, config)
	if err != nil {
		_ = connection.Close()
		return nil, explainSSH(s.address.Host, err)
	}
	s.client = ssh.NewClient(conn, channels, requests)
	return s.start()
}

// start starts git-upload-pack on the server.
func (s *sshServer) start() (io.Reader, error) {
	session, err := s.client.NewSession()
	if err != nil {
		return nil, err
	}
	if s.in, err = session.StdinPipe(); err != nil {
		return nil, err
	}
	if s.out, err = session.StdoutPipe(); err != nil {
		return nil, err
	}
	quoted := "'" + strings.ReplaceAll(s.address.Path, "'", `'\''`) + "'"
	return s.out, session.Start("git-upload-pack " + quoted)
}

// Upload sends a request to git-upload-pack.
func (s *sshServer) Upload(_ context.Context, request []byte) (io.Reader, error) {
	_, err := s.in.Write(request)
	return s.out, err
}

// Close closes the connection.
func (s *sshServer) Close() error {
	if s.client == nil {
		return nil
	}
	return ignoreClosed(s.client.Close())
}

// explainSSH adds to an error how to fix the common failures of a connection.
func explainSSH(host string, err error) error {
	text := output.Line(err.Error())
	switch {
	case strings.Contains(text, "key is unknown"):
		return fmt.Errorf("%s is not among the known hosts: add its key to ~/.ssh/known_hosts", host)
	case strings.Contains(text, "key mismatch"):
		return fmt.Errorf("the key of %s is not that of the known hosts", host)
	case strings.Contains(text, "unable to authenticate"):
		return fmt.Errorf("%s accepts no key of the SSH agent", host)
	}
	return fmt.Errorf("%s", text)
}
