package v1alpha1

import (
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/secrets/keys"
)

const recipientHint = "write the public key, age1…, that age-keygen -y prints, or one of SSH: ssh-ed25519 … or ssh-rsa …"

func (c *checker) encryption() {
	e := c.spec.Encryption
	if e == nil {
		return
	}
	p := at("spec", "recipients")
	var tenants []string // sorted, as those of the specification are
	for _, t := range c.spec.Tenants {
		tenants = append(tenants, t.Metadata.Name)
	}
	r := e.Spec.Recipients
	c.scopes(e, p.child("clusters"), KindCluster, r.Clusters, c.known.clusters)
	c.scopes(e, p.child("tenants"), KindTenant, r.Tenants, tenants)
	c.recipients(e, p.child("platform"), r.Platform)
	if len(r.Platform.Age)+len(r.Clusters)+len(r.Tenants) == 0 && c.whole(e) {
		c.fail(e, p, "add the platform team's recipients and those of each cluster", "there is no recipient: nobody could decrypt a secret")
	}
	c.regex(e, at("spec", "encryptedRegex"), e.Spec.EncryptedRegex)
	for i, rule := range e.Spec.Rules {
		p := at("spec", "rules").item(i)
		c.regex(e, p.child("pathRegex"), rule.PathRegex)
		if rule.EncryptedRegex != e.Spec.EncryptedRegex {
			c.regex(e, p.child("encryptedRegex"), rule.EncryptedRegex)
		}
		c.nonEmpty(e, p.child("recipients"), rule.Recipients)
		c.recipients(e, p.child("recipients"), rule.Recipients)
	}
	c.secrets(e)
}

// scopes checks the recipients of each scope, which names a cluster or tenant.
func (c *checker) scopes(e *Encryption, p *fieldPath, kind string, scopes map[string]Recipients, names []string) {
	what := strings.ToLower(kind)
	for _, name := range slices.Sorted(maps.Keys(scopes)) {
		if _, found := slices.BinarySearch(names, name); !found && !c.incomplete {
			c.failKey(e, p.child(name), c.report.suggest(name, what, "add an object of kind "+kind, names), "there is no %s %s", what, quote(name))
		}
		if !c.getsKey(e, what, name) {
			c.nonEmpty(e, p.child(name), scopes[name])
		}
		c.recipients(e, p.child(name), scopes[name])
		if age := scopes[name].Age; len(age) > 0 && !slices.ContainsFunc(age, func(s string) bool { return !keys.IsSSH(s) }) {
			c.fail(e, p.child(name).child("age"), "add a key of age, which fleetwright secrets keygen makes",
				"%s %s has keys of SSH alone: kustomize-controller decrypts with keys of age", what, quote(name))
		}
	}
}

func (c *checker) nonEmpty(e *Encryption, p *fieldPath, r Recipients) {
	if len(r.Age) == 0 && !c.objects[e].bad[p.child("age").String()] {
		c.fail(e, p, "add a recipient, or take it out", "%s has no recipient: nobody could decrypt the secret", p)
	}
}

// getsKey says whether a cluster or tenant may be listed without a key, since it gets one: from
// what gives keys, or of a tenant, from the sync of its own key that is declared.
func (c *checker) getsKey(e *Encryption, what, name string) bool {
	return c.keyless || what == "tenant" && slices.ContainsFunc(e.Spec.Secrets, func(d DeclaredSecret) bool {
		return c.spec.TenantKey(&d) != nil && d.Tenant == name
	})
}

func (c *checker) recipients(e *Encryption, p *fieldPath, r Recipients) {
	for i, s := range r.Age {
		if !keys.IsRecipient(s) {
			c.fail(e, p.child("age").item(i), recipientHint, "%s is not an age recipient", quote(s))
		}
	}
}
