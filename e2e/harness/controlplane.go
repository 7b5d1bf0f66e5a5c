// Package harness provides the environment of end-to-end tests: a real
// Kubernetes control plane in the test's own process, Flux's own controllers beside it,
// and the Internet that they reach, whose hosts are all on loopback.
//
// Missing parts are declared instead, and only these: kubelets, charts
// and the controller that installs them (absent.go), and the Flux Operator (flux.go).
package harness

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app/testing"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
	"k8s.io/kubernetes/test/utils/ktesting/initoption"
)

// A Client is the access of one account to a cluster. It reads the list of kinds once, and again after the harness has defined
// some.
type Client struct {
	Config *rest.Config
	Kube   kubernetes.Interface
	Any    dynamic.Interface
	Meta   metadata.Interface
	Kinds  discovery.CachedDiscoveryInterface
	Mapper *restmapper.DeferredDiscoveryRESTMapper
}

// A Cluster is a control plane: etcd, kube-apiserver and kube-controller-manager of the
// versions in go.mod, with RBAC and every admission plugin that is on by default. Its
// Client is the administrator.
type Cluster struct {
	Client
	t testing.TB
}

// StartCluster starts a control plane, which ends with the test. The objects are applied before the controller manager
// starts: it discovers kinds that are defined later only every 30 seconds, and until then the API server refuses objects
// with a quota on their number.
func StartCluster(t *testing.T, objects ...*unstructured.Unstructured) *Cluster {
	t.Helper()
	storage := storagebackend.NewDefaultConfig("registry", nil)
	storage.Transport.ServerList = []string{startEtcd(t)}
	server, err := apiserver.StartTestServer(ktesting.Init(t, initoption.PerTestOutput(false)), apiserver.NewDefaultTestServerOptions(), []string{
		"--authorization-mode=Node,RBAC",
		"--allow-privileged=true",
	}, storage)
	must(t, err)
	t.Cleanup(server.TearDownFn)
	admin := rest.CopyConfig(server.ClientConfig)
	admin.QPS, admin.Burst = -1, -1
	c := &Cluster{Client: newClient(t, admin), t: t}
	c.Apply(objects...)
	c.startControllerManager(t)
	return c
}

func startEtcd(t *testing.T) string {
	t.Helper()
	cfg := embed.NewConfig()
	cfg.Dir = t.TempDir()
	cfg.LogLevel, cfg.LogOutputs = "panic", []string{filepath.Join(cfg.Dir, "etcd.log")}
	cfg.UnsafeNoFsync = true
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	cfg.ListenClientUrls, cfg.ListenPeerUrls = anyPort, anyPort
	etcd, err := embed.StartEtcd(cfg)
	must(t, err)
	t.Cleanup(etcd.Close)
	<-etcd.Server.ReadyNotify()
	return "http://" + etcd.Clients[0].Addr().String()
}

// startControllerManager starts the controllers that end namespaces, count quotas, collect garbage and aggregate the rules
// of the roles admin and edit. They listen on no port.
func (c *Cluster) startControllerManager(t *testing.T) {
	t.Helper()
	kubeconfig := writeKubeconfig(t, c.Config)
	manager, err := controllermanager.StartTestServer(t, t.Context(), []string{
		"--kubeconfig=" + kubeconfig,
		"--secure-port=0",
		"--leader-elect=false",
		"--controllers=*,-node-ipam-controller,-node-lifecycle-controller,-node-route-controller,-service-lb-controller,-cloud-node-lifecycle-controller,-persistentvolume-attach-detach-controller,-ttl-controller",
		"--namespace-sync-period=2s",
		"--kube-api-qps=500", "--kube-api-burst=1000",
	})
	must(t, err)
	t.Cleanup(manager.TearDownFn)
}

func newClient(t testing.TB, cfg *rest.Config) Client {
	t.Helper()
	kube, err := kubernetes.NewForConfig(cfg)
	must(t, err)
	dyn, err := dynamic.NewForConfig(cfg)
	must(t, err)
	meta, err := metadata.NewForConfig(cfg)
	must(t, err)
	kinds := memory.NewMemCacheClient(kube.Discovery())
	return Client{Config: cfg, Kube: kube, Any: dyn, Meta: meta, Kinds: kinds, Mapper: restmapper.NewDeferredDiscoveryRESTMapper(kinds)}
}

// As returns a client with a token of the account, as a pod or a controller has it.
func (c *Cluster) As(namespace, account string) Client {
	c.t.Helper()
	hour := int64(time.Hour / time.Second)
	token, err := c.Kube.CoreV1().ServiceAccounts(namespace).CreateToken(c.t.Context(), account,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &hour}}, metav1.CreateOptions{})
	must(c.t, err)
	cfg := rest.AnonymousClientConfig(c.Config)
	cfg.BearerToken = token.Status.Token
	cfg.QPS, cfg.Burst = -1, -1
	client := newClient(c.t, cfg)
	client.Kinds, client.Mapper = c.Kinds, c.Mapper
	return client
}

// Kubeconfig returns a file with the administrator's configuration in the form that kubectl reads.
func (c *Cluster) Kubeconfig(t testing.TB) string { return writeKubeconfig(t, c.Config) }

// writeKubeconfig writes the configuration to a file that is deleted with the test.
func writeKubeconfig(t testing.TB, cfg *rest.Config) string {
	t.Helper()
	out := clientcmdapi.NewConfig()
	out.Clusters["e2e"] = &clientcmdapi.Cluster{
		Server: cfg.Host, CertificateAuthority: cfg.CAFile, CertificateAuthorityData: cfg.CAData, TLSServerName: cfg.ServerName,
	}
	out.AuthInfos["e2e"] = &clientcmdapi.AuthInfo{
		Token: cfg.BearerToken, ClientCertificateData: cfg.CertData, ClientKeyData: cfg.KeyData,
	}
	out.Contexts["e2e"] = &clientcmdapi.Context{Cluster: "e2e", AuthInfo: "e2e"}
	out.CurrentContext = "e2e"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, clientcmd.WriteToFile(*out, file))
	must(t, os.Chmod(file, 0o600))
	return file
}

// Eventually calls ask until it returns true, at most for the time limit: often at first, and less often the longer it
// takes. The string that ask returns names what is still missing, and is printed if the test fails.
func Eventually(t testing.TB, limit time.Duration, what string, ask func(context.Context) (bool, string)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	missing := ""
	for pause := 10 * time.Millisecond; ; pause = min(pause*3/2, 200*time.Millisecond) {
		ok, why := ask(ctx)
		if ok {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("%s: not after %s: %s", what, limit, missing)
		}
		missing = why
		time.Sleep(pause)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
