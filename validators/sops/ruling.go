package sops

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/specs"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ruling is the rule that defines who should be able to read a file. It comes from the specification or from a
// .sops.yaml.
type ruling struct {
	*secrets.CreationRule
	config *secrets.Config
	// specified reports whether the rule comes from the specification.
	specified bool
}

// by describes the source of the rule: the specification, or a line of .sops.yaml.
func (r ruling) by(line int) string {
	if r.specified {
		return "the specification"
	}
	return fmt.Sprintf("line %d of %s", line, r.config.File)
}

// rulingOf returns the rule for a file. If a specification is rendered into the folder of the nearest .sops.yaml, it
// returns the specification's rule, even if the .sops.yaml was edited or is outdated.
func rulingOf(p *rule.Pass, file string) (ruling, bool) {
	config := secrets.ConfigFor(configs.Of(p), file)
	intended := secrets.ConfigFor(specified.Of(p), file)
	if intended != nil && (config == nil || path.Dir(config.File) == path.Dir(intended.File)) {
		if r := intended.For(file); r != nil && len(r.Recipients) > 0 {
			return ruling{r, intended, true}, true
		}
	}
	if config == nil || config.Err != nil && config.Err.Limit {
		return ruling{}, false
	}
	r := config.For(file)
	return ruling{r, config, false}, r != nil
}

// specFolder is the folder of a specification, below the folder that it is rendered into.
const specFolder = "fleet"

// specified are the .sops.yaml files as they would be rendered, by folder. A specification with errors is ignored.
var specified = rule.Analysis[map[string]*secrets.Config]{
	Name: "sops-specified",
	Run: func(_ context.Context, repo *repository.Repository) map[string]*secrets.Config {
		all := map[string]*secrets.Config{}
		for _, e := range secrets.Encryptions(repo) {
			at, below, found := "", "", false
			if at, below, found = strings.Cut("/"+e.File(), "/"+specFolder+"/"); !found || strings.Contains(below, "/"+specFolder+"/") {
				continue
			}
			dir := path.Join(".", strings.TrimPrefix(at, "/"))
			if _, read := all[dir]; read {
				continue
			}
			all[dir] = specifiedIn(repo, dir)
		}
		return all
	},
}

// specifiedIn reads the specification of a folder; nil if it has errors.
func specifiedIn(repo *repository.Repository, dir string) *secrets.Config {
	var files []specs.File
	for _, f := range repo.Files() {
		if !strings.HasPrefix(f.Path, path.Join(dir, specFolder)+"/") {
			continue
		}
		content, err := repo.ReadFile(f.Path)
		if err != nil {
			return nil
		}
		files = append(files, specs.File{Path: f.Path, Content: content})
	}
	spec, err := specs.LoadKeyless(files)
	if err != nil {
		return nil
	}
	config, err := secrets.OfSpecification(spec)
	if err != nil {
		return nil
	}
	config.File = path.Join(dir, secrets.ConfigName)
	return config
}
