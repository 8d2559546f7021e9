package smi

import (
	"fmt"
	"io"
	"time"

	"local/fake-gpu/internal/nodefile"
)

// Exit codes as in nvidia-smi's manual.
const (
	success         = 0
	badArgument     = 2
	queryFailed     = 6
	driverNotLoaded = 9
)

const usage = `Fake nvidia-smi: shows the fake GPUs that this container was given.
  nvidia-smi                 table of the GPUs
  nvidia-smi -L              one line for each GPU with its UUID
  nvidia-smi --query-gpu=<field>,... --format=csv[,noheader][,nounits]
  -i <index|UUID|bus id>,... only these GPUs
`

// Run answers one command line and returns the exit code. visibleDevices is the value of NVIDIA_VISIBLE_DEVICES,
// dir the directory of the agent's node file.
func Run(args []string, visibleDevices, dir string, now time.Time, stdout, stderr io.Writer) int {
	opts, err := parse(args)
	if err != nil {
		fmt.Fprintf(stdout, "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n")
		fmt.Fprintf(stderr, "fake nvidia-smi: %v\n", err)
		return badArgument
	}
	if opts.help {
		fmt.Fprint(stdout, usage)
		return success
	}
	for _, name := range opts.query {
		if _, known := fields[name]; !known {
			fmt.Fprintf(stdout, "Field \"%s\" is not a valid field to query.\n\n", name)
			return badArgument
		}
	}
	node, err := nodefile.Read(dir)
	if err != nil {
		fmt.Fprintln(stdout, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.")
		fmt.Fprintf(stderr, "fake nvidia-smi: %v; check that the DaemonSet fake-gpu runs on this node and that the pod has runtimeClassName nvidia\n", err)
		return driverNotLoaded
	}
	devices, unknown := visible(node, visibleDevices)
	for _, name := range unknown {
		fmt.Fprintf(stderr, "fake nvidia-smi: NVIDIA_VISIBLE_DEVICES names %q, which is none of the %d GPUs of node %s\n", name, len(node.GPUs), node.Node)
	}
	v := view{node: node, count: len(devices), now: now}
	devices, found := selectIDs(devices, opts.ids)
	if len(devices) == 0 || !found {
		fmt.Fprintln(stdout, "No devices were found")
		return queryFailed
	}
	switch {
	case opts.list:
		writeList(stdout, devices)
	case opts.query != nil:
		writeCSV(stdout, opts, v, devices)
	default:
		writeTable(stdout, v, devices)
	}
	return success
}
