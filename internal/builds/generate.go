package builds

import (
	"fmt"
	"path"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	fluxkustomize "github.com/fluxcd/pkg/apis/kustomize"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// generate returns the kustomization that kustomize-controller builds, and its path: the folder's own
// kustomization, or one that lists all manifests of the folder, with the fields that the Flux Kustomization adds.
// Source: github.com/fluxcd/pkg/kustomize v1.39, Generator.GenerateManifest.
func (v *view) generate(dir string, spec *kustomizev1.KustomizationSpec) (file string, k *types.Kustomization, err error) {
	file, found, err := v.kustomizationOf(dir)
	if err != nil {
		return file, nil, err
	}
	k = &types.Kustomization{TypeMeta: types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind}}
	if found != nil {
		if err := yaml.Unmarshal(found, k); err != nil {
			return file, nil, err
		}
		if len(k.Resources) == 0 {
			// It keeps kustomize from refusing the kustomization as empty.
			k.BuildMetadata = []string{types.OriginAnnotations}
		}
	} else {
		resources, err := v.manifests(dir)
		if err != nil {
			return file, nil, err
		}
		if k.Resources = resources; len(resources) == 0 {
			fill(k)
		}
		if v.out.touches(file) {
			v.out.edit(file, k)
		}
	}
	if err := v.add(dir, k, spec); err != nil {
		return file, nil, err
	}
	return file, k, nil
}

// kustomizationOf reads the kustomization of a folder. If there is none, it returns the
// path at which Flux generates one, and nil.
func (v *view) kustomizationOf(dir string) (string, []byte, error) {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if file := path.Join(dir, name); v.Repo.Visible(file) {
			data, err := v.ReadFile(absolute(file))
			return file, data, err
		}
	}
	return path.Join(dir, konfig.DefaultKustomizationFileName()), nil, nil
}

// add adds the fields of the Flux Kustomization's spec to a kustomization.
func (v *view) add(dir string, k *types.Kustomization, spec *kustomizev1.KustomizationSpec) error {
	if spec.TargetNamespace != "" {
		k.Namespace = spec.TargetNamespace
	}
	if spec.NamePrefix != "" {
		k.NamePrefix = spec.NamePrefix
	}
	if spec.NameSuffix != "" {
		k.NameSuffix = spec.NameSuffix
	}
	for i, p := range spec.Patches {
		if v.out != nil && v.out.added[i+1] {
			continue
		}
		if err := v.Repo.Check(p.Patch); err != nil {
			return Limited(err)
		}
		k.Patches = append(k.Patches, types.Patch{Patch: p.Patch, Target: Selector(p.Target)})
	}
	for _, component := range spec.Components {
		if !isLocalPath(component) {
			return fmt.Errorf("component path '%s' must be local and relative", component)
		}
		if !v.Exists(absolute(path.Join(dir, component))) && spec.IgnoreMissingComponents {
			continue
		}
		k.Components = append(k.Components, component)
	}
	for _, image := range spec.Images {
		addImage(k, image)
	}
	if len(spec.BuildMetadata) > 0 {
		k.BuildMetadata = nil
		for _, option := range spec.BuildMetadata {
			k.BuildMetadata = append(k.BuildMetadata, string(option))
		}
	}
	return nil
}

// addImage merges an image of the Flux Kustomization into those of the kustomization. A tag
// and a digest exclude each other: setting one clears the other.
func addImage(k *types.Kustomization, image fluxkustomize.Image) {
	i := slices.IndexFunc(k.Images, func(known types.Image) bool { return known.Name == image.Name })
	if i < 0 {
		k.Images = append(k.Images, types.Image{Name: image.Name, NewName: image.NewName, NewTag: image.NewTag, Digest: image.Digest})
		return
	}
	if image.NewName != "" {
		k.Images[i].NewName = image.NewName
	}
	if image.NewTag != "" || image.Digest != "" {
		k.Images[i].NewTag, k.Images[i].Digest = image.NewTag, image.Digest
	}
}

// Selector converts a selector of Flux to one of kustomize.
func Selector(s *fluxkustomize.Selector) *types.Selector {
	if s == nil {
		return nil
	}
	out := &types.Selector{LabelSelector: s.LabelSelector, AnnotationSelector: s.AnnotationSelector}
	out.Group, out.Version, out.Kind = s.Group, s.Version, s.Kind
	out.Name, out.Namespace = s.Name, s.Namespace
	return out
}

// isLocalPath reports whether Flux considers the path of a component local.
// Source: github.com/fluxcd/pkg/kustomize v1.39, IsLocalRelativePath.
func isLocalPath(ref string) bool {
	lower := strings.ToLower(ref)
	for _, prefix := range []string{"git::", "gh:", "ssh://", "https://", "http://", "git@", "github.com:", "github.com/"} {
		if len(prefix) < len(ref) && strings.HasPrefix(lower, prefix) {
			return false
		}
	}
	return !path.IsAbs(ref) && !path.IsAbs(strings.TrimPrefix(lower, "file://"))
}

// manifests returns what Flux lists as the resources of a folder without a kustomization: all
// its YAML files, and in the folders below it the nearest kustomizations.
// Source: github.com/fluxcd/pkg/kustomize v1.39, scanManifests.
func (v *view) manifests(dir string) ([]string, error) {
	loaded, _ := v.lists.LoadOrStore(dir, &manifests{})
	m := loaded.(*manifests)
	if v.out != nil {
		m = &manifests{}
	}
	m.once.Do(func() { m.err = m.scan(v, dir, dir) })
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, file := range m.files {
		v.seen[file] = true
	}
	v.manifest = m
	return slices.Clone(m.resources), m.err
}

// scan adds the resources in a folder at or below the base.
func (m *manifests) scan(v *view, base, at string) error {
	names, _ := v.Repo.ReadDir(at)
	for _, name := range names {
		file := path.Join(at, name)
		ref := "." + strings.TrimPrefix(absolute(file), absolute(base))
		if v.IsDir(absolute(file)) {
			if v.hasKustomization(file) {
				m.resources = append(m.resources, ref)
				continue
			}
			if err := m.scan(v, base, file); err != nil {
				return err
			}
			continue
		}
		if ext := path.Ext(name); ext != ".yaml" && ext != ".yml" {
			continue
		}
		if _, err := v.ReadFile(absolute(file)); err != nil {
			return err
		}
		m.files = append(m.files, file)
		m.resources = append(m.resources, ref)
	}
	return nil
}

// decode returns an error if one of the files is not Kubernetes YAML. Flux checks that before the build.
func (m *manifests) decode(v *view) error {
	m.decoded.Do(func() {
		factory := provider.NewDefaultDepProvider().GetResourceFactory()
		for _, file := range m.files {
			data, err := v.ReadFile(absolute(file))
			if err == nil {
				err = decodes(factory.SliceFromBytes, data)
			}
			if err != nil {
				m.wrong = &fileError{file: file, err: fmt.Errorf("this is not a Kubernetes object (%w), but Flux applies every YAML file of a folder without a kustomization.yaml: add one, or exclude the file in .sourceignore", err)}
				return
			}
		}
	})
	return m.wrong
}

// fileError is an error whose file is known.
type fileError struct {
	file string
	err  error
}

func (e *fileError) Error() string { return e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

// decodes returns why a string cannot be parsed as objects; kustomize's parser panics on some input.
func decodes[T any](parse func([]byte) (T, error), data []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the parser gave up: %v", p)
		}
	}()
	_, err = parse(data)
	return err
}
