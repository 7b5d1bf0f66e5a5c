package bootstrap

import (
	"strings"
	"testing"
)

// The same text of both sides is shown with the variable that makes another value of it. Reproduces: david-driscoll/home-operations.
func TestTextsShowTheVariable(t *testing.T) {
	long := `name regex ([a-z0-9-]+)\.dns\.example\.com dns-{1}.` + strings.Repeat("x", 20) + "${TAILSCALE_DOMAIN} answer auto"
	for text, want := range map[string]string{
		long:                            `…` + strings.Repeat("x", 20) + "${TAILSCALE_DOMAIN} answer auto",
		"flux.${CLUSTER_DOMAIN}":        "flux.${CLUSTER_DOMAIN}",
		strings.Repeat("a", maxShown+9): strings.Repeat("a", maxShown-1) + "…",
	} {
		d := Difference{Bootstrap: Side{Value: text, scalar: true}, Git: Side{Value: text, scalar: true}}
		if a, b := d.Texts(); a != want || b != want {
			t.Errorf("%.20s…: got %q and %q, want %q", text, a, b, want)
		}
	}
}
