package apiserver

import (
	"strings"
	"testing"
)

func TestPodRefused(t *testing.T) {
	t.Parallel()
	const safe = "spec: {securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}, containers: [{name: a, image: a, " +
		"securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]}"
	for _, c := range []struct{ level, version, template, want string }{
		{"restricted", "latest", safe, ""},
		{"restricted", "latest", "metadata: {labels: {a: b}}\n" + safe, ""},
		{"restricted", "latest", strings.Replace(safe, "runAsNonRoot: true, ", "", 1), "runAsNonRoot != true"},
		{"restricted", "latest", strings.Replace(safe, "drop: [ALL]", "drop: ['${WHAT}']", 1), "unrestricted capabilities"},
		{"restricted", "latest", strings.Replace(safe, "name: a, image: a, ", "name: '${NAME}', image: a, ports: [{containerPort: 1, hostPort: 1}], ", 1), ""},
		{"baseline", "latest", "spec: {" + container + "}", ""},
		{"baseline", "latest", "spec: {hostNetwork: true, " + container + "}", "host namespaces (hostNetwork=true)"},
		{"baseline", "v1.34", "spec: {volumes: [{name: a, hostPath: {path: /a}}], " + container + "}", `hostPath volumes (volume "a")`},
		{"baseline", "v1.33", "spec: {containers: [{name: a, image: a, livenessProbe: {httpGet: {host: b, port: 80}}}]}", ""},
		{"baseline", "v1.34", "spec: {containers: [{name: a, image: a, livenessProbe: {httpGet: {host: b, port: 80}}}]}", "probe or lifecycle host"},
		{"privileged", "latest", "spec: {hostNetwork: true, " + container + "}", ""},
		{"restrictd", "latest", "spec: {hostNetwork: true, " + container + "}", ""},
		{"baseline", "1.34", "spec: {hostNetwork: true, " + container + "}", ""},
		{"baseline", "latest", "spec: {hostNetwork: 1, " + container + "}", ""},
	} {
		got := strings.Join(PodRefused(c.level, c.version, decode(t, c.template)), ", ")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s %s of %s: %q, want %q", c.level, c.version, c.template, got, c.want)
		}
	}
}
