package harness

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// An Account is a service account.
type Account struct{ Namespace, Name string }

// User returns the name by which the API server knows the account.
func (a Account) User() string { return "system:serviceaccount:" + a.Namespace + ":" + a.Name }

// An Action is a request that the API server's authorizer allows or denies: a verb on
// objects, or on a path that does not lead to objects.
type Action struct {
	Verb            string
	Resource        schema.GroupVersionResource
	Subresource     string
	Namespace, Name string
	Path            string
}

func (a Action) String() string {
	if a.Path != "" {
		return a.Verb + " " + a.Path
	}
	text := a.Verb + " " + a.Resource.GroupResource().String()
	if a.Subresource != "" {
		text = a.Verb + " " + a.Resource.Resource + "/" + a.Subresource
	}
	if a.Name != "" {
		text += " " + a.Name
	}
	if a.Namespace != "" {
		text += " in " + a.Namespace
	}
	return text
}

// Authorized asks the API server's authorizers, as `kubectl auth can-i` does, and returns
// the answer with its reason.
func (c *Cluster) Authorized(t testing.TB, account Account, a Action) (bool, string) {
	t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:   account.User(),
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + account.Namespace, "system:authenticated"},
	}}
	if a.Path != "" {
		review.Spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Verb: a.Verb, Path: a.Path}
	} else {
		review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
			Verb: a.Verb, Namespace: a.Namespace, Name: a.Name,
			Group: a.Resource.Group, Version: a.Resource.Version, Resource: a.Resource.Resource, Subresource: a.Subresource,
		}
	}
	answer, err := c.Kube.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
	must(t, err)
	return answer.Status.Allowed, answer.Status.Reason
}

// methods are the methods of the verbs that have a request of their own.
var methods = map[string]string{
	"get": http.MethodGet, "list": http.MethodGet, "watch": http.MethodGet,
	"create": http.MethodPost, "update": http.MethodPut, "patch": http.MethodPatch,
	"delete": http.MethodDelete, "deletecollection": http.MethodDelete,
}

// connections are the subresources of connections, which have no dry run.
var connections = []string{"exec", "attach", "portforward", "proxy"}

// Attempt does the action without a change: it requests a dry run. The body is the created or changed object, in JSON.
//
// Three verbs have no request of their own: bind is tried by creating a binding, escalate
// by creating a role, and impersonate by a header.
// https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping
func (c Client) Attempt(ctx context.Context, a Action, body []byte) error {
	switch a.Verb {
	case "impersonate":
		return c.impersonate(ctx, a)
	case "bind":
		a.Verb, a.Resource.Resource = "create", "rolebindings"
		if a.Namespace == "" {
			a.Resource.Resource = "clusterrolebindings"
		}
	case "escalate":
		a.Verb = "create"
	}
	request := c.Kube.Discovery().RESTClient().Verb(methods[a.Verb]).AbsPath(a.path()).SetHeader("Content-Type", "application/json")
	switch {
	case a.Verb == "get", a.Verb == "list":
	case a.Verb == "watch":
		stream, err := request.Param("watch", "true").Param("timeoutSeconds", "1").Stream(ctx)
		if err == nil {
			err = stream.Close()
		}
		return err
	case a.Verb == "delete", a.Verb == "deletecollection": // a body would replace these options
		request = request.Param("dryRun", metav1.DryRunAll)
	case a.Verb == "patch":
		request = request.SetHeader("Content-Type", string(types.MergePatchType)).Param("dryRun", metav1.DryRunAll).Body(body)
	case slices.Contains(connections, a.Subresource): // of an object that does not exist
	default:
		request = request.Param("dryRun", metav1.DryRunAll).Body(body)
	}
	return request.Do(ctx).Error()
}

// impersonate sends a self subject review as the other account, which anyone may send.
func (c Client) impersonate(ctx context.Context, a Action) error {
	request := c.Kube.Discovery().RESTClient().Post().AbsPath("/apis/authentication.k8s.io/v1/selfsubjectreviews")
	switch a.Resource.Resource {
	case "serviceaccounts":
		request.SetHeader("Impersonate-User", Account{a.Namespace, a.Name}.User())
	case "groups":
		request.SetHeader("Impersonate-User", "nobody").SetHeader("Impersonate-Group", a.Name)
	default:
		request.SetHeader("Impersonate-User", a.Name)
	}
	return request.SetHeader("Content-Type", "application/json").Body([]byte(`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`)).Do(ctx).Error()
}

// path returns the path of the action's request:
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris
func (a Action) path() string {
	if a.Path != "" {
		return a.Path
	}
	parts := []string{"/apis", a.Resource.Group, a.Resource.Version}
	if a.Resource.Group == "" {
		parts = []string{"/api", a.Resource.Version}
	}
	if a.Namespace != "" && a.Resource.Resource != "namespaces" {
		parts = append(parts, "namespaces", a.Namespace)
	}
	parts = append(parts, a.Resource.Resource)
	if a.Name != "" && (a.Verb != "create" || a.Subresource != "") {
		parts = append(parts, a.Name)
	}
	if a.Subresource != "" {
		parts = append(parts, a.Subresource)
	}
	return strings.Join(parts, "/")
}

// Impersonating returns a client whose requests the API server treats as the account's, as
// kustomize-controller and helm-controller do for an object with spec.serviceAccountName.
func (c Client) Impersonating(t testing.TB, account Account) Client {
	t.Helper()
	cfg := rest.CopyConfig(c.Config)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: account.User()}
	client := newClient(t, cfg)
	client.Kinds, client.Mapper = c.Kinds, c.Mapper
	return client
}
