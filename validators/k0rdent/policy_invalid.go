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

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// PolicyInvalid is k0rdent-policy-invalid.
var PolicyInvalid = rule.Rule{
	ID:       "k0rdent-policy-invalid",
	Title:    "an audit policy or authentication that an API server refuses",
	Severity: finding.Error,
	Why: `A ClusterAuditPolicy holds the audit policy, and a ClusterAuthentication the authentication, of clusters' API servers.
The definitions say little about them: kcm's webhooks judge them with the API server's own code, and refuse what that would
refuse, such as a level that there is none of, or an issuer without https. So does this rule. The certificates of a caSecret
are not looked at, and expressions that take long to compile are unresolved.`,
	Fix:  `Write what the message asks for.`,
	Bad:  []rule.Example{{Files: base + policy("strict", "Everything # <-- here")}, {Files: base + authentication("http://id.example.com # <-- here")}},
	Good: []rule.Example{{Files: base + policy("strict", "Metadata") + authentication("https://id.example.com")}},
	Run: func(p *rule.Pass) {
		time := new(schemas.Expressions)
		for _, o := range p.Applied() {
			switch {
			case o.Group != group:
			case o.Kind == auditPolicy:
				judge(p, time, o, []any{"spec", "policy"}, auditvalidation.ValidatePolicy)
			case o.Kind == clusterAuth:
				judge(p, time, o, []any{"spec", "authenticationConfiguration"}, func(c *apiserver.AuthenticationConfiguration) field.ErrorList {
					return apiservervalidation.ValidateAuthenticationConfiguration(cel.NewDefaultCompiler(), c, nil)
				})
			}
		}
	},
}

// mostJudged bounds how much of an object is judged, in bytes.
const mostJudged = 64 << 10

// judge reports what the API server refuses of the part of an object at a path, which is read as
// kcm reads it: as JSON, into the API server's own type.
func judge[T any](p *rule.Pass, time *schemas.Expressions, o *reconcile.Object, path []any, validate func(*T) field.ErrorList) {
	part := o.Field(path...)
	text, err := json.Marshal(part)
	if part == nil || err != nil || platform.Unknown(string(text)) {
		return
	}
	if len(text) > mostJudged || !time.Admit(expressions(part)) {
		file, line, _ := o.Position(path...)
		p.Unresolved(file, line, fmt.Sprintf("whether %s is refused: it takes too long to judge", o))
		return
	}
	config := new(T)
	if json.Unmarshal(text, config) != nil {
		return // told by the schema
	}
	for _, problem := range validate(config) {
		where := at(path, pathOf(problem.Field)...)
		p.ReportBuilt(o, finding.Finding{
			Message: fmt.Sprintf("%s is refused for %s: %s", o, schemas.Field(where), problem.ErrorBody()),
		}, where...)
	}
}

// expressions are those in CEL of a configuration.
func expressions(value any) []string {
	var out []string
	switch value := value.(type) {
	case map[string]any:
		for _, key := range sortedKeys(value) {
			text, isText := value[key].(string)
			if isText && (key == "expression" || key == "valueExpression") {
				out = append(out, text)
			}
			out = append(out, expressions(value[key])...)
		}
	case []any:
		for _, item := range value {
			out = append(out, expressions(item)...)
		}
	}
	return out
}

// pathOf is a path in text, such as rules[0].level.
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
