package harness

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart"
	"helm.sh/helm/v4/pkg/kube"
	release "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage"
	"helm.sh/helm/v4/pkg/storage/driver"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/kubectl/pkg/validation"
)

// installs is how long Helm waits for the objects that it installs, as helm-controller does.
const installs = 5 * time.Minute

// Helm is the Helm library with the settings that helm-controller uses for a HelmRelease with
// spec.serviceAccountName: every request, also for Helm's own records, impersonates the
// account; objects are applied on the server's side, taken over and waited for.
// https://github.com/fluxcd/helm-controller/blob/v1.6.4/internal/action/install.go
//
// helm-controller polls objects where Helm watches them, so the account needs the permission to watch here.
type Helm struct {
	namespace string
	config    *action.Configuration
}

// Helm returns a Helm whose releases and records are in the namespace. The client asks the
// API server to impersonate the namespace's account, as helm-controller's own client does.
func (c Client) Helm(t testing.TB, namespace, account string) *Helm {
	t.Helper()
	cfg := rest.CopyConfig(c.Config)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + namespace + ":" + account}
	clients, err := kubernetes.NewForConfig(cfg)
	must(t, err)
	cached := memory.NewMemCacheClient(clients.Discovery())
	getter := &clientGetter{cfg, namespace, cached, restmapper.NewDeferredDiscoveryRESTMapper(cached)}
	quiet := slog.DiscardHandler
	client := kube.New(getter)
	client.Factory = &clientFactory{Factory: client.Factory}
	client.SetLogger(quiet)
	config := action.NewConfiguration(action.ConfigurationSetLogger(quiet))
	config.RESTClientGetter = getter
	config.KubeClient = client
	config.Releases = storage.Init(driver.NewSecrets(clients.CoreV1().Secrets(namespace)))
	config.Releases.SetLogger(quiet)
	return &Helm{namespace, config}
}

// Install installs the chart as a release of the name, and waits until it is ready.
func (h *Helm) Install(name string, chart chart.Charter, values map[string]any) error {
	install := action.NewInstall(h.config)
	install.ReleaseName, install.Namespace = name, h.namespace
	install.ServerSideApply, install.ForceConflicts, install.TakeOwnership = true, true, true
	install.WaitStrategy, install.WaitForJobs, install.Timeout = kube.StatusWatcherStrategy, true, installs
	install.SkipCRDs = true
	_, err := install.Run(chart, values)
	return err
}

// Upgrade upgrades the release to the chart and values, and waits until it is ready.
func (h *Helm) Upgrade(name string, chart chart.Charter, values map[string]any) error {
	upgrade := action.NewUpgrade(h.config)
	upgrade.Namespace, upgrade.ResetValues = h.namespace, true
	upgrade.ServerSideApply, upgrade.ForceConflicts, upgrade.TakeOwnership = "true", true, true
	upgrade.WaitStrategy, upgrade.WaitForJobs, upgrade.Timeout = kube.StatusWatcherStrategy, true, installs
	_, err := upgrade.Run(name, chart, values)
	return err
}

// Rollback rolls the release back to a revision, and waits until it is ready.
func (h *Helm) Rollback(name string, revision int) error {
	rollback := action.NewRollback(h.config)
	rollback.Version = revision
	rollback.ServerSideApply, rollback.ForceConflicts = "true", true
	rollback.WaitStrategy, rollback.WaitForJobs, rollback.Timeout = kube.StatusWatcherStrategy, true, installs
	return rollback.Run(name)
}

// Uninstall removes the release with its records, and waits until its objects are gone.
func (h *Helm) Uninstall(name string) error {
	uninstall := action.NewUninstall(h.config)
	uninstall.DeletionPropagation = "background"
	uninstall.WaitStrategy, uninstall.Timeout = kube.StatusWatcherStrategy, installs
	_, err := uninstall.Run(name)
	return err
}

// Forget deletes the remaining records of the release, as `kubectl delete secret` does.
func (h *Helm) Forget(name string) error {
	records, err := h.config.Releases.History(name)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil
	}
	for _, record := range records {
		if _, err := h.config.Releases.Delete(name, record.(*release.Release).Version); err != nil {
			return err
		}
	}
	return err
}

// Last returns the record of the release's last revision.
func (h *Helm) Last(name string) (*release.Release, error) {
	last, err := h.config.Releases.Last(name)
	if err != nil {
		return nil, err
	}
	return last.(*release.Release), nil // charts of version 2 create no other type
}

// A clientFactory caches which fields of the API server's kinds it validates itself. Helm asks for this for each chart, and
// would read all of OpenAPI each time.
type clientFactory struct {
	kube.Factory
	strict validation.Schema
}

// Validator implements kube.Factory.
func (f *clientFactory) Validator(directive string) (validation.Schema, error) {
	if directive != metav1.FieldValidationStrict {
		return f.Factory.Validator(directive)
	}
	var err error
	if f.strict == nil {
		f.strict, err = f.Factory.Validator(directive)
	}
	return f.strict, err
}

// A clientGetter provides Helm's clients.
type clientGetter struct {
	config    *rest.Config
	namespace string
	discovery discovery.CachedDiscoveryInterface
	mapper    meta.RESTMapper
}

// ToRESTConfig implements genericclioptions.RESTClientGetter.
func (g *clientGetter) ToRESTConfig() (*rest.Config, error) { return g.config, nil }

// ToDiscoveryClient implements genericclioptions.RESTClientGetter.
func (g *clientGetter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return g.discovery, nil
}

// ToRESTMapper implements genericclioptions.RESTClientGetter.
func (g *clientGetter) ToRESTMapper() (meta.RESTMapper, error) { return g.mapper, nil }

// ToRawKubeConfigLoader implements genericclioptions.RESTClientGetter: Helm reads the
// namespace from it.
func (g *clientGetter) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	return clientcmd.NewDefaultClientConfig(*clientcmdapi.NewConfig(), &clientcmd.ConfigOverrides{
		Context: clientcmdapi.Context{Namespace: g.namespace},
	})
}
