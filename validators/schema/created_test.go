package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// clusterSync syncs the folder prod as a cluster.
const clusterSync = `-- prod/flux-system/gotk-sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1h, path: ./prod, prune: true, sourceRef: {kind: GitRepository, name: flux-system}, postBuild: {substitute: {PORT: "70000"}}}
-- prod/app.yaml --
`

// TestCreated says what the API server's code finds in the objects of a cluster, where it stands, and what is left to
// others: what is not known, and what another finding tells already.
func TestCreated(t *testing.T) {
	t.Parallel()
	deployment := func(pod string) string {
		return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: default}\nspec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec:\n  " + pod + "}}\n"
	}
	service := func(ports string) string {
		return "apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: default}\nspec:\n  ports: " + ports + "\n"
	}
	for name, c := range map[string]struct{ object, want string }{
		"a port":                   {service("[{port: 70000}]"), "5:18 spec.ports[0].port is 70000, must be between 1 and 65535, inclusive"},
		"a port that is known":     {service("\n  - port: ${PORT}"), "6:11 spec.ports[0].port is 70000, must be between 1 and 65535, inclusive"},
		"a name that repeats":      {service("[{name: a, port: 80}, {name: a, port: 81}]"), "5:39 spec.ports[1].name repeats an entry: \"a\" already exists"},
		"a port that is not known": {service("\n  - port: ${OTHER}\n  - port: 70000"), ""},
		"more than are listed":     {service("[" + strings.Repeat("{port: 70000}, ", 12) + "{port: 80}]"), "(and "},
		"a mount":                  {deployment("{containers: [{name: a, image: a, volumeMounts: [{name: b, mountPath: /b}]}]}"), "5:59 spec.template.spec.containers[0].volumeMounts[0].name is \"b\", which does not exist in the object"},
		"a mount of a volume that may have the name": {deployment("{volumes: [{name: '${NAME}', emptyDir: {}}], containers: [{name: a, image: a, volumeMounts: [{name: b, mountPath: /b}]}]}"), ""},
		"a wrong value beside an unknown one":        {deployment("{dnsPolicy: Nowhere, containers: [{name: a, image: '${IMAGE}'}]}"), "5:15 spec.template.spec.dnsPolicy is \"Nowhere\", must be one of ClusterFirst"},
		"a label of the template":                    {strings.Replace(deployment("{containers: [{name: a, image: a}]}"), "labels: {app: a}", "labels: {app: a, team: our team!}", 1), "4:88 spec.template.metadata.labels.team is \"our team!\", "},
		"a misspelt field":                           {deployment("{containers: [{name: a, imag: a}]}"), ""},
		"a selector":                                 {strings.Replace(deployment("{containers: [{name: a, image: a}]}"), "labels: {app: a}", "labels: {app: b}", 1), "4:79 spec.template.metadata.labels.app is \"b\", but spec.selector requires \"a\""},
		"a Secret's value":                           {"apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: default}\ntype: kubernetes.io/dockerconfigjson\nstringData:\n  .dockerconfigjson: hunter2\n", "data"},
		"a Secret's value that is encrypted":         {"apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: default}\ntype: kubernetes.io/dockerconfigjson\nstringData:\n  .dockerconfigjson: ENC[AES256_GCM,data:a]\n", ""},
		"what is right":                              {service("[{port: 80}]"), ""},
		"another kind of this name":                  {strings.Replace(service("[{port: 70000}]"), "v1", "serving.example.com/v1", 1), ""},
	} {
		found, _ := ruletest.Run(t, Invalid, clusterSync+c.object)
		var got []string
		for _, f := range found {
			got = append(got, fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Message))
			if strings.Contains(f.Message+f.Hint, "hunter2") {
				t.Errorf("%s: %s", name, f.Message)
			}
		}
		if text := strings.Join(got, "; "); c.want == "" && text != "" || !strings.Contains(text, c.want) {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

// TestCreatedInFiles: what no cluster applies may be a base, and is not judged as if it were created.
func TestCreatedInFiles(t *testing.T) {
	t.Parallel()
	if found := ruletest.Find(t, Invalid, "-- a.yaml --\napiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 70000}]}\n"); len(found) > 0 {
		t.Errorf("found %s", found[0].Message)
	}
}

// TestIsLarge: a few thousand values are judged at once, more as a unit of work.
func TestIsLarge(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{100: false, mostUnboundedValues: true} {
		list := make([]any, n)
		if got := isLarge(map[string]any{"a": list}); got != want {
			t.Errorf("%d values: %t", n, got)
		}
	}
}

// TestMetadataOfUnknownKinds: labels and names are the same for all kinds, whether or not a schema is there.
func TestMetadataOfUnknownKinds(t *testing.T) {
	t.Parallel()
	for metadata, want := range map[string]string{
		"{name: a, labels: {enabled: true}}":          "3:39 metadata.labels.enabled must be a string, not true",
		"{name: a, labels: {team: our team!}}":        "3:36 metadata.labels.team is \"our team!\"",
		"{name: A_X}":                                 "3:18 metadata.name is \"A_X\"",
		"{name: a, labels: {team: '${TEAM}'}}":        "",
		"{name: a.b-c, labels: {example.com/a: b.c}}": "",
	} {
		found := ruletest.Find(t, Invalid, clusterSync+"apiVersion: example.com/v1\nkind: Foo\nmetadata: "+metadata+"\n")
		got := ""
		for _, f := range found {
			got += fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Message)
		}
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", metadata, got, want)
		}
	}
}
