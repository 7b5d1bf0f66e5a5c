package render

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/sorting"
	"github.com/fleetwright/fleetwright/internal/specs"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// SpecFolder is the folder of the specification, at the platform repository's root.
const SpecFolder = "fleet"

// Limits for the files of a specification.
const (
	maxSpecFiles = 10_000
	maxSpecBytes = 256 << 20
	maxSpecDepth = 16
)

// Specification is the specification in a folder's fleet/, or the one that a stream was rendered from.
type Specification struct {
	// Root is the folder that contains fleet/: the folder of the platform's target.
	Root string
	// Files are the specification's files, their paths relative to Root.
	Files []specs.File
	// Spec is nil for a stream that has no specification.
	Spec *v1alpha1.Spec
	// Components is the content of gotk-components.yaml, if it was requested; see FluxComponents.
	Components []byte
	// Stream is the content of a stream, whose targets need no generation.
	Stream *Rendered
}

// Rendered is the result of generating a specification.
type Rendered struct {
	*Specification
	// Targets are the platform's target, then the tenants' targets by name.
	Targets []tree.Target
	// Tenants are the tenants' states, sorted by name.
	Tenants []tree.TenantState
	// Guards name, sorted, the objects that a later render may remove only on request.
	Guards []string
	// Absent are the declared Secrets that have no file yet, sorted by path. No generated file references them.
	// "fleetwright secrets sync" creates their files.
	Absent []generators.SecretFile
}

// ReadSpecification reads and checks the specification in dir/fleet; dir may be the fleet folder itself. It
// follows symlinks that stay within the root, reads each folder once, and refuses other symlinks. The error is
// a *advice.Error or strict.Errors; its paths begin with dir.
func ReadSpecification(dir string) (*Specification, error) {
	return readSpecification(dir, specs.Load)
}

// ReadKeyless is like ReadSpecification, but allows clusters without a key, as [specs.LoadKeyless] does.
func ReadKeyless(dir string) (*Specification, error) {
	return readSpecification(dir, specs.LoadKeyless)
}

// ReadEncrypting is like ReadKeyless, but returns nil if dir/fleet has no Encryption.
func ReadEncrypting(dir string) (*Specification, error) {
	if info, err := os.Stat(filepath.Join(dir, SpecFolder)); err != nil || !info.IsDir() {
		return nil, nil //nolint:nilerr,nilnil // the folder has no specification
	}
	files, err := readFolder(dir, SpecFolder)
	if err != nil {
		files = plainFiles(filepath.Join(dir, SpecFolder))
	}
	if !slices.ContainsFunc(files, func(f specs.File) bool {
		return ofOurAPI.Match(f.Content) && encryptionKind.Match(f.Content)
	}) {
		return nil, nil //nolint:nilnil // the Encryption is not one of ours
	}
	return ReadKeyless(dir)
}

// ofOurAPI and encryptionKind match the lines of an Encryption.
var (
	ofOurAPI       = regexp.MustCompile(`(?m)^apiVersion:[ \t]*["']?` + regexp.QuoteMeta(v1alpha1.APIVersion) + `["']?[ \t\r]*(#.*)?$`)
	encryptionKind = regexp.MustCompile(`(?m)^kind:[ \t]*["']?Encryption["']?[ \t\r]*(#.*)?$`)
)

// plainFiles returns the readable regular YAML files of a folder, and ignores the unreadable ones.
func plainFiles(dir string) []specs.File {
	entries, _ := os.ReadDir(dir) // an unreadable folder has no readable files
	var files []specs.File
	for _, e := range entries {
		if !e.Type().IsRegular() || !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(e.Name())) {
			continue
		}
		if info, err := e.Info(); err != nil || info.Size() > maxSpecBytes {
			continue
		}
		if content, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil {
			files = append(files, specs.File{Path: e.Name(), Content: content})
		}
	}
	return files
}

func readSpecification(dir string, load func([]specs.File) (*v1alpha1.Spec, error)) (*Specification, error) {
	root, folder, err := findSpecification(dir)
	if err != nil {
		return nil, err
	}
	files, err := readFolder(root, folder)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, advice.Input(
			fmt.Errorf("%q contains no YAML file", filepath.Join(root, folder)),
			fmt.Sprintf("run \"fleetwright init %s\" for a starter specification", root),
		)
	}
	shown := make([]specs.File, len(files))
	for i, f := range files {
		shown[i] = specs.File{Path: filepath.ToSlash(filepath.Join(root, filepath.FromSlash(f.Path))), Content: f.Content}
	}
	spec, err := load(shown)
	if err != nil {
		return nil, err
	}
	return &Specification{Root: root, Files: files, Spec: spec}, nil
}

// findSpecification returns the root of the platform's target and the name of the specification's folder in it.
func findSpecification(dir string) (root, folder string, err error) {
	info, err := os.Stat(filepath.Join(dir, SpecFolder))
	if err == nil && info.IsDir() {
		return dir, SpecFolder, nil
	}
	if parent, ok := aroundSpecification(dir); ok {
		return parent, SpecFolder, nil
	}
	hint := fmt.Sprintf("run \"fleetwright init %s\", or name the folder that contains %s/", dir, SpecFolder)
	if above := specificationAbove(dir); above != "" {
		hint = fmt.Sprintf("name the folder %s, which contains %s/", above, SpecFolder)
	}
	return "", "", advice.Input(fmt.Errorf("no specification found in %q: want a folder %q that contains YAML files", dir, SpecFolder), hint)
}

