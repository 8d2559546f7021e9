// Command fake-gpu makes a node look as if it had NVIDIA GPUs.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
)

// version is also the tag of the image.
const version = "0.1.0"

const help = `fake-gpu makes a Kubernetes node look as if it had NVIDIA GPUs.
  fake-gpu node [options]   serve the node named by NODE_NAME (fake-gpu node -h lists the options)
  fake-gpu version          print the version
`

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	command := ""
	if len(os.Args) > 1 {
		command = os.Args[1]
	}
	switch command {
	case "node":
		if err := node(ctx, os.Args[2:], log); err != nil {
			log.Error("fake-gpu node ended", "error", err)
			os.Exit(1)
		}
	case "version":
		fmt.Println("fake-gpu", version)
	default:
		fmt.Fprint(os.Stderr, help)
		os.Exit(2)
	}
}
