package oracle

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/kyaml/openapi"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Verdict is the result of one Kustomization on both sides.
type Verdict struct {
	Kustomization *reconcile.Kustomization
	// Objects is the number of objects on Flux's side.
	Objects int
	// Unresolved reports whether the Kustomization has gaps, so that there is nothing to compare.
	Unresolved bool
	// Failed is why Flux's side failed, nil if it did not.
	Failed error
	// Differences in words; none if both sides agree, including if both fail.
	Differences []string
}

// Comparer compares a reconciled repository with Flux's side.
type Comparer struct {
	// Repository that was reconciled, and Artifact, a copy of its folder made by [Copy].
	Repository *repository.Repository
	Artifact   string
	// Scratch is a folder for other copies.
	Scratch string
	Build   Build

	copies map[*repository.Repository]string
}

// Compare compares each Kustomization of a cluster. Flux's side builds each Kustomization from its object, with the
// ConfigMaps and Secrets of the whole cluster. Since that object is compared as part of its parent, the whole graph is
// compared.
func (c *Comparer) Compare(ctx context.Context, cluster *reconcile.Cluster) ([]Verdict, error) {
	// Flux's library leaves kustomize's global schema empty, which others in the process read.
	defer openapi.Schema()
	verdicts := make([]Verdict, 0, len(cluster.Kustomizations))
	for _, k := range cluster.Kustomizations {
		v := Verdict{Kustomization: k, Unresolved: len(k.Gaps) > 0}
		if !v.Unresolved {
			if err := c.compare(ctx, k, &v); err != nil {
				return nil, err
			}
		}
		verdicts = append(verdicts, v)
	}
	return verdicts, nil
}

func (c *Comparer) compare(ctx context.Context, k *reconcile.Kustomization, v *Verdict) error {
	root, dir, err := c.folder(k)
	if err != nil {
		return err
	}
	ks, err := object(k)
	if err != nil {
		return err
	}
	hide(ks, k)
	values := valuesOf(k.Cluster)
	objects, failed := Reconcile(ctx, root, dir, ks, values, c.Build)
	ours := whyFailed(k)
	if v.Failed = failed; failed != nil && ours == "" {
		v.Differences = []string{fmt.Sprintf("only Flux fails: %v", failed)}
	}
	if failed == nil && ours != "" {
		v.Differences = []string{"only Fleetwright fails: " + ours}
	}
	// An undefined variable may be defined by hand on the cluster: then it remains as ${NAME}.
	if failed != nil && ours != "" && k.Failure == nil && define(ks, k) {
		if objects, failed = Reconcile(ctx, root, dir, ks, lenient(values), c.Build); failed != nil {
			v.Differences = []string{fmt.Sprintf("only Flux fails, with all variables defined: %v", failed)}
		}
	}
	if failed == nil {
		v.Objects = len(objects)
		v.Differences = append(v.Differences, differences(k, objects)...)
	}
	return nil
}

// folder returns the root of the source on disk, and the path in it.
func (c *Comparer) folder(k *reconcile.Kustomization) (root, dir string, err error) {
	if k.Repo == c.Repository {
		base := k.Cluster.Root.Base
		dir, err := filepath.Rel(filepath.FromSlash(base), filepath.FromSlash(k.Dir))
		return filepath.Join(c.Artifact, base), dir, err
	}
	if copied, ok := c.copies[k.Repo]; ok {
		return copied, k.Dir, nil
	}
	if root, err = os.MkdirTemp(c.Scratch, "source"); err != nil {
		return "", "", err
	}
	for _, file := range k.Repo.Paths() {
		if !k.Repo.Visible(file) {
			continue
		}
		data, err := k.Repo.ReadFile(file)
		if err != nil {
			return "", "", err
		}
		to := filepath.Join(root, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return "", "", err
		}
		if err := os.WriteFile(to, data, 0o644); err != nil {
			return "", "", err
		}
	}
	if c.copies == nil {
		c.copies = map[*repository.Repository]string{}
	}
	c.copies[k.Repo] = root
	return root, k.Dir, nil
}