// specificationAbove returns the path from dir to the nearest parent in the same repository that contains a specification, ""
// if there is none.
func specificationAbove(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for above := ""; ; {
		if _, err := os.Stat(filepath.Join(abs, ".git")); err == nil || filepath.Dir(abs) == abs {
			return ""
		}
		abs, above = filepath.Dir(abs), filepath.Join(above, "..")
		if info, err := os.Stat(filepath.Join(abs, SpecFolder)); err == nil && info.IsDir() {
			return filepath.Join(dir, above)
		}
	}
}

// aroundSpecification returns the parent of dir, and whether dir is a fleet folder.
func aroundSpecification(dir string) (string, bool) {
	abs, err := filepath.Abs(dir)
	if err != nil || filepath.Base(abs) != SpecFolder {
		return "", false
	}
	info, err := os.Stat(abs)
	if err != nil || !info.IsDir() {
		return "", false
	}
	if clean := filepath.Clean(dir); filepath.Base(clean) == SpecFolder {
		return filepath.Dir(clean), true
	}
	return filepath.Join(dir, ".."), true
}

// readFolder reads the YAML files of a folder and its subfolders.
func readFolder(root, folder string) ([]specs.File, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, advice.Input(err, "")
	}
	defer dir.Close()
	r := specReader{dir: dir, root: root, seen: map[string]bool{}}
	if err := r.folder(folder, 0); err != nil {
		return nil, err
	}
	// Links come last, so that a folder of the specification is read under its own name, and not under that of a link to it.
	// Following links may find more links.
	for i := 0; i < len(r.links); i++ {
		if err := r.folder(r.links[i].name, r.links[i].depth); err != nil {
			return nil, err
		}
	}
	sorting.Func(r.files, func(a, b specs.File) int { return strings.Compare(a.Path, b.Path) })
	return r.files, nil
}

// specReader collects files, up to its limits.
type specReader struct {
	dir   *os.Root
	root  string
	files []specs.File
	bytes int64
	// seen are the real paths of the folders that were read. links are the symlinks to folders.
	seen  map[string]bool
	links []specLink
}

type specLink struct {
	name  string
	depth int
}

func (r *specReader) folder(name string, depth int) error {
	if depth > maxSpecDepth {
		return advice.Input(fmt.Errorf("%s: folders nest deeper than %d", output.Line(r.shown(name)), maxSpecDepth), "")
	}
	entries, err := fs.ReadDir(r.dir.FS(), name)
	if err != nil {
		return r.unreadable(name, err)
	}
	// The folder was opened within the root, so its real path is inside the root.
	resolved, err := filepath.EvalSymlinks(filepath.Join(r.root, filepath.FromSlash(name)))
	if err != nil {
		return r.unreadable(name, err)
	}
	if r.seen[resolved] {
		return nil
	}
	r.seen[resolved] = true
	for _, e := range entries {
		at := path.Join(name, e.Name())
		switch ext := path.Ext(e.Name()); {
		case e.IsDir():
			err = r.folder(at, depth+1)
		case ext == ".yaml" || ext == ".yml":
			err = r.file(at)
		case e.Type() == fs.ModeSymlink:
			err = r.link(at, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// link records a symlink to a folder. It returns an error if the target of the link cannot be read: ignoring a
// folder of the specification would remove its content.
func (r *specReader) link(name string, depth int) error {
	info, err := r.dir.Stat(name)
	if err != nil {
		return r.unreadable(name, err)
	}
	if info.IsDir() {
		r.links = append(r.links, specLink{name, depth})
	}
	return nil
}

func (r *specReader) file(name string) error {
	if len(r.files) == maxSpecFiles {
		return advice.Input(fmt.Errorf("%s: more than %d files in a specification", r.shown(SpecFolder), maxSpecFiles), "")
	}
	content, err := readRegular(r.dir, name, specs.MaxFileSize+1)
	if err != nil {
		return r.unreadable(name, err)
	}
	r.bytes += int64(len(content))
	if r.bytes > maxSpecBytes {
		return advice.Input(fmt.Errorf("%s: the specification is larger than %d MB", r.shown(SpecFolder), maxSpecBytes>>20), "")
	}
	r.files = append(r.files, specs.File{Path: name, Content: content})
	return nil
}

func (r *specReader) shown(name string) string {
	return filepath.ToSlash(filepath.Join(r.root, filepath.FromSlash(name)))
}

func (r *specReader) unreadable(name string, err error) error {
	hint := ""
	if info, err := r.dir.Lstat(name); err == nil && info.Mode().Type() == fs.ModeSymlink {
		hint = fmt.Sprintf("it is a symbolic link, whose target must be a relative path inside %q: "+
			"replace the link with its target, or remove it", filepath.ToSlash(r.root))
	}
	return advice.Input(fmt.Errorf("%s:1:1: cannot read the file: %w", output.Line(r.shown(name)), cause(err)), hint)
}

// cause removes the operation and path from a file system error.
func cause(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// readRegular reads up to limit bytes of a regular file. It opens the file without blocking, because opening a
// named pipe would wait forever.
func readRegular(dir *os.Root, name string, limit int64) ([]byte, error) {
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// hasYAMLName reports whether a file has the extension of YAML.
func hasYAMLName(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}
