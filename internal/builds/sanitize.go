package builds

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
	kyaml "sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// sanitizer takes out of a kustomization what would be fetched, and notes what it took.
type sanitizer struct {
	repo *repository.Repository
	dir  string
	// file and document are the kustomization's own, document nil where it is generated.
	file     string
	document *repository.Document
	gaps     []Gap
}

// sanitize removes all references to remote files and folders, so that nothing is left that
// kustomize would fetch. It changes the kustomization only where it returns gaps.
func sanitize(repo *repository.Repository, dir, file string, k *types.Kustomization) []Gap {
	s := &sanitizer{repo: repo, dir: dir, file: file}
	if own, ok := repo.KustomizeAt(dir); ok && own.File.Path == file {
		s.document = own.Document
	}
	k.Resources = s.keep("resources", k.Resources, isRemote)
	k.Components = s.keep("components", k.Components, isRemote)
	k.Bases = s.keep("bases", k.Bases, isRemote) //nolint:staticcheck // older repositories use it
	k.Crds = s.keep("crds", k.Crds, isRemoteFile)
	k.Configurations = s.keep("configurations", k.Configurations, isRemoteFile)
	k.Generators = s.keep("generators", k.Generators, s.isRemotePlugin)
	k.Transformers = s.keep("transformers", k.Transformers, s.isRemotePlugin)
	k.Validators = s.keep("validators", k.Validators, s.isRemotePlugin)
	s.patches(k)
	for i := range k.ConfigMapGenerator {
		s.sources("configMapGenerator", i, &k.ConfigMapGenerator[i].KvPairSources)
	}
	for i := range k.SecretGenerator {
		s.sources("secretGenerator", i, &k.SecretGenerator[i].KvPairSources)
	}
	if isRemoteFile(k.OpenAPI["path"]) {
		s.gap(k.OpenAPI["path"], "openapi", "path")
		k.OpenAPI = nil
	}
	return s.gaps
}

// RemoteParts are the references of a kustomization that kustomize would fetch, for
// repositories whose kustomizations no cluster builds.
func RemoteParts(repo *repository.Repository, k *repository.Kustomize) []Gap {
	data, err := repo.ReadFile(k.File.Path)
	if err != nil || k.Spec == nil {
		return nil
	}
	var spec types.Kustomization
	if err := kyaml.Unmarshal(data, &spec); err != nil {
		return nil
	}
	return sanitize(repo, k.Dir, k.File.Path, &spec)
}

func (s *sanitizer) gap(ref string, at ...any) {
	g := Gap{Kind: RemoteBase, File: s.file, Message: fmt.Sprintf("%q is not fetched", firstLine(ref))}
	if s.document != nil {
		g.Line, g.Column = s.document.Position(at...)
	}
	s.gaps = append(s.gaps, g)
}

// keep returns the references of a field that are not remote.
func (s *sanitizer) keep(field string, refs []string, remote func(string) bool) []string {
	if !slices.ContainsFunc(refs, remote) {
		return refs
	}
	var kept []string
	for i, ref := range refs {
		if remote(ref) {
			s.gap(ref, field, i)
			continue
		}
		kept = append(kept, ref)
	}
	return kept
}

func (s *sanitizer) patches(k *types.Kustomization) {
	drop := func(field string, patches []types.Patch) []types.Patch {
		n := 0
		return slices.DeleteFunc(slices.Clone(patches), func(p types.Patch) bool {
			n++
			if isRemoteFile(p.Path) {
				s.gap(p.Path, field, n-1, "path")
				return true
			}
			return false
		})
	}
	k.Patches = drop("patches", k.Patches)
	k.PatchesJson6902 = drop("patchesJson6902", k.PatchesJson6902)                                                //nolint:staticcheck // older repositories use it
	k.PatchesStrategicMerge = slices.DeleteFunc(k.PatchesStrategicMerge, func(p types.PatchStrategicMerge) bool { //nolint:staticcheck // older repositories use it
		if isRemoteFile(string(p)) {
			s.gap(string(p), "patchesStrategicMerge")
			return true
		}
		return false
	})
	k.Replacements = slices.DeleteFunc(k.Replacements, func(r types.ReplacementField) bool {
		if isRemoteFile(r.Path) {
			s.gap(r.Path, "replacements")
			return true
		}
		return false
	})
}

// sources cleans the files of a generator; a file may have its key in front.
func (s *sanitizer) sources(field string, i int, from *types.KvPairSources) {
	remote := func(ref string) bool {
		_, file, keyed := strings.Cut(ref, "=")
		return isRemoteFile(ref) || keyed && isRemoteFile(file)
	}
	list := func(name string, refs []string) []string {
		return slices.DeleteFunc(slices.Clone(refs), func(ref string) bool {
			if remote(ref) {
				s.gap(ref, field, i, name)
				return true
			}
			return false
		})
	}
	from.FileSources = list("files", from.FileSources)
	from.EnvSources = list("envs", from.EnvSources)
	if remote(from.EnvSource) {
		s.gap(from.EnvSource, field, i, "env")
		from.EnvSource = ""
	}
}

// isRemotePlugin says whether a generator, transformer or validator, which may be inline, a
// file or a folder, is remote or refers to what is.
func (s *sanitizer) isRemotePlugin(ref string) bool {
	if strings.Contains(ref, "\n") {
		return mentionsRemote([]byte(ref))
	}
	if isRemote(ref) {
		return true
	}
	at, ok := repository.Join(s.dir, ref)
	if !ok {
		return false // kustomize finds nothing there
	}
	for _, file := range s.repo.Paths() {
		if file == at || strings.HasPrefix(file, at+"/") {
			data, err := s.repo.ReadFile(file)
			if err != nil || mentionsRemote(data) {
				return true
			}
		}
	}
	return false
}

// mentionsRemote says whether any value in a text is an address that kustomize would fetch.
// What is no YAML is left to kustomize to refuse.
func mentionsRemote(data []byte) bool {
	if !bytes.Contains(bytes.ToLower(data), []byte("http")) {
		return false
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		if err := decoder.Decode(&doc); errors.Is(err, io.EOF) {
			return false
		} else if err != nil {
			return true
		}
		if hasRemote(&doc) {
			return true
		}
	}
}

func hasRemote(n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode {
		_, file, keyed := strings.Cut(n.Value, "=")
		return isRemoteFile(n.Value) || keyed && isRemoteFile(file)
	}
	return slices.ContainsFunc(n.Content, hasRemote)
}

// inline returns the texts in a kustomization that kustomize parses as YAML.
func inline(k *types.Kustomization) []string {
	texts := slices.Concat(k.Generators, k.Transformers, k.Validators)
	for _, p := range slices.Concat(k.Patches, k.PatchesJson6902) { //nolint:staticcheck // older repositories use it
		texts = append(texts, p.Patch)
	}
	for _, p := range k.PatchesStrategicMerge { //nolint:staticcheck // older repositories use it
		texts = append(texts, string(p))
	}
	return texts
}
