package specs

import (
	"bytes"
	"strings"
	"testing"
)

const fleetDocument = "apiVersion: fleetwright.dev/v1alpha1\nkind: Fleet\nmetadata: {name: f}\nspec: {repository: {url: 'https://h/fleet'}}\n---\n" +
	"apiVersion: fleetwright.dev/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\n---\n" +
	"apiVersion: fleetwright.dev/v1alpha1\nkind: Tenant\nmetadata: {name: shop}\nspec: {source: {url: 'https://h/shop'}}\n---\n" +
	"apiVersion: fleetwright.dev/v1alpha1\nkind: Tenant\nmetadata: {name: web}\nspec: {source: {url: 'https://h/web'}}\n---\n"

func TestAddRecipient(t *testing.T) {
	old, added := recipient(t), recipient(t)
	head := "# Who reads what.\napiVersion: fleetwright.dev/v1alpha1\nkind: Encryption\nmetadata: {name: e}\nspec:\n"
	for name, c := range map[string]struct{ before, want, scope, of string }{
		"to a list": {
			"  recipients:\n    tenants:\n      shop:\n        age:\n          - OLD # Ann\n          # the last\n  encryptedRegex: ^data$ # all\n",
			"  recipients:\n    tenants:\n      shop:\n        age:\n          - OLD # Ann\n          - NEW\n          # the last\n  encryptedRegex: ^data$ # all\n", "tenants", "shop",
		},
		"another tenant": {
			"  recipients:\n    tenants:\n      shop:\n        age:\n        - OLD\n", "  recipients:\n    tenants:\n      shop:\n        age:\n        - OLD\n      web:\n        age:\n          - NEW\n", "tenants", "web",
		},
		"another scope": {
			"  recipients:\n      platform:\n          age: [OLD]\n", "  recipients:\n      platform:\n          age: [OLD]\n      clusters:\n        eu:\n          age:\n            - NEW\n", "clusters", "eu",
		},
		"in flow style":   {"  recipients: {platform: {age: [OLD]}}\n", "  recipients: {platform: {age: [NEW, OLD]}}\n", "platform", ""},
		"a map in flow":   {"  recipients: {platform: {age: [OLD]}}\n", "  recipients: {tenants: {web: {age: [NEW]}}, platform: {age: [OLD]}}\n", "tenants", "web"},
		"without a break": {"  recipients:\n    platform:\n      age:\n      - OLD", "  recipients:\n    platform:\n      age:\n      - OLD\n      - NEW\n", "platform", ""},
		"of Windows":      {"  recipients:\r\n    platform:\r\n      age:\r\n      - OLD\r\n", "  recipients:\r\n    platform:\r\n      age:\r\n      - OLD\r\n      - NEW\r\n", "platform", ""},
		"that is there":   {"  recipients: {platform: {age: [NEW, OLD]}}\n", "", "platform", ""},
		"to a list that was emptied": {
			"  recipients:\n    platform: {age: [OLD]}\n    tenants:\n      shop:\n        age: # of the tenant\n  encryptedRegex: ^data$\n",
			"  recipients:\n    platform: {age: [OLD]}\n    tenants:\n      shop:\n        age: # of the tenant\n          - NEW\n  encryptedRegex: ^data$\n", "tenants", "shop",
		},
		"to a cluster that was emptied": {
			"  recipients:\n    platform: {age: [OLD]}\n    clusters:\n      eu:\n        age:\n", "  recipients:\n    platform: {age: [OLD]}\n    clusters:\n      eu:\n        age:\n          - NEW\n", "clusters", "eu",
		},
		"through an alias": {"  recipients:\n    platform: &all {age: [OLD]}\n    clusters:\n      eu: *all\n", "by hand", "clusters", "eu"},
	} {
		t.Run(name, func(t *testing.T) {
			fill := strings.NewReplacer("OLD", old, "NEW", added)
			files := []File{{Path: "fleet/fleet.yaml", Content: []byte(fleetDocument + head + fill.Replace(c.before))}}
			kept := bytes.Clone(files[0].Content)
			got, err := AddRecipient(files, c.scope, c.of, added)
			switch {
			case !bytes.Equal(kept, files[0].Content):
				t.Error("the caller's file was changed")
			case c.want == "":
				if got != nil || err != nil {
					t.Errorf("got %v, %v for one that is there", got, err)
				}
			case c.want == "by hand":
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), added) {
					t.Errorf("got %v, want that it is written by hand", err)
				}
			case err != nil:
				t.Error(err)
			case string(got.Content) != fleetDocument+head+fill.Replace(c.want):
				t.Errorf("got\n%s\nwant\n%s", got.Content, fill.Replace(c.want))
			}
		})
	}
	if _, err := AddRecipient([]File{{Content: []byte(fleetDocument)}}, "clusters", "eu", added); err == nil {
		t.Error("a recipient was added to no Encryption")
	}
	for _, wrong := range [][2]string{{"platform", "eu"}, {"tenants", ""}, {"tenant", "shop"}} {
		if _, err := AddRecipient(nil, wrong[0], wrong[1], added); err == nil {
			t.Errorf("a recipient was added to %q", wrong)
		}
	}
}
