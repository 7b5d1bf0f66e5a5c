package builds

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
	kyaml "sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// sanitizer replaces the remote references of a kustomization with fetched files, or removes them.
type sanitizer struct {
	files *Files
	dir   string
	// file is the path of the kustomization, and document its document, nil if Flux generates it.
	file     string
	document *repository.Document
	gaps     []Gap
	remotes  []Remote
}

// sanitize replaces each reference to a remote file or folder with the copy that was fetched, and removes references without a
// copy, so that kustomize fetches nothing. It returns a gap for each removed reference, and all remote references. If there
// are no remote references, the kustomization is unchanged.
func (f *Files) sanitize(dir, file string, k *types.Kustomization) ([]Gap, []Remote) {
	s := &sanitizer{files: f, dir: dir, file: file}
	if own, ok := f.Repo.KustomizeAt(dir); ok && own.File.Path == file {
		s.document = own.Document
	}
	k.Resources = s.keep("resources", k.Resources, chartref.IsRemote)
	k.Components = s.keep("components", k.Components, chartref.IsRemote)
	k.Bases = s.keep("bases", k.Bases, chartref.IsRemote) //nolint:staticcheck // older repositories use it
	k.Crds = s.keep("crds", k.Crds, chartref.IsRemoteFile)
	k.Configurations = s.keep("configurations", k.Configurations, chartref.IsRemoteFile)
	k.Generators = s.drop("generators", k.Generators)
	k.Transformers = s.drop("transformers", k.Transformers)
	k.Validators = s.drop("validators", k.Validators)
	s.patches(k)
	for i := range k.ConfigMapGenerator {
		s.sources("configMapGenerator", i, &k.ConfigMapGenerator[i].KvPairSources)
	}
	for i := range k.SecretGenerator {
		s.sources("secretGenerator", i, &k.SecretGenerator[i].KvPairSources)
	}
	if chartref.IsRemoteFile(k.OpenAPI["path"]) {
		if at := s.remote(k.OpenAPI["path"], false, "openapi", "path"); at != "" {
			k.OpenAPI = map[string]string{"path": at}
		} else {
			k.OpenAPI = nil
		}
	}
	return s.gaps, s.remotes
}

// RemoteParts returns the references of a kustomization that kustomize would fetch, for
// kustomizations that no cluster builds.
func RemoteParts(repo *repository.Repository, k *repository.Kustomize) []Remote {
	data, err := repo.ReadFile(k.File.Path)
	if err != nil || k.Spec == nil {
		return nil
	}
	var spec types.Kustomization
	if err := kyaml.Unmarshal(data, &spec); err != nil {
		return nil
	}
	_, remotes := (&Files{Repo: repo}).sanitize(k.Dir, k.File.Path, &spec)
	return remotes
}

// keep returns the references of a field without those that are remote and were not fetched.
func (s *sanitizer) keep(field string, refs []string, remote func(string) bool) []string {
	if !slices.ContainsFunc(refs, remote) && len(s.files.Brought) == 0 {
		return refs
	}
	var kept []string
	for i, ref := range refs {
		if s.isBrought(ref, field, i) {
			continue
		}
		if remote(ref) {
			ref = s.remote(ref, isResources(field), field, i)
		}
		if ref != "" {
			kept = append(kept, ref)
		}
	}
	return kept
}

// isBrought reports whether a file or folder of the artifact comes from elsewhere, and records a gap for it if it does.
func (s *sanitizer) isBrought(ref, field string, at ...any) bool {
	if len(s.files.Brought) == 0 || strings.Contains(ref, "\n") {
		return false
	}
	file, inside := repository.Join(s.dir, ref)
	from := s.files.BroughtFrom(file)
	if !inside || from == "" {
		return false
	}
	g := Gap{Kind: FilesMissing, Place: finding.Place{File: s.file}, Field: field, Message: fmt.Sprintf("%q is not in this repository: %s", ref, from)}
	if s.document != nil {
		g.Line, g.Column = s.document.Position(append([]any{field}, at...)...)
	}
	s.gaps = append(s.gaps, g)
	return true
}

// drop returns the generators, transformers or validators of a field that are not remote and contain no remote reference.
func (s *sanitizer) drop(field string, refs []string) []string {
	if !slices.ContainsFunc(refs, s.isRemotePlugin) && len(s.files.Brought) == 0 {
		return refs
	}
	var kept []string
	for i, ref := range refs {
		if s.isBrought(ref, field, i) {
			continue
		}
		if !s.isRemotePlugin(ref) {
			kept = append(kept, ref)
			continue
		}
		s.unfetchable("the configuration of a plugin is not fetched", ref, field, i)
	}
	return kept
}

