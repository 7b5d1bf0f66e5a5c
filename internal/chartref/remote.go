package chartref

import (
	"net/url"
	"regexp"
	"strings"
)

// IsRemoteFile reports whether kustomize would fetch a file over HTTP.
// Source: sigs.k8s.io/kustomize/api v0.21 internal/loader, IsRemoteFile.
func IsRemoteFile(ref string) bool {
	u, err := url.Parse(ref)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https")
}

// username matches the start of an scp-like address, such as git@.
var username = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9-]*@`)

// isRemoteDir reports whether kustomize would treat the path of a base as a Git repository
// and clone it. In doubt it returns true: git must never be started.
// Source: sigs.k8s.io/kustomize/api v0.21 internal/git, NewRepoSpecFromURL.
func isRemoteDir(ref string) bool {
	lower := strings.ToLower(ref)
	lower = strings.TrimPrefix(lower, "git::")
	for _, prefix := range []string{"ssh://", "https://", "http://", "file://"} {
		if strings.HasPrefix(lower, prefix) {
			return true
		}
	}
	if user := username.FindString(lower); user != "" {
		return strings.ContainsAny(lower[len(user):], "/:")
	}
	return strings.HasPrefix(lower, "github.com/") || strings.HasPrefix(lower, "github.com:")
}

// IsRemote reports whether kustomize would fetch a resource, which may be a file or a folder.
func IsRemote(ref string) bool { return IsRemoteFile(ref) || isRemoteDir(ref) }
