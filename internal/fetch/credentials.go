package fetch

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"oras.land/oras-go/v2/registry/remote/auth"
	stores "oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/fleetwright/fleetwright/internal/regular"
)

// netrcOf returns a function that looks up credentials in the user's .netrc, at the path where curl and git find it.
func netrcOf(env func(string) string) func(host string) (user, password string) {
	read := sync.OnceValue(func() map[string][2]string {
		name := env("NETRC")
		if home, err := os.UserHomeDir(); name == "" && err == nil {
			name = ".netrc"
			if runtime.GOOS == "windows" {
				name = "_netrc"
			}
			name = filepath.Join(home, name)
		}
		data, err := regular.Read(name, 1<<20)
		if err != nil {
			return nil
		}
		return parseNetrc(string(data))
	})
	return func(host string) (user, password string) {
		found := read()[host]
		return found[0], found[1]
	}
}

// parseNetrc reads the login and password of each machine. It omits a default, as it would be sent to any host.
// Source: https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html
func parseNetrc(text string) map[string][2]string {
	all := map[string][2]string{}
	machine, inMacro := "", false
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if inMacro = inMacro && len(words) > 0; inMacro { // a macro ends at an empty line
			continue
		}
		for i := 0; i < len(words) && !strings.HasPrefix(words[i], "#"); i++ {
			value := ""
			if i+1 < len(words) {
				value = words[i+1]
			}
			known := all[machine]
			switch words[i] {
			case "default":
				machine = ""
				continue
			case "macdef":
				inMacro = true
			case "machine":
				machine, known = value, all[value]
			case "login":
				known[0] = value
			case "password":
				known[1] = value
			}
			if all[machine] = known; inMacro {
				break
			}
			i++
		}
	}
	delete(all, "")
	return all
}

// registryCredentials returns the registry credentials that Helm and Docker store, also with their helpers.
func registryCredentials(env func(string) string) auth.CredentialFunc {
	open := sync.OnceValue(func() []stores.Store {
		var all []stores.Store
		if helm, err := stores.NewStore(helmRegistries(env), stores.StoreOptions{DetectDefaultNativeStore: true}); err == nil {
			all = append(all, helm)
		}
		if docker, err := stores.NewStoreFromDocker(stores.StoreOptions{DetectDefaultNativeStore: true}); err == nil {
			all = append(all, docker)
		}
		return all
	})
	return func(ctx context.Context, registry string) (auth.Credential, error) {
		for _, store := range open() {
			if found, err := store.Get(ctx, stores.ServerAddressFromHostname(registry)); err == nil && found != auth.EmptyCredential {
				return found, nil
			}
		}
		return auth.EmptyCredential, nil
	}
}

// helmRegistries returns the file in which Helm stores the credentials of registries.
// Source: helm.sh/helm/v4 pkg/helmpath, pkg/cli.
func helmRegistries(env func(string) string) string {
	if name := env("HELM_REGISTRY_CONFIG"); name != "" {
		return name
	}
	dir := env("HELM_CONFIG_HOME")
	if dir == "" {
		home, _ := os.UserHomeDir() // without one, the file does not exist
		base := map[string]string{"darwin": filepath.Join(home, "Library", "Preferences"), "windows": env("APPDATA")}[runtime.GOOS]
		dir = filepath.Join(cmp.Or(env("XDG_CONFIG_HOME"), base, filepath.Join(home, ".config")), "helm")
	}
	return filepath.Join(dir, "registry", "config.json")
}
