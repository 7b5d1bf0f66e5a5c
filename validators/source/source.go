// Package source holds the rules about sources: whether their connection is secure, whether they can change
// without a commit, and whether their content is verified.
package source

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// The API groups and kinds that the rules check.
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

// isUnknown reports whether a string contains a variable with an unknown value.
func isUnknown(text string) bool { return strings.Contains(text, "${") }

// address is the address of a source, without a user name in its URL.
type address struct {
	scheme, host, path string
}

// parseAddress parses a URL, or an image name, which has no scheme.
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

// String returns the URL without the user, which may include a password.
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

// reach is the network location of a host: in the cluster, in a private network, or public.
type reach int

const (
	inCluster reach = iota
	nearby
	public
)

// localSuffixes are the suffixes of host names that public name servers do not resolve. Source: RFC 6761, RFC
// 6762, RFC 8375 and ICANN's reservation of .internal.
var localSuffixes = []string{".local", ".lan", ".home", ".home.arpa", ".internal", ".intranet", ".corp", ".localdomain", ".test", ".private"}

// reachOf returns the reach of a host, by its name. A service of another namespace may be named
// SERVICE.NAMESPACE, so the existing namespaces matter.
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

// forges are public hosts of repositories and registries. The first element of a path is the owner.
var forges = []string{
	"github.com", "raw.githubusercontent.com", "ghcr.io", "gitlab.com", "registry.gitlab.com", "bitbucket.org", "codeberg.org", "gitea.com",
	"docker.io", "registry-1.docker.io", "index.docker.io", "quay.io", "public.ecr.aws", "gcr.io", "mirror.gcr.io", "registry.k8s.io",
}

// ownerOf returns the owner of a source on a public host, and whether it is known.
func ownerOf(a address) (string, bool) {
	host := strings.TrimPrefix(a.host, "www.")
	owner, rest, _ := strings.Cut(strings.ToLower(a.path), "/")
	return owner, slices.Contains(forges, host) && owner != "" && rest != ""
}

// OwnerOf returns the owner in a URL, and whether it is known. It is known if the host is a public one whose
// paths begin with the owner.
func OwnerOf(url string) (string, bool) {
	a, ok := parseAddress(url)
	if !ok {
		return "", false
	}
	return ownerOf(a)
}

// strangers recognizes the sources of other owners. Such a source is on a public host, is read without
// credentials, and has another owner than the repository that the cluster syncs. It caches the owners of each
// cluster.
type strangers map[*reconcile.Cluster]map[string]bool

// isStranger reports whether a source belongs to another owner. It returns false if the owner of the cluster's
// repository is unknown.
func (s strangers) isStranger(o *reconcile.Object) bool {
	if o.Kustomization == nil || o.Field("spec", "secretRef") != nil || !slices.Contains([]string{"", "generic"}, o.Text("spec", "provider")) {
		return false
	}
	c := o.Kustomization.Cluster
	own, known := s[c]
	if !known {
		own = Owners(c)
		s[c] = own
	}
	owner, onForge := OwnerOf(o.Text("spec", "url"))
	return onForge && len(own) > 0 && !own[owner] && !isTenants(c, o)
}

// Owners returns the owners of the sources that a cluster syncs.
func Owners(c *reconcile.Cluster) map[string]bool {
	own := map[string]bool{}
	add := func(text string) {
		if owner, onForge := OwnerOf(text); onForge {
			own[owner] = true
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

// isTenants reports whether a source belongs to a tenant, who may follow a branch of its own repository.
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
