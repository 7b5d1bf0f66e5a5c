package kommander

import (
	"encoding/json"
	"maps"
	"net/url"
	"path"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/generators/step"
	"github.com/fleetwright/fleetwright/internal/layout"
)

// gitea writes the step that installs Gitea in the cluster, with a certificate of the cluster's authority and
// an encrypted Secret for its administrator.
func (g *generator) gitea() {
	if g.k.Gitea == nil {
		return
	}
	hosts := []string{v1alpha1.KommanderGiteaHost, v1alpha1.KommanderGiteaHost + ".cluster.local"}
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepGitea, Unit: layout.Unit{Wait: true},
		After: []string{v1alpha1.KommanderStepRootCA, v1alpha1.KommanderStepHelmRepositories, v1alpha1.KommanderStepIngress},
		Files: map[string][]any{"certificate.yaml": {newObject(certManager, "Certificate", metadata{Name: giteaTLS, Namespace: namespace}, spec{
			"secretName": giteaTLS, "dnsNames": hosts, "issuerRef": issuer(rootCA),
			"privateKey": spec{"algorithm": "ECDSA", "size": 256},
		})}},
		Comments:  map[string]string{"certificate.yaml": "Gitea needs the Secret " + namespace + "/" + v1alpha1.KommanderGiteaSecret + " too, with username and password,\nencrypted in Git or created in another way."},
		Lists:     g.apart(v1alpha1.KommanderStepGitea, v1alpha1.KommanderGiteaApp, g.applied(v1alpha1.KommanderGiteaApp, g.k.Gitea.Version)),
		PostBuild: g.postBuild(v1alpha1.KommanderGiteaApp, g.k.Gitea.Version),
	})
	g.giteaRepository()
}

// apart returns the folders of an application in a step that also has other objects. If an AppDeployment takes
// the application over, it writes a folder that annotates only the objects of the application, and returns
// that.
func (g *generator) apart(step, application string, folders []string) []string {
	annotations := g.handover(application)
	if annotations == nil {
		return folders
	}
	dir := path.Join(g.Dir(step), "application")
	var names []string
	for _, folder := range folders {
		names = append(names, emit.Relative(dir, folder))
	}
	g.out.Kustomization(dir, emit.Kustomization{Resources: emit.Sorted(names), CommonAnnotations: annotations})
	return []string{dir}
}

// giteaValues returns the values of a definition. Gitea reads its administrator from the Secret of the step,
// unless the values name another one.
func (g *generator) giteaValues(d *v1alpha1.KommanderDefinition) map[string]any {
	if g.k.Gitea == nil || d.Name != v1alpha1.KommanderGiteaApp {
		return d.Values
	}
	within := func(values map[string]any, key string) map[string]any {
		out, _ := values[key].(map[string]any)
		if out = maps.Clone(out); out == nil {
			out = map[string]any{}
		}
		values[key] = out
		return out
	}
	values := maps.Clone(d.Values)
	if values == nil {
		values = map[string]any{}
	}
	if admin := within(within(values, "gitea"), "admin"); admin["existingSecret"] == nil {
		admin["existingSecret"] = "${adminCredentialsSecret}"
	}
	return values
}

// createRepository is the script that creates a repository through Gitea's API, unless it exists. The API
// returns status 201, or 409 if the repository was created in the meantime.
const createRepository = `set -eu
call() {
  curl --silent --show-error --retry 5 --retry-connrefused --cacert "$CA_FILE" --user "$USERNAME:$PASSWORD" \
    --output /dev/null --write-out '%{http_code}' "$@"
}
if [ "$(call "$GITEA/api/v1/repos/$OWNER/$NAME")" = 200 ]; then
  echo "$OWNER/$NAME exists"
  exit 0
fi
code=$(call --header 'Content-Type: application/json' --data "$REPOSITORY" "$GITEA/api/v1/admin/users/$OWNER/repos")
case $code in
  201 | 409) echo "$OWNER/$NAME was created" ;;
  *) echo "Gitea did not create $OWNER/$NAME: status $code" >&2; exit 1 ;;
esac
`

// giteaRepository writes the step that creates the management repository if it is in Gitea. Otherwise the GitRepository
// in the next step would never become ready.
func (g *generator) giteaRepository() {
	owner, name := g.k.GiteaRepository()
	u, err := url.Parse(g.k.Management.URL)
	if owner == "" || err != nil {
		return
	}
	repository, err := json.Marshal(map[string]any{"name": name, "private": true, "auto_init": false, "default_branch": g.k.Management.Branch})
	g.out.Fail(err)
	literal := func(name, value string) spec { return spec{"name": name, "value": value} }
	secret := func(name, key string) spec {
		return spec{"name": name, "valueFrom": spec{"secretKeyRef": spec{"name": v1alpha1.KommanderGiteaSecret, "key": key}}}
	}
	container := spec{
		"name": "curl", "image": g.k.Gitea.Image, "command": []string{"sh", "-c", createRepository},
		"env": []any{
			literal("GITEA", u.Scheme+"://"+u.Host), literal("OWNER", owner), literal("NAME", name), literal("REPOSITORY", string(repository)),
			literal("CA_FILE", "/tls/ca.crt"), secret("USERNAME", "username"), secret("PASSWORD", "password"),
		},
		"volumeMounts":    []any{spec{"name": "tls", "mountPath": "/tls", "readOnly": true}},
		"resources":       spec{"requests": spec{"cpu": "10m", "memory": "32Mi"}, "limits": spec{"memory": "64Mi"}},
		"securityContext": spec{"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": spec{"drop": []string{"ALL"}}},
	}
	// A Job is immutable, so Flux has to replace it.
	m := metadata{Name: "gitea-repository", Namespace: namespace, Annotations: map[string]string{"kustomize.toolkit.fluxcd.io/force": "enabled"}}
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepGitRepository, After: []string{v1alpha1.KommanderStepGitea}, Unit: layout.Unit{Wait: true},
		Files: map[string][]any{"repository.yaml": {newObject("batch/v1", "Job", m, spec{
			"backoffLimit": 10,
			"template": spec{"spec": spec{
				"restartPolicy": "OnFailure", "automountServiceAccountToken": false, "containers": []any{container},
				"securityContext": spec{"runAsNonRoot": true, "runAsUser": 65532, "seccompProfile": spec{"type": "RuntimeDefault"}},
				"volumes":         []any{spec{"name": "tls", "secret": spec{"secretName": giteaTLS, "items": []any{spec{"key": "ca.crt", "path": "ca.crt"}}}}},
			}},
		})}},
		Comments: map[string]string{"repository.yaml": "Creates the empty repository; what it holds is pushed to it once (docs/kommander.md)."},
	})
}
