package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

var (
	all  = metav1.ListOptions{}
	get  = metav1.GetOptions{}
	pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

// Resource returns the interface to read and write objects of the kind.
func (c Client) Resource(kind schema.GroupVersionKind, namespace string) (dynamic.ResourceInterface, error) {
	mapping, err := c.Mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		c.Mapper.Reset()
		mapping, err = c.Mapper.RESTMapping(kind.GroupKind(), kind.Version)
	}
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return c.Any.Resource(mapping.Resource), nil
	}
	return c.Any.Resource(mapping.Resource).Namespace(namespace), nil
}

// Apply applies the objects one by one, on the server's side, in Flux's order: namespaces
// and definitions of kinds first. https://pkg.go.dev/github.com/fluxcd/pkg/ssa#ResourceManager.ApplyAllStaged
func (c *Cluster) Apply(objects ...*unstructured.Unstructured) {
	c.t.Helper()
	for _, definitions := range []bool{true, false} {
		for _, object := range objects {
			first := object.GetKind() == "Namespace" || object.GetKind() == "CustomResourceDefinition"
			if first == definitions {
				c.apply(object)
			}
		}
		if definitions {
			c.established()
		}
	}
}

func (c *Cluster) apply(object *unstructured.Unstructured) {
	c.t.Helper()
	if err := c.Client.Apply(c.t.Context(), object); err != nil {
		c.t.Fatalf("%s %s/%s: %v", object.GetKind(), object.GetNamespace(), object.GetName(), err)
	}
}

// Apply applies one object on the server's side.
func (c Client) Apply(ctx context.Context, object *unstructured.Unstructured) error {
	resource, err := c.Resource(object.GroupVersionKind(), object.GetNamespace())
	if err != nil {
		return err
	}
	_, err = resource.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: "e2e"})
	return err
}

// Admit applies one object on the server's side as a dry run. A namespace is really applied,
// since the objects in it could not be admitted otherwise.
func (c Client) Admit(ctx context.Context, object *unstructured.Unstructured) error {
	resource, err := c.Resource(object.GroupVersionKind(), object.GetNamespace())
	if err != nil {
		return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
	}
	options := metav1.ApplyOptions{FieldManager: "e2e", Force: true, DryRun: []string{metav1.DryRunAll}}
	if object.GetKind() == "Namespace" {
		if _, err := resource.Get(ctx, object.GetName(), get); apierrors.IsNotFound(err) {
			options.DryRun = nil
		}
	}
	if _, err := resource.Apply(ctx, object.GetName(), object, options); err != nil {
		return fmt.Errorf("%s %s/%s: %w", object.GetKind(), object.GetNamespace(), object.GetName(), err)
	}
	return nil
}

// established waits until every kind that is defined is served.
func (c *Cluster) established() {
	c.t.Helper()
	definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	Eventually(c.t, limit, "the definitions are established", func(ctx context.Context) (bool, string) {
		list, err := c.Any.Resource(definitions).List(ctx, all)
		if err != nil {
			return false, err.Error()
		}
		for _, item := range list.Items {
			conditions, _, _ := unstructured.NestedSlice(item.Object, "status", "conditions")
			if !strings.Contains(fmt.Sprint(conditions), "status:True type:Established") {
				return false, item.GetName()
			}
		}
		return true, ""
	})
	c.Mapper.Reset()
}

func writeYAML(t testing.TB, fs filesys.FileSystem, name string, value any) {
	t.Helper()
	text, err := yaml.Marshal(value)
	must(t, err)
	must(t, fs.WriteFile(name, text))
}

// A logBuffer keeps the output of a process.
type logBuffer struct {
	mu    sync.Mutex
	lines []string
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, strings.Split(strings.TrimRight(string(p), "\n"), "\n")...)
	return len(p), nil
}

// errors returns the last n lines above the level info.
func (b *logBuffer) errors(n int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	lines := slices.DeleteFunc(slices.Clone(b.lines), func(line string) bool { return strings.HasPrefix(line, `{"level":"info"`) })
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
