package main

import (
	"flag"
	"fmt"
	"os"

	"local/fake-gpu/internal/config"
	"local/fake-gpu/internal/dcgm"
	"local/fake-gpu/internal/deviceplugin"
	"local/fake-gpu/internal/nodefile"
	"local/fake-gpu/internal/podresources"
)

// options of `fake-gpu node`. Inside the DaemonSet all defaults are right.
type options struct {
	nodeName   string
	kubeconfig string // "" means the pod's ServiceAccount
	config     string
	plugins    string
	resources  string
	runDir     string
	address    string
}

func parseOptions(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("fake-gpu node", flag.ExitOnError)
	flags.StringVar(&o.nodeName, "node-name", os.Getenv("NODE_NAME"), "name of this node; default: the variable NODE_NAME")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file; default: the pod's ServiceAccount")
	flags.StringVar(&o.config, "config", config.Path, "file that describes the GPUs")
	flags.StringVar(&o.plugins, "device-plugins", deviceplugin.Dir, "kubelet's directory of device plugins")
	flags.StringVar(&o.resources, "pod-resources", podresources.Socket, "kubelet's pod-resources socket")
	flags.StringVar(&o.runDir, "run-dir", nodefile.Dir, "directory for the file that nvidia-smi reads")
	flags.StringVar(&o.address, "listen", dcgm.Address, "address of /metrics and /healthz")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("found the argument %q, expected options only", flags.Arg(0))
	}
	if o.nodeName == "" {
		return o, fmt.Errorf("NODE_NAME: found nothing, expected the node's name; set it from the field spec.nodeName")
	}
	return o, nil
}
