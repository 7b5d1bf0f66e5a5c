package secrets

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// Scope says what a holder of keys is.
type Scope string

// The scopes of a specification's Encryption, and the holders that it doesn't name.
const (
	Platform Scope = "platform"
	Cluster  Scope = "cluster"
	Tenant   Scope = "tenant"
	Unknown  Scope = "unknown"
)

// Holder is a cluster, a tenant or somebody of the platform team, who has private keys.
type Holder struct {
	Scope Scope
	// Name of the cluster or tenant; of a person, what the comment beside the key says, or the key.
	Name string
	// Keys are the recipients whose private keys it has.
	Keys []Recipient
}

// String is the scope and the name.
func (h Holder) String() string { return string(h.Scope) + " " + h.Name }

// fleetGroup is the API group of the specification.
const fleetGroup = "fleetwright.dev"

// Encryptions are the specifications' objects that name recipients.
func Encryptions(repo *repository.Repository) []*repository.Object {
	return repo.ByKind(fleetGroup, "Encryption")
}

// Holders are those that an Encryption names, in its order: of the platform one for each
// key, with the comment beside it for a name.
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

// nameOf is the comment beside a key, or the key.
func nameOf(list *yaml.Node, r Recipient) string {
	for _, n := range list.Content {
		if n.Line == r.Line && n.Column == r.Column && n.LineComment != "" {
			return strings.TrimSpace(strings.TrimLeft(n.LineComment, "#"))
		}
	}
	return r.ID
}
