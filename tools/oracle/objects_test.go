package oracle

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
)

// rendered are the objects of the rendered specifications that the generators'
// tests hold, and the seeds of this package.
func rendered(t testing.TB) []map[string]any {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(filepath.Join("..", "..", "generators"), func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".txtar" {
			return err
		}
		archive, err := txtar.ParseFile(name)
		if err != nil {
			return err
		}
		for _, f := range archive.Files {
			if ext := path.Ext(f.Name); ext == ".yaml" || ext == ".yml" {
				files[path.Join(filepath.ToSlash(filepath.Base(filepath.Dir(name))), filepath.Base(name), f.Name)] = f.Data
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	seeds, err := os.ReadFile("seeds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files["seeds.yaml"] = seeds
	repo, err := repository.FromFiles(maps.All(files), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var objects []map[string]any
	seen := map[string]bool{}
	for o := range repo.Objects() {
		value, err := o.Value()
		m, ok := value.(map[string]any)
		if err != nil || !ok || seen[fmt.Sprint(m)] {
			continue
		}
		seen[fmt.Sprint(m)] = true
		if found, ok := schemas.Lookup(kindOf(m)); ok && o.Group() != "kustomize.config.k8s.io" && found != nil {
			objects = append(objects, m)
		}
	}
	if len(objects) < 100 {
		t.Fatalf("there are only %d objects", len(objects))
	}
	return objects
}

func kindOf(o map[string]any) schema.GroupVersionKind {
	apiVersion, _ := o["apiVersion"].(string)
	kind, _ := o["kind"].(string)
	return schema.FromAPIVersionAndKind(apiVersion, kind)
}

// mutants are copies of an object with one thing changed at a random place: what
// people get wrong.
func mutants(o map[string]any, count int) []map[string]any {
	r := rand.New(rand.NewPCG(7, uint64(len(fmt.Sprint(o)))))
	all := []map[string]any{o}
	for range count {
		m := runtime.DeepCopyJSON(o)
		places := placesIn(m, nil)
		p := places[r.IntN(len(places))]
		p.change(r)
		all = append(all, m)
	}
	return all
}

// spot is a field of a map or an entry of a list.
type spot struct {
	fields map[string]any
	name   string
	list   []any
	index  int
}

func placesIn(v any, all []spot) []spot {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if k != "apiVersion" && k != "kind" && k != "status" {
				all = placesIn(v[k], append(all, spot{fields: v, name: k}))
			}
		}
	case []any:
		for i := range v {
			all = placesIn(v[i], append(all, spot{list: v, index: i}))
		}
	}
	return all
}

func (s spot) get() any {
	if s.fields != nil {
		return s.fields[s.name]
	}
	return s.list[s.index]
}

func (s spot) set(v any) {
	if s.fields != nil {
		s.fields[s.name] = v
		return
	}
	s.list[s.index] = v
}

func (s spot) change(r *rand.Rand) {
	values := []any{"text", "", int64(7), int64(-1), true, []any{}, []any{"a"}, map[string]any{}, map[string]any{"a": "b"}, 1.5}
	switch r.IntN(6) {
	case 0:
		if s.fields != nil {
			s.fields[s.name+"x"] = s.fields[s.name]
			delete(s.fields, s.name)
			return
		}
		s.set(values[r.IntN(len(values))])
	case 1:
		if s.fields != nil {
			delete(s.fields, s.name)
			return
		}
		s.set(values[r.IntN(len(values))])
	case 2:
		if list, ok := s.get().([]any); ok && len(list) > 0 {
			s.set(append(slices.Clone(list), list[r.IntN(len(list))]))
			return
		}
		s.set(values[r.IntN(len(values))])
	case 3:
		if text, ok := s.get().(string); ok {
			s.set(strings.ToUpper(text) + "_")
			return
		}
		s.set(values[r.IntN(len(values))])
	default:
		s.set(values[r.IntN(len(values))])
	}
}

// judge is the verdict of package schemas.
func judge(o map[string]any) []schemas.Problem {
	s, ok := schemas.Lookup(kindOf(o))
	if !ok {
		return nil
	}
	return s.ValidateWith(o, schemas.Options{Literal: true})
}

// messages joins the kinds and messages of problems. The message of a rule that cannot be evaluated is left out: those of the Flux
// Operator are in other words in our schemas than in its definitions (tools/schemas/operator.rules).
func messages(problems []schemas.Problem) string {
	var all []string
	for _, p := range problems {
		message, _, _ := strings.Cut(p.Message, " evaluating rule: ")
		all = append(all, fmt.Sprintf("%s: %s", p.Kind, message))
	}
	return strings.Join(all, "; ")
}
