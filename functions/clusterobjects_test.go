package functions

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render"
)

func TestClusterObjects(t *testing.T) {
	for _, example := range []string{"acme", "homelab"} {
		loaded, err := render.Load(filepath.Join("../examples", example), "")
		if err != nil {
			t.Fatal(err)
		}
		folder, err := tree.OpenFolder(loaded.Root)
		if err != nil {
			t.Fatal(err)
		}
		defer folder.Close()
		source, err := render.Generate(loaded, render.GenerateOptions{Secrets: []tree.Reader{folder}, PlatformOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range source.Spec.Clusters {
			objects, err := clusterObjects(t.Context(), source.Targets[0].Tree, c)
			if err != nil {
				t.Fatal(err)
			}
			seen, releases := map[string]bool{}, 0
			for _, o := range objects {
				id := strings.Join([]string{o.GetApiVersion(), o.GetKind(), o.GetNamespace(), o.GetName()}, "|")
				if seen[id] {
					t.Errorf("%s/%s: %s twice", example, c.Metadata.Name, id)
				}
				seen[id] = true
				if o.GetKind() == "HelmRelease" {
					releases++
				}
			}
			want := 0
			for _, a := range source.Spec.AddonsOn(c) {
				if a.Spec.Chart != nil {
					want++
				}
			}
			// Flux itself may come as a release that is no add-on.
			if releases < want || releases > want+2 {
				t.Errorf("%s/%s: %d HelmReleases, want %d", example, c.Metadata.Name, releases, want)
			}
			if len(seen) == 0 {
				t.Errorf("%s/%s: no objects", example, c.Metadata.Name)
			}
			all := ""
			for _, o := range objects {
				all += o.MustString()
			}
			if encrypted := strings.Count(all, "ENC[AES256_GCM"); encrypted == 0 || !strings.Contains(all, "\nsops:\n") {
				t.Errorf("%s/%s: %d encrypted values, or nothing to decrypt them with", example, c.Metadata.Name, encrypted)
			}
			for name := range c.Spec.Variables {
				if strings.Contains(all, "${"+name+"}") {
					t.Errorf("%s/%s: ${%s} is not substituted", example, c.Metadata.Name, name)
				}
			}
		}
	}
}
