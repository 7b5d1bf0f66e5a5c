// Package oracle computes what Flux would apply with Flux's own libraries: the ignore rules of source-controller on a
// copy on disk, and the generator, build and substitution that kustomize-controller calls. It is slow and trusts its
// input; it is for tests and comparisons, and not part of the command.
package oracle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/fluxcd/pkg/kustomize"
	"github.com/fluxcd/pkg/sourceignore"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	yamlutil "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
)

// Copy copies a folder as source-controller archives it: regular files and folders that no .sourceignore excludes, and no
// default excludes if there is no .sourceignore. Links are left out. Source: github.com/fluxcd/pkg/artifact v0.18
// storage, Archive and SourceIgnoreFilter.
func Copy(from, to string) error {
	from, err := filepath.Abs(from)
	if err != nil {
		return err
	}
	domain := strings.Split(from, string(filepath.Separator))
	patterns, err := sourceignore.LoadIgnorePatterns(from, domain)
	if err != nil {
		return err
	}
	matcher := sourceignore.NewDefaultMatcher(patterns, domain)
	if len(patterns) > 0 {
		matcher = sourceignore.NewMatcher(append(sourceignore.VCSPatterns(domain), patterns...))
	}
	return filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case !entry.IsDir() && !entry.Type().IsRegular(),
			matcher.Match(strings.Split(name, string(filepath.Separator)), entry.IsDir()):
			return nil
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		return copyFile(name, filepath.Join(to, rel))
	})
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// Build runs kustomize on a folder below root.
type Build func(ctx context.Context, root, dir string) (resmap.ResMap, error)

// Library is kustomize as kustomize-controller calls it, without remote bases.
func Library(_ context.Context, root, dir string) (resmap.ResMap, error) {
	return kustomize.SecureBuild(root, dir, false)
}

// Command runs the kustomize command at a path, with the order that Flux's library keeps. Nothing can be fetched: git is
// not on its PATH, and its proxy doesn't answer.
func Command(binary string) Build {
	return func(ctx context.Context, _, dir string) (resmap.ResMap, error) {
		cmd := exec.CommandContext(ctx, binary, "build", "--reorder", "none", "--load-restrictor", "LoadRestrictionsNone", dir)
		var out, failed bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &failed
		cmd.Env = []string{"HTTP_PROXY=127.0.0.1:9", "HTTPS_PROXY=127.0.0.1:9", "HOME=" + os.TempDir(), "PATH="}
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(failed.String()))
		}
		if len(bytes.TrimSpace(out.Bytes())) == 0 {
			return resmap.New(), nil
		}
		factory := resmap.NewFactory(provider.NewDefaultDepProvider().GetResourceFactory())
		return factory.NewResMapFromBytes(out.Bytes())
	}
}

// Values returns the data of a ConfigMap or Secret of the cluster, false if it does not exist.
type Values func(kind, namespace, name string) (map[string]string, bool)

// Reconcile returns the objects that kustomize-controller would apply for a Flux Kustomization whose source is the folder
// root and whose path is the folder dir in it. Nothing is decrypted. It changes the folder during the build, and restores
// it. Source: github.com/fluxcd/kustomize-controller v1.9, KustomizationReconciler.build.
func Reconcile(ctx context.Context, root, dir string, ks unstructured.Unstructured, values Values, build Build) (objects []*unstructured.Unstructured, err error) {
	if root, err = filepath.EvalSymlinks(root); err != nil { // Flux's library writes only below resolved paths
		return nil, err
	}
	at := filepath.Join(root, dir)
	if info, err := os.Stat(at); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the path %q is not a folder", dir)
	}
	action, err := kustomize.NewGenerator(root, ks).WriteFile(at, kustomize.WithSaveOriginalKustomization())
	if err != nil {
		return nil, err
	}
	defer func() {
		if failed := kustomize.CleanDirectory(at, action); failed != nil && err == nil {
			err = failed
		}
	}()
	resources, err := build(ctx, root, at)
	if err != nil {
		return nil, err
	}
	if err := substitute(ctx, ks, resources, values); err != nil {
		return nil, err
	}
	text, err := resources.AsYaml()
	if err != nil {
		return nil, err
	}
	return read(text)
}

func substitute(ctx context.Context, ks unstructured.Unstructured, resources resmap.ResMap, values Values) error {
	_, wanted, err := unstructured.NestedMap(ks.Object, "spec", "postBuild")
	if err != nil {
		return err
	}
	strategy, _, _ := unstructured.NestedString(ks.Object, "spec", "postBuild", "substituteStrategy")
	for _, r := range resources.Resources() {
		if r.GetName() == "" || r.GetKind() == "" || r.GetApiVersion() == "" {
			return fmt.Errorf("no apiVersion, kind or name in %s", r)
		}
		if !wanted {
			continue
		}
		changed, err := kustomize.SubstituteVariables(ctx, reader{values: values}, ks, r,
			kustomize.SubstituteWithStrict(true), kustomize.SubstituteWithAlways(strategy == "Always"))
		if err != nil {
			return fmt.Errorf("%s %s: %w", r.GetKind(), r.GetName(), err)
		}
		if changed != nil {
			if _, err := resources.Replace(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// read reads the result as kustomize-controller does before it applies it.
// Source: github.com/fluxcd/pkg/ssa v0.76, utils.ReadObjects.
func read(text []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yamlutil.NewYAMLOrJSONDecoder(bytes.NewReader(text), 2048)
	for {
		o := &unstructured.Unstructured{}
		if err := decoder.Decode(o); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		if o.IsList() {
			list, err := o.ToList()
			if err != nil {
				return nil, err
			}
			for i := range list.Items {
				objects = append(objects, &list.Items[i])
			}
			continue
		}
		isKustomize := strings.EqualFold(o.GetKind(), "kustomization") && strings.HasPrefix(o.GetAPIVersion(), "kustomize.config.k8s.io/")
		if o.GetName() != "" && o.GetKind() != "" && o.GetAPIVersion() != "" && !isKustomize {
			objects = append(objects, o)
		}
	}
}

// reader is a client of a cluster with ConfigMaps and Secrets.
type reader struct {
	client.Client
	values Values
}

// Get returns the data of a ConfigMap or Secret.
func (r reader) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	switch object := object.(type) {
	case *corev1.ConfigMap:
		data, ok := r.values("ConfigMap", key.Namespace, key.Name)
		if !ok {
			return notFound("configmaps", key)
		}
		object.Data = data
	case *corev1.Secret:
		data, ok := r.values("Secret", key.Namespace, key.Name)
		if !ok {
			return notFound("secrets", key)
		}
		object.Data = map[string][]byte{}
		for name, value := range data {
			object.Data[name] = []byte(value)
		}
	default:
		return fmt.Errorf("a %T is not asked for by the substitution", object)
	}
	return nil
}

func notFound(resource string, key client.ObjectKey) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: resource}, key.Name)
}
