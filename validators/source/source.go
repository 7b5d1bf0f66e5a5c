// Package source holds the rules about where Flux gets what it applies: how a
// source is reached, whether it can change without a commit, and who vouches for
// it.
package source

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// The groups of the kinds that are judged.
// The kinds of sources.
const (
	gitRepository  = "GitRepository"
	ociRepository  = "OCIRepository"
	helmRepository = "HelmRepository"
	helmChart      = "HelmChart"
	helmRelease    = "HelmRelease"
	bucket         = "Bucket"
)

func isSource(o *reconcile.Object, kind string) bool {
	return o.Group == fluxapi.SourceGroup && o.Kind == kind
}

// isUnknown says that a variable whose value isn't known is in a text.
func isUnknown(text string) bool { return strings.Contains(text, "${") }

// address is where a source is reached, without the user that its URL may name.
type address struct {
	scheme, host, path string
}

// parseAddress reads a URL, or an image's name, which has no scheme.
func parseAddress(text string) (address, bool) {
	if !strings.Contains(text, "://") {
		text = "//" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return address{}, false
	}
	return address{u.Scheme, strings.ToLower(u.Hostname()), strings.Trim(u.Path, "/")}, true
}

// String gives the URL without its user, which may be a password.
func (a address) String() string {
	text := a.host
	if a.path != "" {
		text += "/" + a.path
	}
	if a.scheme == "" {
		return text
	}
	return a.scheme + "://" + text
}

// reach says how far away a host is.
type reach int

const (
	inCluster reach = iota
	nearby
	public
)

// localSuffixes end the names of hosts that no public name server knows.
// Source: RFC 6761, RFC 6762, RFC 8375 and ICANN's reservation of .internal.
var localSuffixes = []string{".local", ".lan", ".home", ".home.arpa", ".internal", ".intranet", ".corp", ".localdomain", ".test", ".private"}

// reachOf judges a host by its name. A service of another namespace may be named
// SERVICE.NAMESPACE, so that the namespaces that there are count.
func reachOf(host string, namespaces map[string]bool) reach {
	if ip, err := netip.ParseAddr(host); err == nil {
		switch {
		case ip.IsLoopback():
			return inCluster
		case ip.IsPrivate() || ip.IsLinkLocalUnicast():
			return nearby
		}
		return public
	}
	suffix := func(s string) bool { return strings.HasSuffix(host, s) }
	_, namespace, dotted := strings.Cut(host, ".")
	switch {
	case !dotted || namespaces[namespace] || suffix(".svc") || suffix(".cluster.local") || strings.Contains(host, ".svc.") || suffix(".localhost"):
		return inCluster
	case slices.ContainsFunc(localSuffixes, suffix):
		return nearby
	}
	return public
}

// forges are public hosts of repositories and registries: the first element of
// a path tells whose it is.
var forges = []string{
	"github.com", "ghcr.io", "gitlab.com", "registry.gitlab.com", "bitbucket.org", "codeberg.org", "gitea.com",
	"docker.io", "registry-1.docker.io", "index.docker.io", "quay.io", "public.ecr.aws", "gcr.io", "mirror.gcr.io", "registry.k8s.io",
}

// ownerOf is whose a source on a public host is, and whether that can be told.
func ownerOf(a address) (string, bool) {
	host := strings.TrimPrefix(a.host, "www.")
	owner, rest, _ := strings.Cut(strings.ToLower(a.path), "/")
	return owner, slices.Contains(forges, host) && owner != "" && rest != ""
}

// strangers tells the sources of somebody else: on a public host, read without
// credentials, of another owner than the repository that the cluster syncs.
type strangers map[*reconcile.Cluster]map[string]bool

// isStranger says so only where it is known whose the cluster's own is.
func (s strangers) isStranger(o *reconcile.Object) bool {
	if o.Kustomization == nil || o.Field("spec", "secretRef") != nil || !slices.Contains([]string{"", "generic"}, o.Text("spec", "provider")) {
		return false
	}
	c := o.Kustomization.Cluster
	own, known := s[c]
	if !known {
		own = owners(c)
		s[c] = own
	}
	a, ok := parseAddress(o.Text("spec", "url"))
	owner, onForge := ownerOf(a)
	return ok && onForge && len(own) > 0 && !own[owner] && !isTenants(c, o)
}

// owners are those of what a cluster syncs.
func owners(c *reconcile.Cluster) map[string]bool {
	own := map[string]bool{}
	add := func(text string) {
		if a, ok := parseAddress(text); ok {
			if owner, onForge := ownerOf(a); onForge {
				own[owner] = true
			}
		}
	}
	if len(c.Kustomizations) > 0 {
		root := c.Kustomizations[0]
		ref := root.Spec.SourceRef
		for _, o := range c.Find(reconcile.Identity{Group: fluxapi.SourceGroup, Kind: ref.Kind, Namespace: root.Namespace, Name: ref.Name}) {
			add(o.Text("spec", "url"))
		}
	}
	if o := c.Root.Object; o != nil {
		for _, path := range [][]any{{"spec", "sync", "url"}, {"spec", "values", "instance", "sync", "url"}} {
			if text, ok := o.Text(path...); ok {
				add(text)
			}
		}
	}
	return own
}

// isTenants says whether a source belongs to a tenant, who follows the branch of
// its own repository.
func isTenants(c *reconcile.Cluster, o *reconcile.Object) bool {
	const label = "toolkit.fluxcd.io/tenant"
	if o.Label(label) != "" {
		return true
	}
	for _, ns := range c.Find(reconcile.Identity{Kind: "Namespace", Name: o.Namespace}) {
		if ns.Label(label) != "" {
			return true
		}
	}
	return false
}
