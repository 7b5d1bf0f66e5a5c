package tree

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/sorting"
)

// InventoryPath is the path of the inventory in each target.
const InventoryPath = ownFolder + "/inventory.yaml"

// Inventory lists the files of a target that Fleetwright wrote. The zero Inventory is empty.
type Inventory struct {
	// Target is the name of the target, or empty in an inventory from before targets were recorded.
	Target string
	// Release is the release of Fleetwright that wrote the inventory, or empty for a
	// build that is not a release.
	Release string
	// Files are sorted by path and have unique paths.
	Files []Entry
	// Tenants are sorted by name and have unique names.
	Tenants []TenantState
	// Guards are the objects that a later render may remove only on request, sorted and without duplicates.
	Guards []string
}

// Entry is a file that Fleetwright wrote.
type Entry struct {
	Path string
	Mode Mode
	// Digest of the written bytes.
	Digest string
}

// TenantState is the state in which a tenant was last rendered.
type TenantState struct {
	Name  string
	State string
}

// Entry returns the entry of a path.
func (inv *Inventory) Entry(path string) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(inv.Files, path, func(e Entry, p string) int {
		return strings.Compare(e.Path, p)
	})
	if !ok {
		return Entry{}, false
	}
	return inv.Files[i], true
}

// Equal reports whether two inventories have the same entries. It ignores the release.
func (inv *Inventory) Equal(other *Inventory) bool {
	return inv.Target == other.Target && slices.Equal(inv.Files, other.Files) && slices.Equal(inv.Tenants, other.Tenants) &&
		slices.Equal(inv.Guards, other.Guards)
}

func (inv *Inventory) sort() {
	sorting.Func(inv.Files, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	sorting.Func(inv.Tenants, func(a, b TenantState) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(inv.Guards)
}

// ReadInventory reads the inventory of a folder or revision. It returns an empty inventory if the file does not exist.
// For an invalid inventory it returns an error, a *FileError if the position is known, because with an empty inventory
// our files would be treated as the user's.
func ReadInventory(current Reader) (*Inventory, error) {
	content, err := current.ReadFile(InventoryPath)
	if errors.Is(err, fs.ErrNotExist) {
		return &Inventory{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the inventory: %w", err)
	}
	return DecodeInventory(InventoryPath, content)
}

// The parts of an inventory's canonical form, which kyaml does not change.
const (
	inventoryHead = `# The files that Fleetwright wrote. It is rewritten at each render: keep it in git.
apiVersion: fleetwright.dev/v1alpha1
kind: Inventory
metadata:
  name: inventory
  annotations:
    config.kubernetes.io/local-config: "true"
spec:
  files:`
	inventoryTarget  = "\n  target: "
	inventoryRelease = "\n  release: "
	inventoryTenants = "\n  tenants:"
	inventoryGuards  = "\n  guards:"
	listItem         = "\n  - "
	entryPath        = "\n  - path: "
	entryMode        = "\n    mode: "
	entryDigest      = "\n    digest: "
	tenantName       = "\n  - name: "
	tenantState      = "\n    state: "
	emptyList        = " []"
)

// Encode returns the inventory's file in a form that kyaml, and so kpt, does not change. It writes
// the lines itself, because encoding 30,000 entries as YAML nodes would take half a second. The
// YAML library encodes every scalar that may need quotes.
func (inv *Inventory) Encode() []byte {
	var out bytes.Buffer
	out.Grow(len(inventoryHead) + 200*len(inv.Files) + 100*len(inv.Tenants) + 64)
	out.WriteString(inventoryHead)
	if len(inv.Files) == 0 {
		out.WriteString(emptyList)
	}
	for _, e := range inv.Files {
		out.WriteString(entryPath)
		writeScalar(&out, e.Path)
		out.WriteString(entryMode)
		writeScalar(&out, string(e.Mode))
		out.WriteString(entryDigest)
		writeScalar(&out, e.Digest)
	}
	if inv.Target != "" {
		out.WriteString(inventoryTarget)
		writeScalar(&out, inv.Target)
	}
	if inv.Release != "" {
		out.WriteString(inventoryRelease)
		writeScalar(&out, inv.Release)
	}
	out.WriteString(inventoryTenants)
	if len(inv.Tenants) == 0 {
		out.WriteString(emptyList)
	}
	for _, t := range inv.Tenants {
		out.WriteString(tenantName)
		writeScalar(&out, t.Name)
		out.WriteString(tenantState)
		writeScalar(&out, t.State)
	}
	if len(inv.Guards) > 0 {
		out.WriteString(inventoryGuards)
	}
	for _, guard := range inv.Guards {
		out.WriteString(listItem)
		writeScalar(&out, guard)
	}
	out.WriteByte('\n')
	return out.Bytes()
}

// writeScalar writes a string as a YAML scalar on one line.
func writeScalar(out *bytes.Buffer, s string) {
	if isPlain(s) {
		out.WriteString(s)
		return
	}
	encoded, err := yaml.Marshal(s)
	if err != nil || bytes.IndexByte(encoded, '\n') != len(encoded)-1 {
		// Encoding a string cannot fail; one with a line break is written as a block, unless it is
		// quoted as in JSON, which YAML also supports.
		encoded = fmt.Appendf(nil, "%q\n", s)
	}
	out.Write(encoded[:len(encoded)-1])
}

// isPlain reports whether a string certainly stays the same as a plain YAML scalar: a lower-case
// word without a meaning in YAML, a version, or a string that contains a slash or the digest's
// colon and starts with a letter, an underscore or a dot.
func isPlain(s string) bool {
	if s == "" {
		return false
	}
	compound := false
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == '.':
		case (c >= '0' && c <= '9' || c == '-') && i > 0:
		case c == '/' && i > 0:
			compound = true
		case c == ':' && i == len(digestPrefix)-1 && strings.HasPrefix(s, digestPrefix) && len(s) > len(digestPrefix):
			compound = true
		default:
			return false
		}
	}
	if compound {
		return true
	}
	switch Mode(s) {
	case Managed, Once, Adopted, Carried:
		return true
	}
	version := len(s) > 1 && s[0] == 'v' && s[1] >= '0' && s[1] <= '9'
	return version || strings.HasSuffix(s, ".yaml") && s[0] != '.'
}
