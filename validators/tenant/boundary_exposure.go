package tenant

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/exposure"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

var (
	hostKeys      = regexp.MustCompile(exposure.Hosts)
	configKeys    = regexp.MustCompile(exposure.Configuration)
	requestKeys   = regexp.MustCompile(exposure.Requests)
	referenceKeys = regexp.MustCompile(exposure.References)
	hostName      = regexp.MustCompile(exposure.HostName)
)

// exposes reports whether an object requests traffic, an address or a certificate.
func exposes(o *reconcile.Object) bool {
	switch o.Group {
	case "":
		return o.Kind == "Service"
	case networkingGroup:
		return o.Kind == "Ingress"
	case gatewayGroup, "gateway.networking.x-k8s.io", certManagerGroup, "acme.cert-manager.io":
		return true
	}
	return false
}

// served is a host for which an object requests traffic, "" for every host, and the field that names it.
type served struct {
	host string
	at   []any
}

// hostsOf returns the hosts for which an object requests traffic or a certificate. A rule, listener or route
// without a host name requests every host. A route of a service mesh, whose parents are Services, has no host
// names.
func hostsOf(o *reconcile.Object) []served {
	var all []served
	add := func(at ...any) { all = append(all, served{o.Text(at...), at}) }
	each := func(list []any, field ...any) {
		for i := range o.List(list...) {
			add(append(append(slices.Clone(list), i), field...)...)
		}
	}
	switch {
	case o.Kind == "Service":
	case o.Group == certManagerGroup || o.Group == "acme.cert-manager.io":
		for _, field := range []string{"dnsNames", "ipAddresses", "uris", "emailAddresses"} {
			each([]any{"spec", field})
		}
		for _, field := range []string{"commonName", "literalSubject"} {
			if o.Text("spec", field) != "" {
				add("spec", field)
			}
		}
	case o.Kind == "Ingress":
		each([]any{"spec", "rules"}, "host")
		for i := range o.List("spec", "tls") {
			each([]any{"spec", "tls", i, "hosts"})
		}
	case o.Field("spec", "listeners") != nil:
		each([]any{"spec", "listeners"}, "hostname")
	case len(o.List("spec", "hostnames")) > 0:
		each([]any{"spec", "hostnames"})
	default:
		for i := range o.List("spec", "parentRefs") {
			if o.Text("spec", "parentRefs", i, "kind") != "Service" {
				return append(all, served{"", []any{"spec", "parentRefs", i}})
			}
		}
	}
	return append(all, annotatedHosts(o)...)
}

// annotatedHosts returns the hosts for which annotations request traffic.
func annotatedHosts(o *reconcile.Object) (all []served) {
	for _, key := range annotationsOf(o) {
		at, value := []any{"metadata", "annotations", key}, o.Text("metadata", "annotations", key)
		switch {
		case strings.HasSuffix(key, exposure.WithWWW) && value != "false":
			for i := range o.List("spec", "rules") {
				host := o.Text("spec", "rules", i, "host")
				bare, with := strings.CutPrefix(host, "www.")
				if !with {
					bare = "www." + host
				}
				all = append(all, served{bare, at})
			}
		case hostKeys.MatchString(key):
			for host := range strings.SplitSeq(value, ",") {
				if host = strings.TrimSpace(host); host != "" {
					all = append(all, served{host, at})
				}
			}
		}
	}
	return all
}

