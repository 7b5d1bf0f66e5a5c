package tree

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// InventoryPath is where each target keeps its inventory.
const InventoryPath = ownFolder + "/inventory.yaml"

// Inventory says which files of a target Fleetwright wrote. The zero Inventory
// is empty.
type Inventory struct {
	// Target is the name of the target that the files are, or empty in an
	// inventory of before targets were written down.
	Target string
	// Release is the release of Fleetwright that wrote the inventory, or empty for a
	// build that is none.
	Release string
	// Files are sorted by path, each path once.
	Files []Entry
	// Tenants are sorted by name, each name once.
	Tenants []TenantState
}

// Entry is a file that Fleetwright wrote.
type Entry struct {
	Path string
	Mode Mode
	// Digest of the bytes that were written.
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

// Equal reports whether two inventories say the same of the files; a render by another
// release that changes nothing else is no change.
func (inv *Inventory) Equal(other *Inventory) bool {
	return inv.Target == other.Target && slices.Equal(inv.Files, other.Files) && slices.Equal(inv.Tenants, other.Tenants)
}

func (inv *Inventory) sort() {
	slices.SortFunc(inv.Files, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(inv.Tenants, func(a, b TenantState) int { return strings.Compare(a.Name, b.Name) })
}

// ReadInventory reads the inventory of a folder or revision. Without one it is
// empty. One that cannot be understood is an error, a *FileError where it has a
// place, and never an empty inventory: what is ours would be taken for the
// user's.
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

// The parts of an inventory's canonical form, which kyaml leaves as it is.
const (
	inventoryHead = `# Which files Fleetwright wrote. It is rewritten at each render: keep it in git.
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
	entryPath        = "\n  - path: "
	entryMode        = "\n    mode: "
	entryDigest      = "\n    digest: "
	tenantName       = "\n  - name: "
	tenantState      = "\n    state: "
	emptyList        = " []"
)

// Encode gives the inventory's file. The form is the one that kyaml, and so
// kpt, leaves as it is. The lines are put together by hand, because encoding
// 30,000 entries as YAML nodes would take half a second; every scalar that is
// not plainly plain is left to the YAML library.
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
		// A string cannot fail to encode; one with a line break is written as a
		// block, which JSON's quotes, that YAML knows too, put on one line.
		encoded = fmt.Appendf(nil, "%q\n", s)
	}
	out.Write(encoded[:len(encoded)-1])
}

// isPlain reports whether a string is certainly the same string as a plain YAML
// scalar: a lower-case word that YAML gives no meaning, a version, or something with a
// slash or the digest's colon in it that starts with a letter, an underscore or
// a dot.
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
