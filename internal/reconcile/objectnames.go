package reconcile

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/fleetwright/fleetwright/internal/secrets/credential"
)

// objectNames are fields that are named like secrets but hold the name of an object, by group and kind; * means each item
// of a list. Source: api/v1beta1 of kcm v1.11.4 and v1.12.0.
var objectNames = map[[2]string][]string{
	{"k0rdent.mirantis.com", "ClusterDeployment"}: {"spec.credential"},
	{"k0rdent.mirantis.com", "AccessManagement"}:  {"spec.accessRules.*.credentials.*"},
	{"k0rdent.mirantis.com", "ClusterDataSource"}: {"spec.kineDataSourceSecret", "spec.caSecret"},
}

// namesObject reports whether a string at a path of an object is the name of another object: the field is for names, and
// the string is a valid name that does not look like a secret put there by mistake.
func namesObject(o *Object, path []any, text string) bool {
	fields := objectNames[[2]string{o.Group, o.Kind}]
	if len(fields) == 0 || len(validation.IsDNS1123Subdomain(text)) > 0 {
		return false
	}
	last := ""
	steps := make([]string, len(path))
	for i, at := range path {
		steps[i] = "*"
		if name, ok := at.(string); ok {
			steps[i], last = name, name
		}
	}
	return slices.Contains(fields, strings.Join(steps, ".")) && !credential.LooksSecret(last, text) && credential.TokenIn(text) == ""
}
