package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetwright/fleetwright/e2e/harness"
)

// A refusedBy names what refuses an object, by a part of the API server's message.
type refusedBy string

const (
	admitted   refusedBy = ""
	byPolicy   refusedBy = "ValidatingAdmissionPolicy 'tenant-"
	byRole     refusedBy = " cannot "
	bySecurity refusedBy = "violates PodSecurity"
	byQuota    refusedBy = "exceeded quota"
	byLimit    refusedBy = "usage per "
	bySchema   refusedBy = "field not declared in schema"
)

// A trial is an object that a tenant writes into its repository, with the line of the threat
// model in docs/tenants.md that it belongs to. If the profile does not allow the tenant to write
// the kind, the authorizer refuses it. Words in capitals are replaced by names().
type trial struct {
	line, what string
	who        grant // the accounts that the authorizer allows to write the kind
	object     string
	by         refusedBy // what refuses the object then
}

// confined are the lines of the model about what a tenant with profile admin may do in its own namespaces.
var confined = map[string]bool{"A7": true, "A8": true, "A9": true}

// threats tries every trial as both of the tenant's accounts, which kustomize-controller and
// helm-controller impersonate.
func (s *site) threats(t *testing.T) {
	tenants := s.tenants(t)
	trials := allTrials()
	tried := make([]int, len(trials))
	for _, tenant := range tenants {
		t.Run(tenant.name, func(t *testing.T) {
			s.try(t, tenant, tenants, trials, tried)
			t.Run("changes", func(t *testing.T) { s.changed(t, tenant, tenants) })
		})
	}
	t.Run("builds", func(t *testing.T) { s.folders(t, tenants) })
	t.Run("networks", s.networks)
	if s.fleet.Name == "acme" { // one example is enough
		t.Run("controls", s.controls)
		t.Run("waits", func(t *testing.T) { s.waits(t, tenants[0]) })
	}
	for i, count := range tried {
		if s.fleet.Name == "acme" && count == 0 {
			t.Errorf("%s: %s: no tenant tries it", trials[i].line, trials[i].what)
		}
	}
}

// try tries the trials as the tenant's accounts, and counts for each trial how often it did.
func (s *site) try(t *testing.T, tenant *tenant, all []*tenant, trials []trial, tried []int) {
	profile, names := s.fleet.Profile(tenant.name), s.names(tenant, all)
	accounts := s.impersonators(t, tenant)
	passed, refused := 0, 0
	for i, trial := range trials {
		text, ok := names.replace(trial.object)
		if !ok {
			continue // the specification allows the tenant no object of the kind
		}
		tried[i]++
		for account, client := range accounts {
			by := trial.by
			switch {
			case account == administrator && trial.who == nobody && trial.by == admitted:
				continue // the administrator may do anything
			case account != administrator && !may(trial.who, account, tenant.name, profile) && (trial.who != ruled || !s.grants(t, tenant, text)):
				by = byRole
			}
			if by == byPolicy && profile == "admin" && confined[trial.line] {
				by = admitted
			}
			err := s.bring(t, client, tenant.namespaces[0], text)
			if err == nil && by != byRole && by != admitted {
				err = s.makePod(t, tenant.namespaces[0], text)
			}
			if problem := by.judge(err); problem != "" {
				t.Errorf("%s: %s: %s as %s: %s", trial.line, trial.what, trial.kind(), account.User(), problem)
			}
			if by == admitted {
				passed++
			} else {
				refused++
			}
		}
	}
	s.proved(t, "%d objects in the repository of a tenant with profile %s, as its accounts and the administrator: %d times admitted, %d refused",
		len(trials), profile, passed, refused)
}

// grants reports whether the specification allows the tenant to apply the object in addition to its profile.
func (s *site) grants(t *testing.T, tenant *tenant, text string) bool {
	t.Helper()
	kind := harness.Objects(t, []byte(text))[0].GroupVersionKind()
	mapping, err := s.flux.Mapper.RESTMapping(kind.GroupKind(), kind.Version)
	must(t, err)
	return s.fleet.TenantSpec(tenant.name).Grants(harness.Action{Verb: "patch", Resource: mapping.Resource})
}

// administrator represents every account with more permissions than the tenant's: the policies apply to
// all, so that they don't depend on the profile.
var administrator harness.Account

// impersonators returns the clients of the tenant's accounts, as Flux's controllers impersonate them,
// and the administrator's.
func (s *site) impersonators(t *testing.T, tenant *tenant) map[harness.Account]harness.Client {
	t.Helper()
	kustomize := harness.Account{Namespace: tenant.sync, Name: tenant.name}
	helm := harness.Account{Namespace: tenant.namespaces[0], Name: tenant.name + "-helm"}
	return map[harness.Account]harness.Client{
		kustomize:     s.flux.As("flux-system", "kustomize-controller").Impersonating(t, kustomize),
		helm:          s.flux.As("flux-system", "helm-controller").Impersonating(t, helm),
		administrator: s.flux.Client,
	}
}

