package mask

import "testing"

func TestHoldsSecrets(t *testing.T) {
	for text, want := range map[string]bool{
		"a: b\nkind: Secret\n": true, `{"kind" : "SecretList"}`: true, "kind: 'SecretGenerator'": true, "x\n  stringData:\n": true,
		"path: /data/a": true, "path: '/stringData/a'": true, `"path": "/data"`: true,
		"kind: SecretStore": false, "mykind: Secret": false, "kind:\n  Secret": false, "stringDatas: a": false, "path: /database": false, "/data": false, "mount /data": false, "": false,
	} {
		if got := HoldsSecrets(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
