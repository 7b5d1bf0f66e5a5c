package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/fleetwright/fleetwright/internal/version"
)

// Bounds of downloads. Helm and source-controller refuse archives above 10 MB, too.
const (
	mostArchive   = 10 << 20
	mostIndex     = 64 << 20
	mostTagPages  = 500
	mostRedirects = 5
	// tries is the maximum number of times that a request is repeated which a server could not answer.
	tries = 4
)

// client sends all requests of a fetch.
type client struct {
	http     *http.Client
	stall    time.Duration
	netrc    func(host string) (user, password string)
	registry *auth.Client
	indexes  memo[*index]
	blobs    memo[[]byte]
	tags     memo[[]string]
	helpers  memo[[2]string]
	guard    *guard
	now      func() time.Time
}

func newClient(o Options) *client {
	g := &guard{trusted: o.Trusted, proxy: proxyOf}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: g.dial, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 15 * time.Second, IdleConnTimeout: time.Minute,
		MaxIdleConnsPerHost: o.jobs(), MaxResponseHeaderBytes: 1 << 20,
	}
	g.next = transport
	c := &client{stall: o.stall(), netrc: netrcOf(o.Env), guard: g, now: o.Now}
	c.http = &http.Client{
		Transport:     &retry.Transport{Base: g, Policy: func() retry.Policy { return policy }},
		CheckRedirect: checkRedirect,
	}
	c.registry = &auth.Client{Client: c.http, Cache: auth.NewCache(), Credential: registryCredentials(o.Env)}
	c.registry.SetUserAgent(userAgent())
	return c
}

func userAgent() string { return "fleetwright/" + version.Current().Version }

// proxyOf returns the address of the proxy for a request, "" if there is none.
func proxyOf(req *http.Request) (string, error) {
	proxy, err := http.ProxyFromEnvironment(req)
	if proxy == nil || err != nil {
		return "", err
	}
	port := proxy.Port()
	if port == "" {
		port = map[string]string{"https": "443", "socks5": "1080", "socks5h": "1080"}[proxy.Scheme]
	}
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(proxy.Hostname(), port), nil
}

// policy repeats a request if a server is busy or fails, or if a connection breaks.
var policy = &retry.GenericPolicy{
	Retryable: func(resp *http.Response, err error) (bool, error) {
		if _, no := isRefused(err); no || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return false, err
		}
		if err != nil {
			var network *net.OpError
			if errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return true, nil
			}
			return false, err
		}
		return retry.DefaultPredicate(resp, nil)
	},
	Backoff: retry.DefaultBackoff, MinWait: 100 * time.Millisecond, MaxWait: 5 * time.Second, MaxRetry: tries,
}

func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > mostRedirects {
		return refused("more than %d redirects", mostRedirects)
	}
	if via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return refused("%s redirects from https to %s", via[len(via)-1].URL.Host, req.URL.Scheme)
	}
	return nil
}

// get downloads at most that many bytes.
func (c *client) get(ctx context.Context, address string, most int64) ([]byte, error) {
	var data []byte
	err := again(ctx, func() error {
		live, alive, stop := c.watch(ctx)
		defer stop()
		req, err := http.NewRequestWithContext(live, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		req.Header.Set("User-Agent", userAgent())
		if user, password := c.netrc(req.URL.Hostname()); user != "" && req.URL.User == nil {
			req.SetBasicAuth(user, password)
		}
		resp, err := c.http.Do(req)
		if err != nil {
			return stalled(live, err)
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %d %s", shown(req.URL), resp.StatusCode, http.StatusText(resp.StatusCode))
		}
		data, err = readAll(resp.Body, most, resp.ContentLength, alive)
		return stalled(live, err)
	})
	return data, err
}

// errStalled is the cause of a request that ends because the server sends nothing.
var errStalled = errors.New("the server stopped answering")

// watch returns a context that ends when the server sends nothing for some time. Callers call alive whenever it sends something.
func (c *client) watch(ctx context.Context) (live context.Context, alive, stop func()) {
	live, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(c.stall, func() { cancel(errStalled) })
	return live, func() { timer.Reset(c.stall) }, func() { timer.Stop(); cancel(nil) }
}

// stalled returns errStalled if that is the cause of an error, otherwise the error.
func stalled(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		return errStalled
	}
	return err
}

// memo does each work once, however many callers need it, and keeps the result.
type memo[T any] struct {
	mu   sync.Mutex
	done map[string]*result[T]
}

type result[T any] struct {
	once  sync.Once
	value T
	err   error
}

func (m *memo[T]) do(key string, work func() (T, error)) (T, error) {
	m.mu.Lock()
	if m.done == nil {
		m.done = map[string]*result[T]{}
	}
	one := m.done[key]
	if one == nil {
		one = &result[T]{}
		m.done[key] = one
	}
	m.mu.Unlock()
	one.once.Do(func() { one.value, one.err = work() })
	return one.value, one.err
}

// shown returns an address without the parts that may be secret.
func shown(address *url.URL) string {
	return (&url.URL{Scheme: address.Scheme, Host: address.Host, Path: address.Path}).String()
}

var (
	credentials = regexp.MustCompile(`(://)[^/@\s"']*@`)
	query       = regexp.MustCompile(`(https?://[^\s"'?]*)\?[^\s"']*`)
	code        = regexp.MustCompile(`^[A-Z_]{1,40}$`)
)

// clean returns an error without credentials: without the queries of addresses, as redirects sign them, and without text that a
// server wrote, except for its codes.
func clean(err error) error {
	if err == nil {
		return nil
	}
	var response *errcode.ErrorResponse
	if errors.As(err, &response) {
		text := fmt.Sprintf("%s answers %d %s", shown(response.URL), response.StatusCode, http.StatusText(response.StatusCode))
		for _, e := range response.Errors {
			if code.MatchString(e.Code) {
				text += ", " + e.Code
			}
		}
		return errors.New(text)
	}
	if why, ok := isRefused(err); ok {
		return why
	}
	text := query.ReplaceAllString(credentials.ReplaceAllString(err.Error(), "$1"), "$1")
	if errors.Is(err, context.DeadlineExceeded) {
		text = "it takes too long"
	}
	if runes := []rune(text); len(runes) > 400 {
		text = string(runes[:400]) + "…"
	}
	return errors.New(strings.Join(strings.Fields(text), " "))
}