// judge returns what is wrong about the API server's answer, "" if nothing is.
func (by refusedBy) judge(err error) string {
	switch {
	case by == admitted && err != nil:
		return "it should be admitted: " + err.Error()
	case by == bySchema && (err == nil || !strings.Contains(err.Error(), string(bySchema))):
		return fmt.Sprintf("its field should not exist: %v", err)
	case by == byRole && apierrors.IsForbidden(err) && strings.Contains(err.Error(), "is attempting to grant RBAC permissions"):
		return ""
	case by != admitted && by != bySchema && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), string(by))):
		return fmt.Sprintf("it should be refused since %q: %v", by, err)
	}
	return ""
}

func (t trial) kind() string {
	_, kind, _ := strings.Cut(t.object, "kind: ")
	kind, _, _ = strings.Cut(kind, ",")
	return kind
}

// bring applies the object on the server's side, as Flux does, as a dry run.
func (s *site) bring(t *testing.T, client harness.Client, namespace, text string) error {
	t.Helper()
	object := harness.Objects(t, []byte(text))[0]
	if object.GetName() == "" {
		object.SetName("trial")
	}
	resource, err := client.Resource(object.GroupVersionKind(), cmp.Or(object.GetNamespace(), namespace))
	if err != nil {
		return fmt.Errorf("%s: %w", object.GetKind(), err)
	}
	options := metav1.ApplyOptions{FieldManager: "kustomize-controller", Force: true, DryRun: []string{metav1.DryRunAll}}
	_, err = resource.Apply(t.Context(), object.GetName(), object, options)
	return err
}

// makePod does the part of a workload's controller: admission may refuse the pods of a workload that it
// admitted.
func (s *site) makePod(t *testing.T, namespace, text string) error {
	t.Helper()
	object := harness.Objects(t, []byte(text))[0]
	for _, path := range [][]string{{"spec", "template"}, {"spec", "jobTemplate", "spec", "template"}, {"template"}} {
		template, found, _ := unstructured.NestedMap(object.Object, path...)
		if !found {
			continue
		}
		template["apiVersion"], template["kind"] = "v1", "Pod"
		pod := &unstructured.Unstructured{Object: template}
		controller := s.flux.Impersonating(t, harness.Account{Namespace: "kube-system", Name: "replicaset-controller"})
		content, err := json.Marshal(pod)
		must(t, err)
		return s.bring(t, controller, namespace, string(content))
	}
	return nil
}

// names replaces the words in capitals in the objects of the trials.
type names struct{ *strings.Replacer }

// replace also reports whether every word has a meaning for the tenant.
func (n names) replace(text string) (string, bool) {
	text = n.Replace(text)
	return text, !strings.Contains(text, "NONE")
}

func (s *site) names(tenant *tenant, all []*tenant) names {
	spec := s.fleet.TenantSpec(tenant.name)
	other, otherHost, second, branch := "flux-system", "other.example.com", "NONE", "NONE"
	if len(tenant.namespaces) > 1 {
		second = tenant.namespaces[1]
	}
	if spec.Source.URL == s.fleet.PlatformURL() {
		branch = tenant.field("ref", "branch")
	}
	for _, o := range all {
		if o != tenant {
			other = o.namespaces[0]
			if hosts := s.fleet.TenantSpec(o.name).Hosts; len(hosts) > 0 {
				otherHost = strings.Replace(hosts[0], "*", "shop", 1)
			}
		}
	}
	chart := spec.Chart()
	host, wild, bucket := "NONE", "NONE", "NONE"
	for i, h := range spec.Hosts {
		if i == 0 {
			host = strings.Replace(h, "*", "shop", 1)
		}
		if suffix, ok := strings.CutPrefix(h, "*"); ok {
			wild = suffix
		}
	}
	endpoint := "NONE"
	for _, allowed := range spec.AllowedSources {
		if rest, ok := strings.CutPrefix(allowed, "https://"); ok {
			endpoint, bucket, _ = strings.Cut(strings.TrimRight(rest, "/"), "/")
		}
	}
	repository, evil := tenant.field("url"), "https://git.example.com/anybody/anything"
	if tenant.source.GetKind() != "GitRepository" {
		repository, evil = "NONE", "oci://registry.example.com/anybody/anything"
	}
	ref, _, _ := unstructured.NestedMap(tenant.source.Object, "spec", "ref")
	refText, _ := json.Marshal(ref)
	return names{strings.NewReplacer(
		"TENANT", tenant.name, "HERE", tenant.namespaces[0], "SYNC", tenant.sync, "OTHERNS", other,
		"OWNKIND", tenant.source.GetKind(), "OWNURL", tenant.field("url"), "GITURL", repository, "EVILURL", evil, "OWNREF", string(refText),
		"CHARTURL", chart, "CHARTIMAGE", strings.TrimPrefix(chart, "oci://"), "PLATFORMURL", s.fleet.PlatformURL(),
		"SECONDNS", second, "BRANCH", branch, "ENDPOINT", endpoint, "BUCKETNAME", bucket,
		"OTHERHOST", otherHost, "WILDHOST", wild, "HOST", host,
	)}
}
