package builds

import (
	"maps"

	"sigs.k8s.io/kustomize/api/ifc"
	"sigs.k8s.io/kustomize/api/kv"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
)

// generators returns the generators of ConfigMaps and Secrets of a kustomization, merged with its generatorOptions.
func generators(k *types.Kustomization) []types.GeneratorArgs {
	all := make([]types.GeneratorArgs, 0, len(k.ConfigMapGenerator)+len(k.SecretGenerator))
	for _, g := range k.ConfigMapGenerator {
		all = append(all, g.GeneratorArgs)
	}
	for _, g := range k.SecretGenerator {
		all = append(all, g.GeneratorArgs)
	}
	for i := range all {
		if own := all[i].Options; own != nil { // kustomize changes the options, and other builds read them
			options := *own
			options.Labels, options.Annotations = maps.Clone(own.Labels), maps.Clone(own.Annotations)
			all[i].Options = &options
		}
		all[i].Options = types.MergeGlobalOptionsIntoLocal(all[i].Options, k.GeneratorOptions)
	}
	return all
}

// generate adds the objects that the generators of a kustomization create.
// Source: sigs.k8s.io/kustomize/api v0.21 internal/target/kusttarget_configplugin.go, resmap/reswrangler.go.
func (l *lister) generate(all *level, dir string, k *types.Kustomization) error {
	arguments := generators(k)
	if len(arguments) == 0 {
		return nil
	}
	from := kv.NewLoader(generatorFiles{lister: l, dir: dir}, provider.NewDefaultDepProvider().GetFieldValidator())
	for i, args := range arguments {
		var r *resource.Resource
		var err error
		if n := len(k.ConfigMapGenerator); i < n {
			r, err = l.factory.MakeConfigMap(from, &types.ConfigMapArgs{GeneratorArgs: args})
		} else {
			r, err = l.factory.MakeSecret(from, &types.SecretArgs{GeneratorArgs: args, Type: k.SecretGenerator[i-n].Type})
		}
		if err != nil {
			return errNotSimple
		}
		o := member{id: effective(r.CurId()), resource: r}
		o.Kind, o.Name = r.GetKind(), r.GetName()
		if len(all.known()[o.id]) > 0 {
			return errNotSimple // kustomize replaces the object or fails
		}
		if err := all.add(o); err != nil {
			return err
		}
	}
	return nil
}

// generatorFiles loads the files that the generators of a folder name.
type generatorFiles struct {
	ifc.Loader
	lister *lister
	dir    string
}

// Load reads a file that a generator names.
func (f generatorFiles) Load(ref string) ([]byte, error) {
	at, ok := f.lister.local(f.dir, ref)
	if !ok {
		return nil, errNotSimple
	}
	return f.lister.view.ReadFile(absolute(at))
}
