package harness

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

// Internet contains every host that a test's processes can reach: a proxy on loopback that
// leads the known hosts to one TLS server, and refuses all others. Manifests keep
// their public URLs. Git repositories and OCI artifacts require credentials.
type Internet struct {
	// Repositories is the folder of the bare repositories: HOST/PATH.git.
	Repositories string

	t      testing.TB
	hosts  []string
	proxy  *httptest.Server
	server *httptest.Server
	caFile string

	mu     sync.Mutex
	grants map[string]string // the paths that passwords open, by password
	public map[string]bool   // the paths that anyone may read
}

// StartInternet serves the hosts until the test ends.
func StartInternet(t testing.TB, hosts ...string) *Internet {
	t.Helper()
	n := &Internet{Repositories: t.TempDir(), t: t, hosts: hosts, grants: map[string]string{}, public: map[string]bool{}}
	git := gitHandler(t, n.Repositories)
	images := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	n.server = httptest.NewUnstartedServer(n.authenticated(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v2/") {
			images.ServeHTTP(w, r)
			return
		}
		r.URL.Path = "/" + r.Host + r.URL.Path
		git.ServeHTTP(w, r)
	})))
	n.server.TLS = &tls.Config{Certificates: []tls.Certificate{n.certificate()}}
	n.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	n.server.StartTLS()
	t.Cleanup(n.server.Close)
	n.proxy = httptest.NewServer(http.HandlerFunc(n.connect))
	t.Cleanup(n.proxy.Close)
	return n
}

// Env returns the environment of a process that only reaches this Internet.
func (n *Internet) Env() []string {
	return append(os.Environ(),
		"HTTPS_PROXY="+n.proxy.URL, "HTTP_PROXY="+n.proxy.URL, "NO_PROXY=127.0.0.1",
		"SSL_CERT_FILE="+n.caFile, "GIT_SSL_CAINFO="+n.caFile,
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
	)
}

// Proxy returns the address of the proxy that leads to this Internet.
func (n *Internet) Proxy() string { return n.proxy.URL }

// Authority returns the certificate, in PEM, that authenticates this Internet's hosts.
func (n *Internet) Authority() []byte {
	n.t.Helper()
	ca, err := os.ReadFile(n.caFile)
	must(n.t, err)
	return ca
}

// Transport returns a transport that reaches this Internet from the test itself.
func (n *Internet) Transport() http.RoundTripper {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(n.Authority())
	proxy, err := url.Parse(n.proxy.URL)
	must(n.t, err)
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, Proxy: http.ProxyURL(proxy)}
}

// Serves reports whether the URL's host is in this Internet.
func (n *Internet) Serves(address string) bool {
	_, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	return slices.Contains(n.hosts, host)
}

// Grant creates a password that opens only the repository or artifact at the URL.
func (n *Internet) Grant(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	_, path, _ := strings.Cut(rest, "/")
	n.mu.Lock()
	defer n.mu.Unlock()
	password := fmt.Sprintf("token-%d-%s", len(n.grants), rand.Text())
	n.grants[password] = "/" + path
	return password
}

// Publish lets anyone read the repository at the URL.
func (n *Internet) Publish(address string) {
	_, rest, _ := strings.Cut(address, "://")
	_, path, _ := strings.Cut(rest, "/")
	n.mu.Lock()
	defer n.mu.Unlock()
	n.public["/"+path] = true
}

// GrantAll creates a password that opens everything, as for the platform's engineers.
func (n *Internet) GrantAll() string { return n.Grant("https://git.example/") }

// NewRepository creates an empty bare repository at the URL.
func (n *Internet) NewRepository(address string) string {
	n.t.Helper()
	_, rest, _ := strings.Cut(address, "://")
	dir := filepath.Join(n.Repositories, filepath.FromSlash(rest))
	out, err := exec.Command("git", "init", "--quiet", "--bare", "--initial-branch=main", dir).CombinedOutput()
	if err != nil {
		n.t.Fatalf("git init %s: %v: %s", dir, err, out)
	}
	must(n.t, exec.Command("git", "-C", dir, "config", "http.receivepack", "true").Run())
	return dir
}

// connect is the proxy: it connects a client with the server, for known hosts.
func (n *Internet) connect(w http.ResponseWriter, r *http.Request) {
	host, _, _ := net.SplitHostPort(r.Host)
	if r.Method != http.MethodConnect || !slices.Contains(n.hosts, host) {
		http.Error(w, "this Internet has no "+r.Host, http.StatusBadGateway)
		return
	}
	upstream, err := net.Dial("tcp", n.server.Listener.Addr().String())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = upstream.Close()
		return
	}
	join(client, buffered.Reader, upstream)
}

func join(client net.Conn, early *bufio.Reader, upstream net.Conn) {
	_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
	go func() {
		_, _ = io.Copy(upstream, early)
		_ = upstream.Close()
	}()
	_, _ = io.Copy(client, upstream)
	_ = client.Close()
}

// authenticated passes on the requests with a password for the path.
func (n *Internet) authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, ok := r.BasicAuth()
		n.mu.Lock()
		opens, known := n.grants[password]
		repository, _, _ := strings.Cut(r.URL.Path, ".git/")
		reads := n.public[repository+".git"] && !strings.Contains(r.URL.String(), "git-receive-pack")
		n.mu.Unlock()
		path := strings.TrimPrefix(r.URL.Path, "/v2")
		switch {
		case reads:
			next.ServeHTTP(w, r)
		case !ok || !known:
			w.Header().Set("WWW-Authenticate", `Basic realm="e2e"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
		case path != "/" && opens != "/" && path != opens && !strings.HasPrefix(path, opens+"/"):
			http.Error(w, "that is not yours", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// certificate returns a self-signed certificate for all hosts, which the processes trust.
func (n *Internet) certificate() tls.Certificate {
	n.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(n.t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "e2e"}, DNSNames: n.hosts,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(n.t, err)
	n.caFile = filepath.Join(n.t.TempDir(), "ca.pem")
	must(n.t, os.WriteFile(n.caFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
