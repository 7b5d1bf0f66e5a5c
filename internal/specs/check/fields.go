package check

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/strict"
)

const qualifiedHint = "write at most 63 letters, digits, -, _ and ., with a letter or digit at both ends, optionally after a domain and /, such as example.com/team"

// Labels checks the keys and values of labels as the API server does.
func (c *Checker) Labels(of any, p *strict.Path, labels map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if len(validation.IsQualifiedName(key)) > 0 {
			c.FailKey(of, p.Child(key), qualifiedHint, "%s is not a label name", strict.Quote(key))
		}
		if len(validation.IsValidLabelValue(labels[key])) > 0 {
			c.Fail(of, p.Child(key), "write at most 63 letters, digits, -, _ and ., with a letter or digit at both ends, such as eu-central-1, or an empty string",
				"%s is not a label value", strict.Quote(labels[key]))
		}
	}
}

// Annotations checks the keys of annotations as the API server does.
func (c *Checker) Annotations(of any, p *strict.Path, annotations map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if len(validation.IsQualifiedName(strings.ToLower(key))) > 0 {
			c.FailKey(of, p.Child(key), qualifiedHint, "%s is not an annotation name", strict.Quote(key))
		}
	}
}

// ClusterHint returns the hint how to add a cluster.
func ClusterHint(name string) string {
	return "add an object, here or in another file: apiVersion: " + v1alpha1.APIVersion + ", kind: Cluster, metadata: {name: " + strict.Shorten(name) + "}"
}

// VariableHint returns the hint how to write the name of a variable.
func VariableHint(name string) string {
	if corrected := strict.AsVariable(name); len(name) <= strict.MaxShown && VariableName.MatchString(corrected) {
		return "write " + corrected
	}
	return "use letters, digits and _; the first character is not a digit"
}

// VariableName is the pattern that kustomize-controller requires of the names of variables.
var VariableName = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)

const urlHint = "write a scheme, a host and a path, such as https://git.example.com/platform/fleet.git"

// URL checks a URL that Flux fetches from: it must have a host, or a path for file://,
// and no password.
func (c *Checker) URL(of any, p *strict.Path, raw string) {
	if raw == "" {
		return
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		c.Fail(of, p, urlHint, "%s is %s, which is not a URL", p, strict.Quote(raw))
		return
	case u.Host == "" && u.Scheme != "file":
		c.Fail(of, p, urlHint, "%s is %s, which has no host", p, strict.Quote(raw))
	case strings.ContainsAny(raw, "${} \t\n"):
		c.Fail(of, p, urlHint, "%s is %s, which contains characters that are not allowed in a URL", p, strict.Quote(raw))
	}
	if _, has := u.User.Password(); has {
		c.Fail(of, p, "remove it, put the credentials into a Secret on the cluster, and reference the Secret in secretRef", "%s contains a password", p)
	}
}

// GitKey checks that a source with an ssh:// URL names a Secret; p is the path of the source. source-controller refuses one
// that does not before it connects: "invalid 'ssh' auth option: 'identity' is required" (NewAuthOptions of fluxcd/pkg/git).
func (c *Checker) GitKey(of any, p *strict.Path, url string, secret *v1alpha1.SecretRef) {
	if strings.HasPrefix(url, "ssh://") && secret == nil && c.Whole(of) {
		c.Fail(of, p, "add secretRef: {name: …}, a Secret with identity (the private half of a deploy key) and known_hosts, or write an https:// URL",
			"%s reads %s, and Flux reads nothing over SSH without a key", p, strict.Quote(url))
	}
}

var gitBranch = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/+@#-]*$`)

// Branch checks the name of a branch, more strictly than git does.
func (c *Checker) Branch(of any, p *strict.Path, name string) {
	bad := !gitBranch.MatchString(name) || strings.Contains(name, "..") || strings.Contains(name, "//") || strings.Contains(name, "@{") ||
		strings.HasSuffix(name, "/") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, ".lock") || strings.Contains(name, "/.")
	if name != "" && bad {
		c.Fail(of, p, "write a name such as main or release/1.2, without refs/heads/", "%s is %s, which is not a branch name", p, strict.Quote(name))
	}
}

// SecretSource checks that exactly one source of a value is set.
func (c *Checker) SecretSource(of any, p *strict.Path, s v1alpha1.SecretSource) {
	if set := s.Set(); len(set) != 1 && c.Whole(of) {
		c.Fail(of, p, "set exactly one of them", "%s has %d of %s", p, len(set), "env, file, generate, ageKey and sshKeyPair")
	}
}
