package main

import (
	"os"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/render"
)

// printNewClusters prints the setup commands of the first new cluster, and the names of the other new clusters.
func printNewClusters(s streams, all []render.NewCluster) {
	if len(all) == 0 {
		return
	}
	_ = output.Printf(s.out, "after the push, with kubectl's context set to the new cluster %s:\n", all[0].Name)
	for _, command := range all[0].Commands {
		_ = output.Printf(s.out, "  %s\n", command)
	}
	if others := all[1:]; len(others) > 0 {
		_ = output.Printf(s.out, "and the same commands, with its own names, for %s\n", finding.Count(len(others), "other new cluster"))
	}
}

// clusterKeyFile returns the file with the private key of a cluster: the one that secrets keygen writes, if it
// exists.
func (s streams) clusterKeyFile(cluster string) string {
	file := defaultKeyFile(s.env, secrets.Holder{Scope: secrets.Cluster, Name: cluster})
	if _, err := os.Lstat(file); err != nil {
		return "cluster-" + cluster + ".agekey"
	}
	return file
}
