package sops

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/fleetwright/fleetwright/internal/encryption"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/specs"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ruling says who should read a file: a rule of the specification, or of a .sops.yaml.
type ruling struct {
	*secrets.CreationRule
	config *secrets.Config
	// specified says that the rule is the specification's.
	specified bool
}

// by names what says so, by the line of the rule, or of one of its recipients.
func (r ruling) by(line int) string {
	if r.specified {
		return "the specification"
	}
	return fmt.Sprintf("line %d of %s", line, r.config.File)
}

// rulingOf is the one of a file: where a specification is rendered into the folder of the nearest
// .sops.yaml, its own rule, whatever somebody made of that file, or when it was rendered last.
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

// specFolder is where a specification stands, in the folder that it is rendered into.
const specFolder = "fleet"

// specified are the files .sops.yaml as they would be rendered, by their folders. A specification
// that has errors says nothing.
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

// specifiedIn reads the specification of a folder, nil where it has errors.
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
	content, err := encryption.Platform(spec)
	if err != nil {
		return nil
	}
	config, err := secrets.ParseConfig(path.Join(dir, secrets.ConfigName), content)
	if err != nil || config.Err != nil {
		return nil
	}
	return config
}
