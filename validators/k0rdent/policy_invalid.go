package k0rdent

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/apis/apiserver"
	apiservervalidation "k8s.io/apiserver/pkg/apis/apiserver/validation"
	auditvalidation "k8s.io/apiserver/pkg/apis/audit/validation"
	"k8s.io/apiserver/pkg/authentication/cel"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// PolicyInvalid is k0rdent-policy-invalid.
var PolicyInvalid = rule.Rule{
	ID:       "k0rdent-policy-invalid",
	Title:    "an audit policy or authentication configuration that the API server refuses",
	Severity: finding.Error,
	Why: `A ClusterAuditPolicy contains the audit policy of clusters' API servers, a ClusterAuthentication their
authentication configuration. The CRDs validate little of them: kcm's webhooks validate them with the API
server's own code, and refuse for example an unknown level, or an issuer without https. This rule uses the same
code. Certificates in a caSecret are not checked.`,
	Fix: `Correct the field that the message names.`,
	Run: func(p *rule.Pass) {
		for _, o := range p.Applied() {
			switch {
			case o.Group != group:
			case o.Kind == auditPolicy:
				judge(p, o, []any{"spec", "policy"}, auditvalidation.ValidatePolicy)
			case o.Kind == clusterAuth:
				judge(p, o, []any{"spec", "authenticationConfiguration"}, func(c *apiserver.AuthenticationConfiguration) field.ErrorList {
					return apiservervalidation.ValidateAuthenticationConfiguration(cel.NewDefaultCompiler(), c, nil)
				})
			}
		}
	},
}

// judge reports the errors that the API server finds in the part of an object at a path. The part is read as kcm reads
// it: as JSON, into the API server's own type.
//
// Users write the CEL expressions that it compiles, so the call runs as a bounded unit of work.
func judge[T any](p *rule.Pass, o *reconcile.Object, path []any, validate func(*T) field.ErrorList) {
	part := o.Field(path...)
	text, err := json.Marshal(part)
	if part == nil || err != nil || platform.Unknown(string(text)) {
		return
	}
	from := o.Position(path...)
	if len(text) > limits.JudgedBytes {
		p.ReportBuilt(o, rule.Exceeded(finding.Finding{}, o.String(), fmt.Sprintf("the configuration for the API server is larger than %d kB", limits.JudgedBytes>>10)), path...)
		return
	}
	config := new(T)
	if json.Unmarshal(text, config) != nil {
		return // the schema rules report it
	}
	unit := bounds.Unit{Kind: "configuration", File: from.File, Line: from.Line, Name: o.String()}
	problems, err := bounds.Do(unit, func() (field.ErrorList, error) { return validate(config), nil })
	if err != nil {
		return // limit-exceeded reports it
	}
	for _, problem := range problems {
		where := at(path, pathOf(problem.Field)...)
		p.ReportBuilt(o, finding.Finding{
			Message: fmt.Sprintf("the API server refuses %s because of %s: %s", o, schemas.Field(where), problem.ErrorBody()),
		}, where...)
	}
}

// pathOf parses a path, such as rules[0].level.
func pathOf(text string) []any {
	var out []any
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		if i, err := strconv.Atoi(part); err == nil {
			out = append(out, i)
		} else {
			out = append(out, part)
		}
	}
	return out
}
