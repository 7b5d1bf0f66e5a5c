package tenant

import (
	"maps"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/encryption"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/manifest"
	"github.com/fleetwright/fleetwright/internal/tree"
)

const syncComment = `The objects that Flux deploys for the tenant, with the tenant's own account. Each cluster's overlay
sets spec.path.`

func source(spec *v1alpha1.Spec, t *v1alpha1.Tenant) any {
	s := t.Spec.Source
	meta := shardMeta(spec, t)
	interval := emit.Duration(spec.Fleet.Spec.Defaults.Interval)
	if s.Kind == v1alpha1.SourceOCI {
		return &sourcev1.OCIRepository{
			TypeMeta:   emit.TypeMeta(sourcev1.GroupVersion, sourcev1.OCIRepositoryKind),
			ObjectMeta: meta,
			Spec: sourcev1.OCIRepositorySpec{
				Interval:  interval,
				URL:       s.URL,
				Reference: &sourcev1.OCIRepositoryRef{Tag: s.Tag, SemVer: s.SemVer},
				SecretRef: emit.SecretRef(s.SecretRef),
				Verify:    emit.Verification(s.Verify),
			},
		}
	}
	return &sourcev1.GitRepository{
		TypeMeta:   emit.TypeMeta(sourcev1.GroupVersion, sourcev1.GitRepositoryKind),
		ObjectMeta: meta,
		Spec: sourcev1.GitRepositorySpec{
			Interval:  interval,
			URL:       s.URL,
			Reference: &sourcev1.GitRepositoryRef{Branch: s.Branch, Tag: s.Tag, SemVer: s.SemVer},
			SecretRef: emit.SecretRef(s.SecretRef),
		},
	}
}

// kustomization returns the Kustomization that applies the tenant's source with the tenant's account.
//
// With one workload namespace, it sets that namespace on every object, so that the repository need not name it. With
// several, each object must name its namespace; without one it would go to the sync namespace, where the account may not
// write.
//
// It is deleted only after all objects that it applied. While the Kustomization of a draining tenant exists, some of the
// workloads do, too.
func kustomization(spec *v1alpha1.Spec, t *v1alpha1.Tenant) *kustomizev1.Kustomization {
	d := spec.Fleet.Spec.Defaults
	k := &kustomizev1.Kustomization{
		TypeMeta:   emit.TypeMeta(kustomizev1.GroupVersion, kustomizev1.KustomizationKind),
		ObjectMeta: shardMeta(spec, t),
		Spec: kustomizev1.KustomizationSpec{
			Interval:           emit.Duration(d.Interval),
			RetryInterval:      new(emit.Duration(d.RetryInterval)),
			Timeout:            new(emit.Duration(d.Timeout)),
			ServiceAccountName: kustomizeAccount(t),
			SourceRef:          kustomizev1.CrossNamespaceSourceReference{Kind: t.Spec.Source.Kind, Name: t.Metadata.Name},
			Prune:              true,
			Wait:               true,
			DeletionPolicy:     kustomizev1.DeletionPolicyWaitForTermination,
			Decryption:         encryption.TenantDecryption(spec, t),
		},
	}
	if len(t.Spec.Namespaces) == 1 {
		k.Spec.TargetNamespace = t.Spec.Namespaces[0]
	}
	return k
}

// shardMeta returns the metadata of the tenant's source and Kustomization, with the label of the tenant's
// shard.
func shardMeta(spec *v1alpha1.Spec, t *v1alpha1.Tenant) metav1.ObjectMeta {
	meta := objectMeta(t, t.Metadata.Name, t.Spec.SyncNamespace)
	maps.Copy(meta.Labels, spec.ShardLabels(t.Metadata))
	return meta
}

// pathPatch sets the path of a tenant's Kustomization.
type pathPatch struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Metadata   patchMeta    `json:"metadata"`
	Spec       pathPatchSet `json:"spec"`
}

type pathPatchSet struct {
	Path string `json:"path"`
}

// patches writes one patch for each cluster of an active tenant, with the path of its source for that cluster.
// Clusters of one environment have the same patch, which is encoded once.
func patches(out *emit.Files, spec *v1alpha1.Spec, lay layout.Layout, t *v1alpha1.Tenant) {
	if t.Spec.State != v1alpha1.StateActive {
		return
	}
	encoded := map[string][]byte{}
	for _, c := range spec.TenantClusters(t) {
		if encoded[c.Path] == nil {
			content, err := manifest.YAML(manifest.Header, patchOf(t, c.Path))
			out.Fail(err)
			encoded[c.Path] = content
		}
		out.Text(lay.TenantOverlay(c.Cluster)+"/"+patchFile(t), tree.Managed, encoded[c.Path])
	}
}

func patchOf(t *v1alpha1.Tenant, path string) pathPatch {
	return pathPatch{
		APIVersion: kustomizev1.GroupVersion.String(),
		Kind:       kustomizev1.KustomizationKind,
		Metadata:   patchMeta{Name: t.Metadata.Name, Namespace: t.Spec.SyncNamespace},
		Spec:       pathPatchSet{Path: path},
	}
}
