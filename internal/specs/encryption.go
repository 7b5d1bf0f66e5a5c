package specs

import (
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
	"github.com/fleetwright/fleetwright/internal/strict"
)

const recipientHint = "write the public key, age1…, that age-keygen -y prints, or an SSH public key: ssh-ed25519 … or ssh-rsa …"

func (c *specChecker) encryption() {
	e := c.Spec.Encryption
	if e == nil {
		return
	}
	p := strict.At("spec", "recipients")
	var tenants []string // sorted, as the tenants of the specification are
	for _, t := range c.Spec.Tenants {
		tenants = append(tenants, t.Metadata.Name)
	}
	r := e.Spec.Recipients
	c.scopes(e, p.Child("clusters"), v1alpha1.KindCluster, r.Clusters, c.Known.Clusters)
	c.scopes(e, p.Child("tenants"), v1alpha1.KindTenant, r.Tenants, tenants)
	c.recipients(e, p.Child("platform"), r.Platform)
	if len(r.Platform.Age)+len(r.Clusters)+len(r.Tenants) == 0 && c.Whole(e) {
		c.Fail(e, p, "add the platform team's recipients and those of each cluster", "the Encryption has no recipients, so secrets could not be decrypted")
	}
	c.regex(e, strict.At("spec", "encryptedRegex"), e.Spec.EncryptedRegex)
	for i, rule := range e.Spec.Rules {
		p := strict.At("spec", "rules").Item(i)
		c.regex(e, p.Child("pathRegex"), rule.PathRegex)
		if rule.EncryptedRegex != e.Spec.EncryptedRegex {
			c.regex(e, p.Child("encryptedRegex"), rule.EncryptedRegex)
		}
		c.nonEmpty(e, p.Child("recipients"), rule.Recipients)
		c.recipients(e, p.Child("recipients"), rule.Recipients)
	}
	c.secrets(e)
}

// scopes checks the recipients of each cluster or tenant.
func (c *specChecker) scopes(e *v1alpha1.Encryption, p *strict.Path, kind string, scopes map[string]v1alpha1.Recipients, names []string) {
	what := strings.ToLower(kind)
	for _, name := range slices.Sorted(maps.Keys(scopes)) {
		if _, found := slices.BinarySearch(names, name); !found && !c.Incomplete {
			c.FailKey(e, p.Child(name), c.Report.Suggest(name, what, "add an object of kind "+kind, names), "%s %s does not exist", what, strict.Quote(name))
		}
		if !c.getsKey(e, what, name) {
			c.nonEmpty(e, p.Child(name), scopes[name])
		}
		c.recipients(e, p.Child(name), scopes[name])
		if age := scopes[name].Age; len(age) > 0 && !slices.ContainsFunc(age, func(s string) bool { return !keys.IsSSH(s) }) {
			c.Fail(e, p.Child(name).Child("age"), "add an age key, which fleetwright secrets keygen generates",
				"%s %s has only SSH keys, but kustomize-controller decrypts with age keys", what, strict.Quote(name))
		}
	}
}

func (c *specChecker) nonEmpty(e *v1alpha1.Encryption, p *strict.Path, r v1alpha1.Recipients) {
	if len(r.Age) == 0 && !c.Objects[e].Bad[p.Child("age").String()] {
		c.Fail(e, p, "add a recipient, or remove the entry", "%s has no recipients, so the secret could not be decrypted", p)
	}
}

// getsKey reports whether a cluster or tenant may be listed without a key because it gets one later: from a command that
// adds keys, or, for a tenant, because the specification declares the Secret with its own key.
func (c *specChecker) getsKey(e *v1alpha1.Encryption, what, name string) bool {
	return c.Keyless || what == "tenant" && slices.ContainsFunc(e.Spec.Secrets, func(d v1alpha1.DeclaredSecret) bool {
		return c.Spec.TenantKey(&d) != nil && d.Tenant == name
	})
}

func (c *specChecker) recipients(e *v1alpha1.Encryption, p *strict.Path, r v1alpha1.Recipients) {
	for i, s := range r.Age {
		if !keys.IsRecipient(s) {
			c.Fail(e, p.Child("age").Item(i), recipientHint, "%s is not an age recipient", strict.Quote(s))
		}
	}
}
