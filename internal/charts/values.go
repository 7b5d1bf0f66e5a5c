package charts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/chartutil"
	"github.com/go-logr/logr"
	"helm.sh/helm/v4/pkg/chart/common"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/mask"
)

// UnknownError is why the objects of a release cannot be known offline.
type UnknownError struct{ Reason string }

func (e *UnknownError) Error() string { return e.Reason }

// Data are the values of a ConfigMap or Secret, decoded: the known values, and the keys of the unknown ones.
type Data struct {
	Known   map[string]string
	Unknown []string
}

// Lookup returns a ConfigMap or Secret ("" for none) among the objects of a cluster.
type Lookup func(kind, namespace, name string) (Data, bool)

// Values are the values that a HelmRelease passes to Helm.
type Values struct {
	All map[string]any
	// secrets are strings from Secrets, which no message may show.
	secrets []string
}

// NewValues returns values that are already composed, such as those of a bootstrap, as Helm reads them.
func NewValues(all any) (*Values, error) {
	text, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	v := &Values{}
	if err := json.Unmarshal(text, &v.All); err != nil {
		return nil, err
	}
	return v, nil
}

// Compose merges the values of a HelmRelease as helm-controller does. The error is an *UnknownError,
// or the error of helm-controller.
func Compose(ctx context.Context, r *helmv2.HelmRelease, lookup Lookup) (*Values, error) {
	v, created := &Values{}, count.Lists{}
	for _, ref := range r.Spec.ValuesFrom {
		data, found := lookup(ref.Kind, r.Namespace, ref.Name)
		key := ref.GetValuesKey()
		switch text, known := data.Known[key]; {
		case strings.Contains(ref.Name+key+ref.TargetPath, "${"):
			return nil, &UnknownError{"valuesFrom contains a variable with an unknown value"}
		case slices.Contains(data.Unknown, key):
			return nil, &UnknownError{fmt.Sprintf("values come from %s %s/%s, whose key %q is encrypted or unknown", ref.Kind, r.Namespace, ref.Name, key)}
		case !known && !ref.Optional && !found:
			return nil, &UnknownError{fmt.Sprintf("values come from %s %s/%s, which is not among the cluster's objects", ref.Kind, r.Namespace, ref.Name)}
		case nodesOf([]byte(text)) > limits.ChartText:
			return nil, limitf("the values in %s %s/%s are larger than any known ones", ref.Kind, r.Namespace, ref.Name)
		case known && ref.Kind == "Secret":
			v.hide(text)
		}
		if err := countReference(&created, ref, data.Known[key]); err != nil {
			return nil, limitf("valuesFrom was not evaluated: %v", err)
		}
	}
	own := r.GetValues()
	all, err := chartutil.ChartValuesFromReferences(ctx, logr.Discard(), objects{lookup: lookup}, r.Namespace, own, r.Spec.ValuesFrom...)
	if err != nil {
		return nil, errors.New(v.masked(err.Error()))
	}
	v.All = all
	return v, nil
}

// countReference counts the list elements that the targetPath of a reference creates: the string at the path may continue
// with other paths.
func countReference(created *count.Lists, ref helmv2.ValuesReference, text string) error {
	if ref.TargetPath == "" {
		return nil
	}
	if ref.Literal {
		text = ""
	}
	return created.AddLine(ref.TargetPath, text)
}

// IsValues reports whether helm-controller reads a string as values: a YAML mapping, or an empty document. A string that
// is too large to be checked counts as values.
func IsValues(text string) bool {
	if nodesOf([]byte(text)) > limits.ChartText {
		return true
	}
	_, err := common.ReadValues([]byte(text))
	return err == nil
}

// hide records a string of a Secret as secret: all of it, and each value in it.
func (v *Values) hide(text string) {
	v.secrets = append(v.secrets, strings.TrimSpace(text))
	for line := range strings.Lines(text) {
		_, value, _ := strings.Cut(line, ":")
		v.secrets = append(v.secrets, strings.Trim(strings.TrimSpace(value), `"'`), strings.TrimSpace(line))
	}
}

// masked returns a message without the values of Secrets.
func (v *Values) masked(message string) string {
	var texts mask.Texts
	texts.Add(v.secrets...)
	return texts.Without(message)
}

// objects is a cluster for helm-controller's library, which only gets ConfigMaps and Secrets.
type objects struct {
	client.Client
	lookup Lookup
}

// Get fills in a ConfigMap or Secret.
func (o objects) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	kind := "ConfigMap"
	if _, secret := into.(*corev1.Secret); secret {
		kind = "Secret"
	}
	data, found := o.lookup(kind, key.Namespace, key.Name)
	if !found {
		return apierrors.NewNotFound(schema.GroupResource{Resource: strings.ToLower(kind) + "s"}, key.Name)
	}
	switch into := into.(type) {
	case *corev1.ConfigMap:
		into.Data = maps.Clone(data.Known)
	case *corev1.Secret:
		into.Data = map[string][]byte{}
		for name, value := range data.Known {
			into.Data[name] = []byte(value)
		}
	default:
		return fmt.Errorf("%T is not looked up", into)
	}
	return nil
}
