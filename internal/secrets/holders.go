package secrets

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// Scope is the kind of a holder of keys.
type Scope string

// The scopes of a specification's Encryption, and the scope of holders that it doesn't name.
const (
	Platform Scope = "platform"
	Cluster  Scope = "cluster"
	Tenant   Scope = "tenant"
	Unknown  Scope = "unknown"
)

// Holder is a cluster, a tenant or a member of the platform team that has private keys.
type Holder struct {
	Scope Scope
	// Name of the cluster or tenant; for a person, the comment after the key, or the key.
	Name string
	// Keys are the recipients whose private keys the holder has.
	Keys []Recipient
}

// String returns the scope and the name.
func (h Holder) String() string { return string(h.Scope) + " " + h.Name }

// fleetGroup is the API group of the specification.
const fleetGroup = "fleetwright.dev"

// Encryptions returns the objects of specifications that list recipients.
func Encryptions(repo *repository.Repository) []*repository.Object {
	return repo.ByKind(fleetGroup, "Encryption")
}

// Holders returns the holders in an Encryption, in its order. The platform has one holder for each
// key, named by the comment after the key.
func Holders(e *repository.Object) []Holder {
	var all []Holder
	if list := e.Lookup("spec", "recipients", "platform", "age"); list != nil {
		for _, r := range ageIn(list) {
			all = append(all, Holder{Scope: Platform, Name: nameOf(list, r), Keys: []Recipient{r}})
		}
	}
	for _, scope := range []struct {
		field string
		scope Scope
	}{{"clusters", Cluster}, {"tenants", Tenant}} {
		n := e.Lookup("spec", "recipients", scope.field)
		if n == nil || n.Kind != yaml.MappingNode {
			continue
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := n.Content[i].Value
			if list := repository.Lookup(n, name, "age"); list != nil && len(list.Content) > 0 {
				all = append(all, Holder{Scope: scope.scope, Name: name, Keys: ageIn(list)})
			}
		}
	}
	return all
}

func ageIn(list *yaml.Node) []Recipient {
	var all []Recipient
	for i := range list.Content {
		if n := repository.Lookup(list, i); n != nil && n.Kind == yaml.ScalarNode {
			all = append(all, Recipient{Service: "age", ID: n.Value, Line: n.Line, Column: n.Column})
		}
	}
	return all
}

// nameOf returns the comment after a key, or the key if it has no comment.
func nameOf(list *yaml.Node, r Recipient) string {
	for _, n := range list.Content {
		if n.Line == r.Line && n.Column == r.Column && n.LineComment != "" {
			return strings.TrimSpace(strings.TrimLeft(n.LineComment, "#"))
		}
	}
	return r.ID
}
