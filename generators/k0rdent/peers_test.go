//go:build peers

package k0rdent_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestResourceTemplatesAreThoseOfKCM: what kcm's sample templates render is what ours do. KCM names a folder with checkouts of kcm.
func TestResourceTemplatesAreThoseOfKCM(t *testing.T) {
	dir := filepath.Join(os.Getenv("KCM"), "v1.12.0-rc2", "config", "dev")
	if os.Getenv("KCM") == "" {
		t.Skip("KCM does not name a folder with a checkout of github.com/k0rdent/kcm, v1.12.0-rc2")
	}
	for name, sample := range map[string]string{"azure": "azure", "google": "gcp", "openstack": "openstack", "vsphere": "vsphere"} {
		text, err := os.ReadFile(filepath.Join(dir, sample+"-credentials.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		text = []byte(strings.NewReplacer("$$", "$", "${VSPHERE_DATACENTER}", "munich-1").Replace(string(text)))
		for _, o := range documents(t, text) {
			data, _ := o["data"].(map[string]any)
			if o["kind"] != "ConfigMap" || data == nil {
				continue
			}
			got, err := clouds[name].render(t, data["configmap.yaml"].(string))
			delete(got, "StorageClass managed-csi") // of the development's clusters
			if err != nil || !reflect.DeepEqual(got, clouds[name].objects) {
				t.Errorf("%s: kcm's renders\n%s\nwant\n%s\n%v", name, indented(t, got), indented(t, clouds[name].objects), err)
			}
		}
	}
}
