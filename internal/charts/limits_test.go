package charts

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"helm.sh/helm/v4/pkg/ignore"

	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// TestManyFiles: a chart of too many files is refused, wherever they come from.
func TestManyFiles(t *testing.T) {
	files, texts, folder := Files{}, map[string]string{}, fstest.MapFS{}
	for i := range limits.ChartFiles + 1 {
		name := fmt.Sprintf("c/%d", i)
		files[name], texts[name], folder[name] = nil, "", &fstest.MapFile{}
	}
	archive := []byte(packed(t, texts))
	files["c/Chart.yaml"] = []byte("apiVersion: v2\nname: c\nversion: 1.0.0\n")
	repo, err := repository.FromFiles(maps.All(files), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	read := func(string) ([]byte, error) { return nil, nil }
	for from, load := range map[string]func() error{
		"files":                 func() error { _, err := Load(files); return err },
		"an archive":            func() error { _, err := loadPacked(archive); return err },
		"a folder of a source":  func() error { _, err := Folder{Repo: repo, Base: "."}.unpacked("c"); return err },
		"a folder of a library": func() error { _, err := gather(folder, ignore.Empty(), read); return err },
	} {
		if err := load(); err == nil || !strings.Contains(err.Error(), "the chart has more than 10000 files") {
			t.Errorf("%s: got %v", from, err)
		}
	}
}

// TestLargeLibrary: a folder of charts is not read beyond the limit.
func TestLargeLibrary(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for most, want := range map[int]string{3: "", 2: "contains more than 2 files and folders"} { // the folder counts
		if err := walkFolder(dir, most, nil); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("up to %d: got %v", most, err)
		}
	}
}