func annotationsOf(o *reconcile.Object) []string {
	annotations, _ := o.Field("metadata", "annotations").(map[string]any)
	keys := make([]string, 0, len(annotations))
	for key := range annotations {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// judgeExposure checks what an object exposes, as the admission policy of a generated tenant does.
func (j *bounded) judgeExposure(o *reconcile.Object) {
	if o.Kind == "CertificateRequest" || o.Group == "acme.cert-manager.io" {
		j.report(o, "create a Certificate", fmt.Sprintf("only cert-manager may create %s", o), "kind")
		return
	}
	for _, s := range hostsOf(o) {
		switch {
		case strings.Contains(s.host, "${"):
			j.unresolved(o.Position(s.at...), fmt.Sprintf("cannot decide whether the platform allows the hosts of %s: one has a variable", o))
			return
		case s.host == "":
			j.report(o, "name "+j.hosts(), fmt.Sprintf("%s serves every host", o), s.at...)
			return
		case !j.allowsHost(s.host, o):
			j.report(o, "use "+j.hosts(), fmt.Sprintf("%s is for host %s, which the platform does not let the tenant serve", o, s.host), s.at...)
			return
		}
	}
	for _, f := range []struct {
		at       []any
		set      bool
		what, do string
	}{
		{[]any{"spec", "defaultBackend"}, o.Kind == "Ingress" && o.Field("spec", "defaultBackend") != nil, "spec.defaultBackend, which serves every host", "use rules with " + j.hosts()},
		{[]any{"spec", "externalIPs"}, len(o.List("spec", "externalIPs")) > 0, "spec.externalIPs: a tenant may not choose addresses", "remove it"},
		{[]any{"spec", "loadBalancerIP"}, o.Text("spec", "loadBalancerIP") != "", "spec.loadBalancerIP: a tenant may not choose addresses", "remove it"},
		{[]any{"spec", "addresses"}, len(o.List("spec", "addresses")) > 0, "spec.addresses: a tenant may not choose addresses", "remove it"},
		{[]any{"spec", "type"}, o.Text("spec", "type") == "ExternalName", "spec.type ExternalName, whose name may be in another namespace", "use another type"},
		{[]any{"spec", "isCA"}, o.Kind == "Certificate" && o.Field("spec", "isCA") == true, "spec.isCA, which signs certificates for any host", "remove it"},
		{[]any{"spec", "otherNames"}, o.Kind == "Certificate" && len(o.List("spec", "otherNames")) > 0, "spec.otherNames", "remove it"},
	} {
		if f.set {
			j.report(o, f.do, fmt.Sprintf("%s has %s", o, f.what), f.at...)
		}
	}
	j.judgeAnnotations(o)
}

// judgeAnnotations checks annotations that have effects outside the tenant.
func (j *bounded) judgeAnnotations(o *reconcile.Object) {
	for _, key := range annotationsOf(o) {
		namespace, _, qualified := strings.Cut(o.Text("metadata", "annotations", key), "/")
		var what string
		switch {
		case slices.Contains(exposure.Addresses, key):
			what = "chooses an address"
		case configKeys.MatchString(key):
			what = "configures the ingress controller"
		case requestKeys.MatchString(key):
			what = "names an address that the ingress controller calls"
		case referenceKeys.MatchString(key) && qualified && namespace != o.Namespace:
			what = "names a Secret or ConfigMap of another namespace"
		default:
			continue
		}
		j.report(o, "remove it", fmt.Sprintf("%s has the annotation %s, which %s", o, key, what), "metadata", "annotations", key)
	}
}

// hosts lists the tenant's hosts for a hint.
func (j *bounded) hosts() string {
	hosts := j.spec.Exposure.Hosts
	switch n := len(hosts); {
	case n == 0:
		return "a host that the platform allows: it allows none"
	case n > 5:
		return strings.Join(hosts[:5], ", ") + fmt.Sprintf(" or one of %d more", n-5)
	}
	return strings.Join(hosts, " or ")
}

// allowsHost reports whether a host belongs to the tenant or, in a Certificate, to a Service in its namespace.
func (j *bounded) allowsHost(host string, o *reconcile.Object) bool {
	for _, own := range j.spec.Exposure.Hosts {
		below, wildcard := strings.CutPrefix(own, "*")
		if host == own || wildcard && hostName.MatchString(host) && strings.HasSuffix(host, below) {
			return true
		}
	}
	if o.Kind != "Certificate" || !hostName.MatchString(host) {
		return false
	}
	return strings.HasSuffix(host, "."+o.Namespace+".svc") || strings.HasSuffix(host, "."+o.Namespace+".svc.cluster.local")
}
