// Command nvidia-container-runtime stands in for NVIDIA's runtime on nodes with fake GPUs: it is runc, except that
// containers with NVIDIA_VISIBLE_DEVICES get nvidia-smi.
package main

import (
	"fmt"
	"os"

	"local/fake-gpu/internal/nodefile"
	"local/fake-gpu/internal/ociruntime"
)

func main() {
	wrapper := ociruntime.Wrapper{Mounts: []ociruntime.Mount{
		{
			Source:      "/usr/local/nvidia/bin/nvidia-smi",
			Destination: "/usr/bin/nvidia-smi",
			Remedy:      "put the stand-in nvidia-smi into the node image",
		},
		{
			Source:      nodefile.Dir,
			Destination: nodefile.Dir,
			Remedy:      "run the DaemonSet fake-gpu on this node",
		},
	}}
	if err := wrapper.Run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
