package gitrepo

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// benchChanges are files as a fleet has them: three folders deep, 1.5 kB.
func benchChanges(n int) []Change {
	changes := make([]Change, n)
	for i := range changes {
		text := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: tenant-%d\n", i)
		changes[i] = Change{Path: fmt.Sprintf("tenants/cluster-%d/tenant-%d/file-%d.yaml", i%10, i/10, i),
			Content: []byte(text + strings.Repeat("  key: value of a line\n", 64))}
	}
	return changes
}

// peakHeap samples the heap while a function runs, in bytes.
func peakHeap(run func()) uint64 {
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() {
		var highest uint64
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			highest = max(highest, m.Sys-m.HeapReleased)
			select {
			case <-stop:
				peak <- highest
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	run()
	close(stop)
	return <-peak
}

func BenchmarkCommit(b *testing.B) {
	for _, n := range []int{100, 1000, 20000} {
		changes := benchChanges(n)
		b.Run(fmt.Sprintf("bare/files=%d", n), func(b *testing.B) {
			for b.Loop() {
				dir := filepath.Join(b.TempDir(), "bare.git")
				peak := peakHeap(func() { benchCommit(b, dir, changes, Options{Init: true}) })
				b.ReportMetric(float64(peak)/1e6, "peak-MB")
			}
		})
		b.Run(fmt.Sprintf("nothing/files=%d", n), func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "bare.git")
			benchCommit(b, dir, changes, Options{Init: true})
			for b.Loop() {
				benchCommit(b, dir, changes, Options{})
			}
		})
		b.Run(fmt.Sprintf("worktree/files=%d", n), func(b *testing.B) {
			for b.Loop() {
				benchCommit(b, normal(b, nil), changes, Options{})
			}
		})
	}
}

// BenchmarkReadFile reads all files of a branch.
func BenchmarkReadFile(b *testing.B) {
	const n = 20000
	dir := filepath.Join(b.TempDir(), "bare.git")
	changes := benchChanges(n)
	benchCommit(b, dir, changes, Options{Init: true})
	for b.Loop() {
		branch, err := Open(b.Context(), dir, "main", Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range changes {
			if data, err := branch.ReadFile(c.Path); err != nil || len(data) != len(c.Content) {
				b.Fatal(err)
			}
		}
		if err := branch.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGit is the peer: git itself, on files that are written already.
func BenchmarkGit(b *testing.B) {
	for _, n := range []int{100, 1000, 20000} {
		b.Run(fmt.Sprintf("files=%d", n), func(b *testing.B) {
			files := map[string]string{}
			for _, c := range benchChanges(n) {
				files[c.Path] = string(c.Content)
			}
			for b.Loop() {
				b.StopTimer()
				dir := normal(b, nil)
				git(b, dir, "config", "gc.auto", "0")
				write(b, dir, files)
				b.StartTimer()
				git(b, dir, "add", "-A")
				git(b, dir, "commit", "-q", "-m", "x")
			}
		})
	}
}

func benchCommit(b *testing.B, dir string, changes []Change, o Options) {
	b.Helper()
	branch, err := Open(b.Context(), dir, "main", o)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := branch.Commit(b.Context(), changes, opts("bench")); err != nil {
		b.Fatal(err)
	}
	if err := branch.Close(); err != nil {
		b.Fatal(err)
	}
}
