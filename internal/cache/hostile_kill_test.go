//go:build hostile

package cache

import (
	"bytes"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

const childEnv, childKeys = "CACHE_TEST_CHILD", "CACHE_TEST_KEYS"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		keys := os.Getenv(childKeys)
		for i := 0; ; i = (i + 1) % 20 {
			if _, err := New(dir).Write(bytes.Repeat([]byte{byte(i)}, 300_000)); err != nil {
				os.Exit(1)
			}
			if err := MakeKey(dir, keys); err != nil {
				os.Exit(1)
			}
			r := OpenResults(dir, keys)
			if err := r.Write(r.ID([]byte{byte(i)}), bytes.Repeat([]byte{byte(i)}, 300_000)); err != nil {
				os.Exit(1)
			}
		}
	}
	os.Exit(m.Run())
}

// TestKilled kills a writer at 200 random moments: what can be read is never wrong. On a busy machine, where no writer got so far
// as to write, later ones get more time.
func TestKilled(t *testing.T) {
	dir, keys, random := t.TempDir(), t.TempDir(), rand.New(rand.NewSource(1))
	wrote, results := 0, 0
	const kills, more = 200, 40
	for kill := 0; kill < kills || kill < kills+more && (wrote == 0 || results == 0); kill++ {
		most := 30 + max(0, kill-kills)*100
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childEnv+"="+dir, childKeys+"="+keys)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.Intn(most)) * time.Millisecond)
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait()
		files, err := filepath.Glob(filepath.Join(dir, "blobs", "sha256", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if _, err := New(dir).Read("sha256:" + filepath.Base(file)); err != nil {
				t.Fatalf("after a kill: %v", err)
			}
		}
		wrote = max(wrote, len(files))
		r := OpenResults(dir, keys)
		if r == nil {
			continue
		}
		found := 0
		for i := range 20 {
			data, is := r.Read(r.ID([]byte{byte(i)}))
			if is && !bytes.Equal(data, bytes.Repeat([]byte{byte(i)}, 300_000)) {
				t.Fatalf("after a kill: result %d is wrong", i)
			}
			if is {
				found++
			}
		}
		if found < results {
			t.Fatalf("after a kill: %d results, %d before", found, results)
		}
		results = found
	}
	if wrote == 0 || results == 0 {
		t.Errorf("the children wrote %d contents and %d results", wrote, results)
	}
}
