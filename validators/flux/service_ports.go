package flux

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// backendFields are the fields in which routes name the Services to which they send traffic.
var backendFields = []nameField{
	{group: "networking.k8s.io", kinds: []string{"Ingress"}, path: []any{"spec", "defaultBackend", "service"}, to: kind{"", "Service"}},
	{group: "networking.k8s.io", kinds: []string{"Ingress"}, path: []any{"spec", "rules", -1, "http", "paths", -1, "backend", "service"}, to: kind{"", "Service"}},
	{group: "gateway.networking.k8s.io", kinds: []string{"HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"}, path: []any{"spec", "rules", -1, "backendRefs", -1}, to: kind{"", "Service"}, crosses: true},
}

// checkPorts reports the backend ports that the named Service does not have.
func (w *world) checkPorts(p *rule.Pass) {
	for _, n := range w.namesIn(backendFields) {
		backend := n.of.Field(n.path[:len(n.path)-1]...)
		service := w.find(n.id)
		if of := text(backend, "kind"); service == nil || of != "" && of != n.id.Kind || len(w.objects[n.id]) > 1 || text(service.Value, "spec", "type") == "ExternalName" {
			continue
		}
		port, path := field(backend, "port"), []any{"port"}
		for _, name := range []string{"number", "name"} {
			if value := field(port, name); value != nil {
				port, path = value, []any{"port", name}
				break
			}
		}
		var there []string
		has := port == nil
		for _, one := range list(service.Value, "spec", "ports") {
			number, name := fmt.Sprint(field(one, "port")), text(one, "name")
			there = append(there, strings.TrimSpace(number+" "+name))
			// ingress-nginx also accepts the port of the pods.
			has = has || unknown(number) || slices.Contains([]string{number, name}, fmt.Sprint(port)) ||
				n.of.Kind == "Ingress" && fmt.Sprint(field(one, "targetPort")) == fmt.Sprint(port)
		}
		if has || len(there) == 0 || unknown(fmt.Sprint(port)) {
			continue
		}
		at := w.locate(n.of, fmt.Sprint(port), slices.Concat(n.path[:len(n.path)-1], path)...)
		p.ReportBuilt(n.of, finding.Finding{Place: at,
			Message: fmt.Sprintf("%s, which %s references, has no port %v", idText(n.id), n.of, port),
			Hint:    "its ports are " + some(there),
		})
	}
}
