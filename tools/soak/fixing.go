//go:build tools

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// fixing returns the scenario of validate --fix, on Kustomizations without a field that the API server requires,
// while somebody saves them again.
func fixing() *scenario {
	const most = 12
	name := func(i int) string { return fmt.Sprintf("clusters/staging/app-%02d.yaml", i) }
	versions, next := map[string]int{}, 0
	// A fix adds the missing line, and changes nothing else.
	content := func(file string, fixed bool) string {
		prune := ""
		if fixed {
			prune = "  prune: true\n"
		}
		app := strings.TrimSuffix(filepath.Base(file), ".yaml")
		return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: " + app +
			"\n  namespace: flux-system\nspec:\n" + prune + "  interval: 1h\n  path: ./apps/" + app + "\n  sourceRef: {kind: GitRepository, name: flux-system}" +
			fmt.Sprintf(" # version %d\n", versions[file])
	}
	s := &scenario{name: "fix", args: []string{"validate", "--fix"}, marks: []string{journal}}
	s.prepare = func(s *scenario) error {
		all := []error{os.MkdirAll(filepath.Join(s.dir, ".git"), 0o755),
			s.write("clusters/staging/sync.yaml", strings.Replace(content("flux-system.yaml", true), "./apps/flux-system", "./clusters/staging", 1))}
		for i := range most {
			app := strings.TrimSuffix(filepath.Base(name(i)), ".yaml")
			all = append(all, s.write("apps/"+app+"/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: "+app+"\n  namespace: default\n"))
		}
		return errors.Join(all...)
	}
	s.change = func(s *scenario) error {
		for i := range most {
			next++
			versions[name(i)] = next
			if err := s.write(name(i), content(name(i), false)); err != nil {
				return err
			}
		}
		return nil
	}
	s.edit = func(s *scenario, file int, inPlace bool) error {
		edited := name(file % most)
		next++
		versions[edited] = next
		return s.save(edited, content(edited, false), inPlace)
	}
	s.check = func(s *scenario) error {
		got, err := files(s.dir)
		if err != nil {
			return err
		}
		for i := range most {
			if want := content(name(i), true); got[name(i)] != want {
				return fmt.Errorf("%s is\n%s\nand not\n%s", name(i), got[name(i)], want)
			}
		}
		if len(got) != 2*most+1 {
			return fmt.Errorf("there are %d files and not %d", len(got), 2*most+1)
		}
		return nil
	}
	return s
}