func (s *sanitizer) patches(k *types.Kustomization) {
	fetched := func(field string, patches []types.Patch) []types.Patch {
		var kept []types.Patch
		for i, p := range patches {
			if p.Path != "" && s.isBrought(p.Path, field, i, "path") {
				continue
			}
			if chartref.IsRemoteFile(p.Path) {
				if p.Path = s.remote(p.Path, false, field, i, "path"); p.Path == "" {
					continue
				}
			}
			kept = append(kept, p)
		}
		return kept
	}
	k.Patches = fetched("patches", k.Patches)
	k.PatchesJson6902 = fetched("patchesJson6902", k.PatchesJson6902) //nolint:staticcheck // older repositories use it
	var merges []types.PatchStrategicMerge
	for i, p := range k.PatchesStrategicMerge { //nolint:staticcheck // older repositories use it
		if s.isBrought(string(p), "patchesStrategicMerge", i) {
			continue
		}
		if chartref.IsRemoteFile(string(p)) {
			p = types.PatchStrategicMerge(s.remote(string(p), false, "patchesStrategicMerge", i))
		}
		if p != "" {
			merges = append(merges, p)
		}
	}
	k.PatchesStrategicMerge = merges //nolint:staticcheck // older repositories use it
	var replacements []types.ReplacementField
	for i, r := range k.Replacements {
		if r.Path != "" && s.isBrought(r.Path, "replacements", i, "path") {
			continue
		}
		if chartref.IsRemoteFile(r.Path) {
			if r.Path = s.remote(r.Path, false, "replacements", i, "path"); r.Path == "" {
				continue
			}
		}
		replacements = append(replacements, r)
	}
	k.Replacements = replacements
}

// sources replaces the remote files of a generator, which may be written as KEY=FILE.
func (s *sanitizer) sources(field string, i int, from *types.KvPairSources) {
	one := func(ref string, at ...any) string {
		key, file, keyed := strings.Cut(ref, "=")
		local := ref
		if keyed {
			local = file
		}
		switch {
		case ref != "" && s.isBrought(local, field, append([]any{i}, at...)...):
			return ""
		case chartref.IsRemoteFile(ref):
			return s.remote(ref, false, field, append([]any{i}, at...)...)
		case keyed && chartref.IsRemoteFile(file):
			if file = s.remote(file, false, field, append([]any{i}, at...)...); file == "" {
				return ""
			}
			return key + "=" + file
		}
		return ref
	}
	list := func(name string, refs []string) []string {
		var kept []string
		for j, ref := range refs {
			if ref = one(ref, name, j); ref != "" {
				kept = append(kept, ref)
			}
		}
		return kept
	}
	from.FileSources = list("files", from.FileSources)
	from.EnvSources = list("envs", from.EnvSources)
	from.EnvSource = one(from.EnvSource, "env")
}

// isResources reports whether a field of a kustomization lists resources or components.
func isResources(field string) bool {
	return field == "resources" || field == "components" || field == "bases"
}

// remote records a reference that kustomize would fetch. It returns the path at which the build sees the fetched files, or ""
// if none were fetched. Folder is set if the reference may name a folder.
func (s *sanitizer) remote(ref string, folder bool, field string, at ...any) string {
	ask, inside, err := chartref.FromReference(ref, folder)
	if err != nil {
		s.unfetchable(err.Error(), ref, field, at...)
		return ""
	}
	one := s.note(Remote{Ref: ref, Field: field, Ask: ask}, at...)
	why := ""
	if remotes := s.files.Remotes; remotes != nil {
		var files *Files
		if files, why = remotes.Find(ask); files != nil {
			return path.Join(strings.Repeat("../", depth(s.dir)), remotes.mount(ask, files, isResources(field)), inside)
		}
	}
	message := fmt.Sprintf("%q is not fetched; run fleetwright fetch", firstLine(ref))
	if why != "" {
		message = fmt.Sprintf("%q is not available: %s", firstLine(ref), why)
	}
	s.gap(one, message)
	return ""
}

// unfetchable records a reference for which nothing can be fetched.
func (s *sanitizer) unfetchable(why, ref, field string, at ...any) {
	one := s.note(Remote{Ref: ref, Field: field, Unfetchable: why}, at...)
	s.gap(one, fmt.Sprintf("%q is not fetched", firstLine(ref)))
}

// note adds a remote reference at a path below its field.
func (s *sanitizer) note(one Remote, at ...any) Remote {
	one.File = s.file
	if s.document != nil {
		one.Line, one.Column = s.document.Position(append([]any{one.Field}, at...)...)
	}
	s.remotes = append(s.remotes, one)
	return one
}

func (s *sanitizer) gap(of Remote, message string) {
	s.gaps = append(s.gaps, Gap{Kind: RemoteBase, Place: of.Place, Ref: of.Ref, Field: of.Field, Message: message})
}

// depth returns how many levels a folder is below the root.
func depth(dir string) int {
	if dir == "." {
		return 0
	}
	return 1 + strings.Count(dir, "/")
}

// isRemotePlugin reports whether a generator, transformer or validator is remote or contains a remote reference. It may be
// inline, a file or a folder.
func (s *sanitizer) isRemotePlugin(ref string) bool {
	if strings.Contains(ref, "\n") {
		return mentionsRemote([]byte(ref))
	}
	if chartref.IsRemote(ref) {
		return true
	}
	at, ok := repository.Join(s.dir, ref)
	if !ok {
		return false // kustomize finds nothing there either
	}
	for _, file := range s.files.Repo.Paths() {
		if file == at || strings.HasPrefix(file, at+"/") {
			data, err := s.files.Repo.ReadFile(file)
			if err != nil || mentionsRemote(data) {
				return true
			}
		}
	}
	return false
}

// mentionsRemote reports whether any value in YAML is an address that kustomize would fetch.
// It ignores data that is not YAML: kustomize refuses it.
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
		return chartref.IsRemoteFile(n.Value) || keyed && chartref.IsRemoteFile(file)
	}
	return slices.ContainsFunc(n.Content, hasRemote)
}

// inline returns the strings of a kustomization that kustomize parses as YAML.
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
