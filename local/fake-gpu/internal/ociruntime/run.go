package ociruntime

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// RuncVariable names the environment variable with the path of the real runtime.
const RuncVariable = "FAKE_GPU_RUNC"

// Wrapper stands in front of runc.
type Wrapper struct {
	Mounts []Mount
	// Exec replaces this process; tests replace it.
	Exec func(path string, argv, env []string) error
}

// Run prepares the container of a create command and hands every command on to runc, unchanged.
// It returns only on failure, with an error that it has also written to runc's log, where containerd looks for it.
func (w *Wrapper) Run(args []string) error {
	c := parseCall(args)
	err := w.run(c, args)
	if err != nil {
		err = fmt.Errorf("nvidia-container-runtime (fake-gpu): %w", err)
		if logErr := appendLog(c, err); logErr != nil {
			err = errors.Join(err, logErr)
		}
	}
	return err
}

func (w *Wrapper) run(c call, args []string) error {
	runc, err := findRunc()
	if err != nil {
		return err
	}
	if c.command == "create" {
		if err := prepare(c.bundle, w.Mounts); err != nil {
			return err
		}
	}
	execute := w.Exec
	if execute == nil {
		execute = syscall.Exec
	}
	return execute(runc, append([]string{runc}, args...), os.Environ())
}

func findRunc() (string, error) {
	name := os.Getenv(RuncVariable)
	if name == "" {
		name = "runc"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("cannot find the real runtime: %w; install runc or set %s to its path", err, RuncVariable)
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	mine, mineErr := os.Stat(self)
	theirs, theirsErr := os.Stat(path)
	if mineErr == nil && theirsErr == nil && os.SameFile(mine, theirs) {
		return "", fmt.Errorf("the real runtime %s is this wrapper itself; set %s to the path of runc", path, RuncVariable)
	}
	return filepath.Abs(path)
}

func appendLog(c call, failure error) error {
	if c.log == "" {
		return nil
	}
	now := time.Now().Format(time.RFC3339)
	line := fmt.Appendf(nil, "time=%q level=error msg=%q\n", now, failure.Error())
	if c.logFormat == "json" {
		text, err := json.Marshal(map[string]string{"level": "error", "msg": failure.Error(), "time": now})
		if err != nil {
			return err
		}
		line = append(text, '\n')
	}
	file, err := os.OpenFile(c.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(line)
	return errors.Join(err, file.Close())
}
