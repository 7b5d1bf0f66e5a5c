package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"time"
)

// refusedError says that a connection is not opened, whatever requests it.
type refusedError struct{ text string }

func (e *refusedError) Error() string { return e.text }

func refused(format string, args ...any) error { return &refusedError{fmt.Sprintf(format, args...)} }

// guard decides which addresses may be connected to: after names are resolved, and for each redirect.
type guard struct {
	// trusted reports whether a host may be at a private address.
	trusted func(host string) bool
	// proxy returns the proxy for a request, from the environment.
	proxy   func(*http.Request) (string, error)
	proxies sync.Map // addresses of proxies that are in use
	next    http.RoundTripper
}

// metadataNames are the names of metadata services, which a proxy would resolve.
var metadataNames = map[string]bool{"metadata": true, "metadata.google.internal": true, "metadata.goog": true, "instance-data": true, "instance-data.ec2.internal": true}

// RoundTrip refuses requests by the name in their address; dial refuses them by the resolved address.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		return nil, refused("the scheme %q is not http or https", req.URL.Scheme)
	}
	if err := g.checkName(req.URL.Hostname()); err != nil {
		return nil, err
	}
	proxy, err := g.proxy(req)
	if err != nil {
		return nil, refused("the proxy in the environment has no valid address")
	}
	if proxy != "" {
		g.proxies.Store(proxy, true)
	}
	return g.next.RoundTrip(req)
}

// checkName returns an error if a host is refused by its name or literal address.
func (g *guard) checkName(host string) error {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if metadataNames[host] {
		return refused("%s is a metadata service", host)
	}
	if literal, err := netip.ParseAddr(host); err == nil {
		return g.check(host, literal)
	}
	return nil
}

// dial connects to an address unless it is refused. Where a proxy connects to is not known.
func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if _, isProxy := g.proxies.Load(address); isProxy {
		dialer := net.Dialer{Timeout: dialTimeout}
		return dialer.DialContext(ctx, network, address)
	}
	return g.direct(ctx, network, address)
}

const dialTimeout = 15 * time.Second

// direct connects to an address unless it is refused, without a proxy.
func (g *guard) direct(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if err := g.checkName(host); err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: dialTimeout, Control: func(_, resolved string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(resolved)
		if err != nil {
			return err
		}
		return g.check(strings.TrimSuffix(strings.ToLower(host), "."), at.Addr())
	}}
	return dialer.DialContext(ctx, network, address)
}

// check returns an error if the address of a host is refused.
func (g *guard) check(host string, address netip.Addr) error {
	address = embedded(address)
	switch {
	case isMetadata(address):
		return refused("%s has the address %s, which is link-local or of a metadata service", host, address)
	case isPrivate(address) && !g.trusted(host):
		return refused("%s has the private address %s; pass --allow-host %s", host, address, host)
	}
	return nil
}

func prefixes(all ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, p := range all {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}

// Networks that are never connected to, and those that only trusted hosts may be in. Sources: RFC 6890, and the documentation of
// the metadata services of AWS, Azure, Alibaba and Oracle.
var (
	metadata = prefixes("169.254.0.0/16", "fe80::/10", "0.0.0.0/8", "224.0.0.0/4", "ff00::/8", "::/128",
		"fd00:ec2::254/128", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32", "255.255.255.255/32")
	private = prefixes("127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10",
		"192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4", "fc00::/7", "fec0::/10")
	// translated are networks whose addresses end with an IPv4 address.
	translated = prefixes("64:ff9b::/96", "64:ff9b:1::/48", "::/96")
)

func within(address netip.Addr, networks []netip.Prefix) bool {
	for _, p := range networks {
		if p.Contains(address) {
			return true
		}
	}
	return false
}

func isMetadata(address netip.Addr) bool { return within(address, metadata) }
func isPrivate(address netip.Addr) bool  { return within(address, private) }

// embedded returns the IPv4 address that an IPv6 address translates to, or else the address itself.
func embedded(address netip.Addr) netip.Addr {
	address = address.Unmap().WithZone("")
	bytes := address.AsSlice()
	switch {
	case !address.Is6() || address == netip.IPv6Loopback() || address.IsUnspecified():
	case within(address, translated):
		return netip.AddrFrom4([4]byte(bytes[12:16]))
	case bytes[0] == 0x20 && bytes[1] == 0x02: // 6to4
		return netip.AddrFrom4([4]byte(bytes[2:6]))
	}
	return address
}

// isRefused reports whether a connection was refused, and returns the reason.
func isRefused(err error) (*refusedError, bool) {
	var e *refusedError
	return e, errors.As(err, &e)
}
