package k0rdent_test

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/examples/platformtest"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/k0rdent"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// edits of the specification that take the cluster of team-red out, and what it used.
const (
	redCluster = `    - name: red-production
      namespace: team-red
      labels:
        environment: production
        ingress: public
      template:
        name: aws-standalone-cp
        version: 1.0.42
      credential: aws
      config:
        region: eu-central-1
        clusterIdentity:
          name: aws
        controlPlaneNumber: 3
        controlPlane:
          instanceType: t3.medium
        workersNumber: 5
        worker:
          instanceType: m6i.large
      services:
        - name: ingress-nginx
          namespace: ingress-nginx
          template:
            name: ingress-nginx
            version: 4.13.2
          values:
            controller:
              replicaCount: 2
          #valuesFrom:
          #  - kind: ConfigMap
          #    name: ingress-values
`
	redAccess = `    - namespaces:
        list: [team-red]
      clusterTemplateChains: [aws]
      serviceTemplateChains: [services]
      credentials: [aws]
`
	redCredential = `    - name: aws
      description: The AWS account of the platform team
      aws: {} # sessionToken: true where the Secret has one
`
)

// since is what the rule finds in the example after some edits, since it had others.
func since(t *testing.T, before, after []string) []string {
	t.Helper()
	rendered := func(changes []string) *repository.Repository {
		files := func(yield func(string, []byte) bool) {
			for f := range platformtest.Render(t, "k0rdent", platformtest.Spec(t, "k0rdent", changes...)).Tree.All() {
				if !yield(f.Path, f.Content) {
					return
				}
			}
		}
		repo, err := repository.FromFiles(files, repository.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return repo
	}
	out, err := rule.Run(t.Context(), rendered(after), rule.Options{Rules: []rule.Rule{k0rdent.RemovalOrder}, Before: rendered(before)})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Unresolved) > 0 {
		t.Errorf("unresolved: %v", out.Unresolved)
	}
	var messages []string
	for _, f := range out.Findings {
		messages = append(messages, f.File+": "+f.Message)
	}
	return messages
}

// A cluster, its credential and its access leave in one edit of the specification: the cluster could
// never be deleted. In two edits all is well.
func TestClusterLeaves(t *testing.T) {
	t.Parallel()
	cluster, all := []string{redCluster, ""}, []string{redCluster, "", redAccess, "", redCredential, ""}
	want := "clusters/management/k0rdent.yaml: ClusterDeployment team-red/red-production is removed together with " +
		"the access rule that distributes Credential team-red/aws to it, Credential kcm-system/aws and AWSClusterStaticIdentity aws, without which k0rdent cannot delete the cluster"
	if got := since(t, nil, all); len(got) != 1 || got[0] != want {
		t.Errorf("in one edit: %s", strings.Join(got, "\n"))
	}
	if got := since(t, nil, cluster); len(got) > 0 {
		t.Errorf("the cluster alone: %v", got)
	}
	if got := since(t, cluster, all); len(got) > 0 {
		t.Errorf("the rest behind it: %v", got)
	}
}