// object returns the Kustomization as the API server stores it.
func object(k *reconcile.Kustomization) (unstructured.Unstructured, error) {
	if k.Object != nil {
		u := unstructured.Unstructured{Object: k.Object.Value}
		return *u.DeepCopy(), nil
	}
	ks := kustomizev1.Kustomization{Spec: k.Spec}
	ks.Namespace, ks.Name = k.Namespace, k.Name
	value, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&ks)
	return unstructured.Unstructured{Object: value}, err
}

// whyFailed returns why Flux would fail according to our side, "" if it would not.
func whyFailed(k *reconcile.Kustomization) string {
	if k.Failure != nil {
		return string(k.Failure.Reason) + ": " + k.Failure.Message
	}
	for _, r := range k.References {
		if r.Found == nil && !r.Optional {
			return fmt.Sprintf("no %s %s for its variables", r.Kind, r.Name)
		}
	}
	for name, v := range k.Variables {
		if v.Undefined {
			return fmt.Sprintf("the variable %s is undefined", name)
		}
	}
	return ""
}

// hide replaces each postBuild.substitute value that is unknown by ${NAME}, its own variable, as valuesOf does for ConfigMaps
// and Secrets.
func hide(ks unstructured.Unstructured, k *reconcile.Kustomization) {
	if k.Spec.PostBuild == nil {
		return
	}
	for name := range k.Spec.PostBuild.Substitute {
		if v := k.Variables[name]; v != nil && !v.Known {
			_ = unstructured.SetNestedField(ks.Object, "${"+name+"}", "spec", "postBuild", "substitute", name)
		}
	}
}

// variableName matches the names of variables that kustomize-controller allows.
// Source: github.com/fluxcd/pkg/kustomize v1.39, varsubRegex.
var variableName = regexp.MustCompile(`^[_[:alpha:]][_[:alpha:][:digit:]]*$`)

// define defines the undefined variables of a Kustomization. It returns false if one cannot be defined, such as ${1}:
// Flux always fails there.
func define(ks unstructured.Unstructured, k *reconcile.Kustomization) bool {
	for name, v := range k.Variables {
		if v.Undefined && !variableName.MatchString(name) {
			return false
		}
	}
	for name, v := range k.Variables {
		if v.Undefined {
			_ = unstructured.SetNestedField(ks.Object, "${"+name+"}", "spec", "postBuild", "substitute", name)
		}
	}
	return true
}

func lenient(values Values) Values {
	return func(kind, namespace, name string) (map[string]string, bool) {
		data, _ := values(kind, namespace, name)
		return data, true
	}
}

// valuesOf returns the ConfigMaps and Secrets of a cluster. A value that is encrypted or contains a variable with an
// unknown value is replaced by the name of its variable.
func valuesOf(cluster *reconcile.Cluster) Values {
	return func(kind, namespace, name string) (map[string]string, bool) {
		found := cluster.Find(reconcile.Identity{Kind: kind, Namespace: namespace, Name: name})
		if len(found) == 0 {
			return nil, false
		}
		o, values := found[0], map[string]string{}
		for _, field := range []string{"data", "stringData"} {
			data, _ := o.Value[field].(map[string]any)
			for key, value := range data {
				text, _ := value.(string)
				switch {
				case o.Encrypted && strings.HasPrefix(text, "ENC["), len(o.Unknown) > 0 && strings.Contains(text, "${"):
					text = "${" + key + "}"
				case kind == "Secret" && field == "data":
					decoded, _ := base64.StdEncoding.DecodeString(text)
					text = string(decoded)
				}
				values[key] = text
			}
		}
		return values, true
	}
}

