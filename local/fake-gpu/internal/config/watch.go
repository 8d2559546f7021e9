package config

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Watch reads the file at once and then every interval, and calls onChange for each new content.
// It ends with an error as soon as the file cannot be read or is wrong, so that the DaemonSet shows it.
//
// It polls because kubelet replaces a mounted ConfigMap through symbolic links, and because nodes in
// containers run short of inotify instances.
func Watch(ctx context.Context, path string, interval time.Duration, onChange func(Config)) error {
	var last []byte
	err := wait.PollUntilContextCancel(ctx, interval, true, func(context.Context) (bool, error) {
		text, err := os.ReadFile(path)
		if err != nil {
			return false, fmt.Errorf("fake-gpu config: %w; mount the ConfigMap fake-gpu as a directory, not by subPath", err)
		}
		if last != nil && bytes.Equal(text, last) {
			return false, nil
		}
		cfg, err := Parse(text)
		if err != nil {
			return false, err
		}
		last = text
		onChange(cfg)
		return false, nil
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}
