// Command nvidia-smi is a stand-in for NVIDIA's tool in containers with fake GPUs.
package main

import (
	"os"
	"time"

	"local/fake-gpu/internal/nodefile"
	"local/fake-gpu/internal/smi"
)

func main() {
	os.Exit(smi.Run(os.Args[1:], os.Getenv("NVIDIA_VISIBLE_DEVICES"), nodefile.Dir, time.Now(), os.Stdout, os.Stderr))
}
