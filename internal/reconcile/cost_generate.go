package reconcile

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// generate adds what the generators of a kustomization make.
func (e *estimator) generate(dir string, k *types.Kustomization, c *cost) {
	for _, g := range k.ConfigMapGenerator {
		e.generated(dir, "ConfigMap", g.GeneratorArgs, k.GeneratorOptions, c)
	}
	for _, g := range k.SecretGenerator {
		e.generated(dir, "Secret", g.GeneratorArgs, k.GeneratorOptions, c)
	}
	for _, ref := range k.Generators {
		e.generator(dir, ref, c)
	}
}

// generated adds a generated object.
func (e *estimator) generated(dir, kind string, args types.GeneratorArgs, options *types.GeneratorOptions, c *cost) {
	length := len(args.Name) + len(args.Namespace)
	for _, o := range []*types.GeneratorOptions{options, args.Options} {
		if o != nil {
			length += lengthOf(o.Labels) + lengthOf(o.Annotations)
		}
	}
	for _, literal := range args.LiteralSources {
		length += len(literal) + around
	}
	for _, ref := range args.FileSources {
		if _, file, keyed := strings.Cut(ref, "="); keyed {
			ref = file
		}
		length += e.size(dir, ref)
	}
	for _, ref := range append(args.EnvSources[:len(args.EnvSources):len(args.EnvSources)], args.EnvSource) {
		length += e.size(dir, ref)
	}
	bytes := float64(length)
	if kind == "Secret" {
		bytes *= 4.0 / 3 // base64
	}
	nodes := float64(10 + 2*(len(args.LiteralSources)+len(args.FileSources)))
	g := group{objects: 1, bytes: bytes, largest: bytes, nodes: nodes, fullest: nodes}
	c.include(kind, g)
	e.named[args.Name] = append(e.named[args.Name], measured{kind: kind, name: args.Name, group: g})
	e.distinct++
}

// size is that of a file that a kustomization names, in bytes.
func (e *estimator) size(dir, ref string) int {
	at, inside := repository.Join(dir, ref)
	if !inside {
		return 0
	}
	size, _ := e.repo.Size(at)
	return int(size)
}

// configuration is that of a plugin of kustomize's own, as much of it as says what it takes.
type configuration struct {
	Kind                string `yaml:"kind"`
	types.GeneratorArgs `yaml:",inline"`
	Target              *types.Selector `yaml:"target"`
	Path                string          `yaml:"path"`
	Paths               []string        `yaml:"paths"`
	Patch               string          `yaml:"patch"`
	Patches             string          `yaml:"patches"`
	JSONOp              string          `yaml:"jsonOp"`

	Replacements []types.ReplacementField `yaml:"replacements"`
}

// plugins are the configurations that a generator or transformer is: a text, a file, or what
// a folder comes to, which is added to the cost.
func (e *estimator) plugins(dir, ref string, c *cost) (at string, roots []*yaml.Node) {
	if strings.Contains(ref, "\n") {
		return dir, e.documents(ref)
	}
	at, inside := repository.Join(dir, ref)
	if !inside {
		return dir, nil
	}
	if data := e.read(dir, ref); data != nil {
		return dir, e.documents(string(data))
	}
	made := e.resource(dir, ref)
	c.work += made.work
	c.bytes += made.bytes
	for _, file := range e.repo.Files() {
		if contains(at, file.Path) && !repository.IsKustomization(file.Path) {
			for _, d := range file.Documents {
				roots = append(roots, d.Root())
			}
		}
	}
	return at, roots
}

// generator adds what generators make that are configured apart.
func (e *estimator) generator(dir, ref string, c *cost) {
	at, roots := e.plugins(dir, ref, c)
	for _, root := range roots {
		var conf configuration
		if root.Decode(&conf) != nil {
			conf = configuration{}
		}
		e.generated(at, strings.TrimSuffix(conf.Kind, "Generator"), conf.GeneratorArgs, nil, c)
	}
}

// transformer adds what transformers take that are configured apart.
func (e *estimator) transformer(dir, ref string, c *cost) {
	at, roots := e.plugins(dir, ref, c)
	for _, root := range roots {
		var conf configuration
		if root.Decode(&conf) != nil {
			conf = configuration{}
		}
		size := sizeOf(root)
		fields := size.nodes / 2 // at most
		e.targets(at, conf, c)
		if len(conf.Replacements) > 0 {
			for _, r := range conf.Replacements {
				e.replacement(at, r, c)
			}
			continue
		}
		c.work += costChange + c.objects*(costPatched+fields*costField) + c.bytes*costRead + c.nodes*costReadNode + fields*fields*costFields
		c.grow(anyKind, c.objects, size.bytes*(1+fields), size.nodes)
	}
}

// targets adds the patches of a transformer.
func (e *estimator) targets(dir string, conf configuration, c *cost) {
	for _, ref := range slices.Concat(conf.Paths, []string{conf.Path}) {
		for _, edit := range e.edits(dir, ref, "") {
			e.patch(c, conf.Target, edit)
		}
	}
	for _, text := range []string{conf.Patch, conf.Patches, conf.JSONOp} {
		for _, edit := range e.edits(dir, "", text) {
			e.patch(c, conf.Target, edit)
		}
	}
}
