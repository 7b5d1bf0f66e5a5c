package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// TestWorkloads says where findings stand, and when there are none; e2e holds the verdicts
// against the API server's.
func TestWorkloads(t *testing.T) {
	t.Parallel()
	const pod = "{containers: [{name: a, image: a}]}"
	for spec, want := range map[string]string{
		"apps/v1 Deployment {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: b}}, spec: POD}}":        `4:79 spec.template.metadata.labels.app is "b", but spec.selector requires "a"`,
		"apps/v1 Deployment {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {b: c}}, spec: POD}}":          `4:65 spec.template.metadata.labels.app is missing, but spec.selector requires "a"`,
		"apps/v1 Deployment {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: POD}}":        "",
		"apps/v1 Deployment {selector: {matchLabels: {app: \"${A}\"}}, template: {metadata: {labels: {app: b}}, spec: POD}}": "",
		"apps/v1 Deployment {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {\"${A}\": b}}, spec: POD}}":   "",
		"batch/v1 Job {template: {spec: POD}}": `4:19 spec.template.spec.restartPolicy is required: "OnFailure" or "Never"`,
		"batch/v1 Job {selector: {matchLabels: {job-name: a}}, template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}":                               "",
		"batch/v1 CronJob {schedule: 0 1 * * *, jobTemplate: {spec: {manualSelector: true, template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}}": "4:66 spec.jobTemplate.spec.manualSelector is not allowed in a CronJob",
	} {
		words := strings.SplitN(spec, " ", 3)
		files := fmt.Sprintf("-- a.yaml --\napiVersion: %s\nkind: %s\nmetadata: {name: a, namespace: a}\nspec: %s\n", words[0], words[1], strings.ReplaceAll(words[2], "POD", pod))
		found, _ := ruletest.Run(t, Invalid, files)
		var got []string
		for _, f := range found {
			got = append(got, fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Message))
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%s: %q, want %q", spec, text, want)
		}
	}
}
