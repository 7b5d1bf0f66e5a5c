package render

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/manifest"
	"github.com/fleetwright/fleetwright/internal/sorting"
	"github.com/fleetwright/fleetwright/internal/specs"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// KindFile is the kind of an object that carries one rendered file through a tool that only processes objects.
const KindFile = "File"

// carrier is an object that carries a file.
type carrier struct {
	APIVersion string      `json:"apiVersion" yaml:"apiVersion"`
	Kind       string      `json:"kind" yaml:"kind"`
	Metadata   carrierMeta `json:"metadata" yaml:"metadata"`
	Spec       carried     `json:"spec" yaml:"spec"`
}

type carrierMeta struct {
	Name string `json:"name" yaml:"name"`
}

// carried is a file of a target. The object for the inventory also carries other data of the target.
type carried struct {
	Target  string    `json:"target" yaml:"target"`
	Path    string    `json:"path" yaml:"path"`
	Mode    tree.Mode `json:"mode" yaml:"mode"`
	Content string    `json:"content" yaml:"content"`
	// Repository of the target.
	Repository *carriedRepository `json:"repository,omitempty" yaml:"repository"`
	// Specification from which the targets were rendered. It is set only with the platform's inventory, and is part of the
	// platform's commit.
	Specification string `json:"specification,omitempty" yaml:"specification"`
}

type carriedRepository struct {
	URL    string `json:"url,omitempty" yaml:"url"`
	Branch string `json:"branch,omitempty" yaml:"branch"`
	Orphan bool   `json:"orphan,omitempty" yaml:"orphan"`
}

