//go:build peers

package k0rdent_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// K0RDENT_SAMPLES names the folder config/dev of kcm: what its templates render is what ours do.
func TestResourceTemplatesAreThoseOfKCM(t *testing.T) {
	dir := os.Getenv("K0RDENT_SAMPLES")
	if dir == "" {
		t.Skip("K0RDENT_SAMPLES does not name the folder config/dev of github.com/k0rdent/kcm")
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