// differences compares the objects of both sides, one by one and in their order.
func differences(k *reconcile.Kustomization, theirs []*unstructured.Unstructured) []string {
	found := unpaired(k.Objects, theirs)
	if len(found) > 0 {
		return found
	}
	for i, ours := range k.Objects {
		normalize(k, ours, theirs[i])
		for _, d := range diff("", plain(ours.Value), plain(theirs[i].Object)) {
			found = append(found, ours.String()+": "+d)
		}
	}
	for _, o := range theirs {
		if o.GroupVersionKind().Group != kustomizev1.GroupVersion.Group || o.GetKind() != kustomizev1.KustomizationKind || k.Spec.KubeConfig != nil {
			continue
		}
		known, ok := k.Cluster.Kustomization(o.GetNamespace(), o.GetName())
		switch {
		case !ok:
			found = append(found, fmt.Sprintf("the Kustomization %s/%s is not followed", o.GetNamespace(), o.GetName()))
		case known == k:
			// A root that its own build changes is compared in its changed form.
			for _, d := range diff("", plain(k.Object.Value["spec"]), plain(o.Object["spec"])) {
				found = append(found, "its own spec: "+d)
			}
		}
	}
	return found
}

// unpaired returns the objects that only one side has, or says that their orders differ.
func unpaired(ours []*reconcile.Object, theirs []*unstructured.Unstructured) []string {
	var left, right, found []string
	for _, o := range ours {
		left = append(left, o.APIVersion+" "+o.String())
	}
	for _, u := range theirs {
		o := reconcile.Object{Identity: reconcile.Identity{Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}}
		right = append(right, u.GetAPIVersion()+" "+o.String())
	}
	if slices.Equal(left, right) {
		return nil
	}
	count := map[string]int{}
	for _, id := range left {
		count[id]++
	}
	for _, id := range right {
		if count[id]--; count[id] < 0 {
			found = append(found, id+": only Flux has it")
		}
	}
	for _, id := range left {
		if count[id] > 0 {
			count[id]--
			found = append(found, id+": only Fleetwright has it")
		}
	}
	if len(found) == 0 {
		found = append(found, "the objects are the same, in another order")
	}
	return found
}

// normalize applies to an object what kustomize-controller does after the build: common metadata, and the removal of
// SOPS's metadata, which happens at decryption.
func normalize(k *reconcile.Kustomization, ours *reconcile.Object, theirs *unstructured.Unstructured) {
	if ours.Encrypted {
		delete(theirs.Object, "sops")
	}
	meta := k.Spec.CommonMetadata
	if meta == nil {
		return
	}
	if len(meta.Labels) > 0 {
		all := theirs.GetLabels()
		if all == nil {
			all = map[string]string{}
		}
		for name, value := range meta.Labels {
			all[name] = value
		}
		theirs.SetLabels(all)
	}
	if len(meta.Annotations) > 0 {
		all := theirs.GetAnnotations()
		if all == nil {
			all = map[string]string{}
		}
		for name, value := range meta.Annotations {
			all[name] = value
		}
		theirs.SetAnnotations(all)
	}
}

// plain converts a value to the types of JSON, with numbers as written.
func plain(value any) any {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	var out any
	if err := decoder.Decode(&out); err != nil {
		return err.Error()
	}
	return out
}

// diff returns where two plain values differ.
func diff(at string, ours, theirs any) []string {
	switch ours := ours.(type) {
	case map[string]any:
		theirs, ok := theirs.(map[string]any)
		if !ok {
			break
		}
		var names []string
		for name := range ours {
			names = append(names, name)
		}
		for name := range theirs {
			if _, both := ours[name]; !both {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		var found []string
		for _, name := range names {
			mine, here := ours[name]
			other, there := theirs[name]
			switch field := path.Join(at, name); {
			case !here:
				found = append(found, field+": only Flux has it: "+show(other))
			case !there:
				found = append(found, field+": only Fleetwright has it: "+show(mine))
			default:
				found = append(found, diff(field, mine, other)...)
			}
		}
		return found
	case []any:
		theirs, ok := theirs.([]any)
		if !ok || len(ours) != len(theirs) {
			break
		}
		var found []string
		for i := range ours {
			found = append(found, diff(fmt.Sprintf("%s[%d]", at, i), ours[i], theirs[i])...)
		}
		return found
	}
	if mine, other := show(ours), show(theirs); mine != other {
		return []string{fmt.Sprintf("%s: %s, and Flux has %s", at, mine, other)}
	}
	return nil
}

// show returns a short form of a value. It does not hide secrets: a repository that is compared is public.
func show(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
