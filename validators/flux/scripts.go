package flux

import (
	"regexp"
	"strings"

	"github.com/fleetwright/fleetwright/internal/otherfiles"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// scripts returns the ConfigMaps of the cluster with a script that calls the API server, by the names that the script
// contains: it may create the objects with these names.
func (w *world) scripts(names map[string]bool) map[string]*reconcile.Object {
	found := map[string]*reconcile.Object{}
	for _, o := range w.applied {
		if o.Group != "" || o.Kind != "ConfigMap" || len(names) == 0 {
			continue
		}
		data, _ := field(o.Value, "data").(map[string]any)
		for _, value := range data {
			text, _ := value.(string)
			if !writesObjects.MatchString(text) {
				continue
			}
			words := map[string]bool{}
			otherfiles.Words(text, names, words)
			for name := range words {
				found[name] = o
			}
		}
	}
	return found
}

// writesObjects matches a call of the API server that may create an object, by kubectl or by URL.
var writesObjects = regexp.MustCompile(`\bkubectl\b.*\b(?:create|apply|patch|replace)\b|/api/v1/`)

// applied matches a kubectl command that applies a file.
var applied = regexp.MustCompile(`\b(?:apply|create)\s.*?(?:-f|-k|--filename|--kustomize)[ =]+\S`)

// applyingFiles returns, by the base name of a file, the first file that Flux does not read and that applies it: in a
// command, or as a URL, such as the extra manifests of Talos.
func applyingFiles(repo *repository.Repository, names map[string]bool) map[string]string {
	found := map[string]string{}
	otherfiles.Read(repo, names, false, func(file, text string) {
		for line := range strings.Lines(text) {
			if !strings.Contains(line, "://") && !applied.MatchString(line) {
				continue
			}
			words := map[string]bool{}
			otherfiles.Words(line, names, words)
			for name := range words {
				if found[name] == "" {
					found[name] = file
				}
			}
		}
	})
	return found
}