// Carriers wraps each file of the targets, including their inventories, in an object of kind File with a unique name.
// specification is the specification from which they are rendered, as YAML.
func Carriers(r *Rendered, specification []byte) ([]*yaml.Node, error) {
	var out []*yaml.Node
	add := func(c carried) error {
		sum := sha256.Sum256([]byte(c.Path))
		n, err := manifest.Node(carrier{
			APIVersion: v1alpha1.APIVersion, Kind: KindFile,
			Metadata: carrierMeta{Name: c.Target + "-" + hex.EncodeToString(sum[:6])},
			Spec:     c,
		})
		out = append(out, n)
		return err
	}
	for _, t := range r.Targets {
		plan, err := Compare(r, t, tree.Memory{}, &tree.Inventory{}, nil, nil)
		if err != nil {
			return nil, err
		}
		inventory := carried{
			Target: t.Name, Path: tree.InventoryPath, Mode: tree.Managed, Content: string(plan.Inventory.Encode()),
			Repository: &carriedRepository{URL: t.URL, Branch: t.Branch, Orphan: t.Orphan},
		}
		if t.Name == generators.PlatformTarget {
			inventory.Specification = string(specification)
		}
		if err := add(inventory); err != nil {
			return nil, err
		}
		for f := range t.Tree.All() {
			if err := add(carried{Target: t.Name, Path: f.Path, Mode: f.Mode, Content: string(f.Content)}); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// maxStream is the maximum size of a stream: 1,000 tenants on 10 clusters are 40 MB.
const maxStream = 512 << 20

// FromStream unpacks the File objects of a YAML stream, which may be in a List or ResourceList. Other objects
// are ignored and counted. root is the folder of the platform's target.
func FromStream(in io.Reader, name, root string) (s *Specification, others int, err error) {
	u := unpacker{name: name, trees: map[string]*tree.Target{}}
	limited := &io.LimitedReader{R: in, N: maxStream + 1}
	decoder := yaml.NewDecoder(limited)
	for document := 0; ; document++ {
		var n yaml.Node
		err := decoder.Decode(&n)
		if errors.Is(err, io.EOF) {
			break
		}
		if limited.N == 0 {
			return nil, 0, u.bad(fmt.Errorf("larger than %d MB", maxStream>>20))
		}
		if err != nil {
			return nil, 0, u.bad(fmt.Errorf("not YAML: %w", err))
		}
		if err := u.document(&n); err != nil {
			return nil, 0, u.bad(fmt.Errorf("document %d: %w", document+1, err))
		}
	}
	if len(u.trees) == 0 {
		return nil, 0, advice.Input(
			fmt.Errorf("%s: contains no object of kind File", name),
			"pass the output of RenderFleet with output: files",
		)
	}
	s, err = u.specificationIn(root)
	return s, u.others, err
}

// unpacker collects the targets of a stream.
type unpacker struct {
	name          string
	trees         map[string]*tree.Target
	tenants       []tree.TenantState
	guards        []string
	specification string
	others        int
}

func (u *unpacker) bad(err error) error {
	return advice.Input(fmt.Errorf("%s: %w", u.name, err), "")
}

func (u *unpacker) document(n *yaml.Node) error {
	if n.Kind == yaml.DocumentNode && len(n.Content) == 1 {
		n = n.Content[0]
	}
	var head struct {
		APIVersion string      `yaml:"apiVersion"`
		Kind       string      `yaml:"kind"`
		Items      []yaml.Node `yaml:"items"`
	}
	if n.Kind != yaml.MappingNode {
		u.others++
		return nil
	}
	if err := n.Decode(&head); err != nil {
		u.others++
		return nil //nolint:nilerr // not an object of a known kind
	}
	switch {
	case head.Kind == "List" || head.Kind == "ResourceList":
		for i := range head.Items {
			if err := u.document(&head.Items[i]); err != nil {
				return err
			}
		}
		return nil
	case head.Kind != KindFile || head.APIVersion != v1alpha1.APIVersion:
		u.others++
		return nil
	}
	var c carrier
	if err := n.Decode(&c); err != nil {
		return fmt.Errorf("%s: %w", KindFile, err)
	}
	if err := u.file(c.Spec); err != nil {
		return fmt.Errorf("%s %s: %w", KindFile, c.Metadata.Name, err)
	}
	return nil
}

// targetName matches the name of a target, which becomes the name of a folder.
var targetName = regexp.MustCompile(`^(platform|tenant-[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)$`)

func (u *unpacker) file(c carried) error {
	if !targetName.MatchString(c.Target) {
		return fmt.Errorf("spec.target %q: want platform or tenant-<name>", c.Target)
	}
	t := u.trees[c.Target]
	if t == nil {
		t = &tree.Target{Name: c.Target, Tree: &tree.Tree{}}
		u.trees[c.Target] = t
	}
	if c.Path != tree.InventoryPath {
		if !c.Mode.Valid() {
			return fmt.Errorf("spec.mode %q: want %s, %s, %s or %s", c.Mode, tree.Managed, tree.Once, tree.Adopted, tree.Carried)
		}
		return t.Tree.Add(tree.File{Path: c.Path, Mode: c.Mode, Content: []byte(c.Content)})
	}
	inv, err := tree.ReadInventory(tree.Memory{tree.InventoryPath: []byte(c.Content)})
	if err != nil {
		return err
	}
	if c.Repository != nil {
		t.URL, t.Branch, t.Orphan = c.Repository.URL, c.Repository.Branch, c.Repository.Orphan
	}
	if c.Target == generators.PlatformTarget {
		u.tenants, u.guards, u.specification = inv.Tenants, inv.Guards, c.Specification
	}
	return nil
}

// specificationIn returns the specification of the stream with the targets.
func (u *unpacker) specificationIn(root string) (*Specification, error) {
	s := &Specification{Root: root}
	s.Stream = &Rendered{Specification: s, Tenants: u.tenants, Guards: u.guards}
	for _, t := range u.trees {
		s.Stream.Targets = append(s.Stream.Targets, *t)
	}
	sorting.Func(s.Stream.Targets, func(a, b tree.Target) int {
		first := func(t tree.Target) int {
			if t.Name == generators.PlatformTarget {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(first(a), first(b)), strings.Compare(a.Name, b.Name))
	})
	if u.specification == "" {
		return s, nil
	}
	file := specs.File{Path: SpecFolder + "/fleet.yaml", Content: []byte(u.specification)}
	var err error
	if s.Spec, err = specs.Load([]specs.File{file}); err != nil {
		return nil, u.bad(fmt.Errorf("the specification in it: %w", err))
	}
	s.Spec.States, s.Files = nil, []specs.File{file} // positions in a stream do not help a user
	return s, nil
}

// SpecificationYAML encodes the objects of a specification as the documents of one file.
func SpecificationYAML(objects []*yaml.Node) ([]byte, error) {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	enc.CompactSeqIndent()
	for _, n := range objects {
		if err := enc.Encode(n); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), enc.Close()
}
