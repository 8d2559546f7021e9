package deviceplugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"

	"local/fake-gpu/internal/gpu"
	"local/fake-gpu/internal/state"
)

const (
	// Dir is kubelet's directory of device plugin sockets.
	Dir = api.DevicePluginPath

	endpoint      = "fake-gpu.sock"
	kubeletSocket = "kubelet.sock"
	callTimeout   = 10 * time.Second
)

// Plugin is registered with kubelet for as long as it runs.
type Plugin struct {
	Store *state.Store
	Dir   string        // directory of the sockets
	Poll  time.Duration // how often to look whether kubelet was restarted
	Log   *slog.Logger

	registered atomic.Bool
}

// Healthy returns an error while kubelet does not know the plugin.
func (p *Plugin) Healthy() error {
	if p.registered.Load() {
		return nil
	}
	return fmt.Errorf("device plugin: not registered with kubelet at %s", p.path(kubeletSocket))
}

// Run serves and registers the plugin, anew each time kubelet restarts, until the context ends.
// It fails when kubelet refuses the plugin or the socket cannot be made.
func (p *Plugin) Run(ctx context.Context) error {
	waiting := false
	for {
		err := p.serveOnce(ctx)
		p.registered.Store(false)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errKubeletAway):
			if !waiting { // said once, not each second
				p.Log.Info("waiting for kubelet", "socket", p.path(kubeletSocket), "reason", err)
			}
			waiting = true
		case err == nil:
			waiting = false
		default:
			return fmt.Errorf("device plugin: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(p.Poll):
		}
	}
}

// errKubeletAway means that kubelet is not there (yet), which is no failure of the plugin.
var errKubeletAway = errors.New("kubelet does not answer")

// serveOnce works until kubelet restarts (nil), is away (errKubeletAway), the server fails, or the context ends.
func (p *Plugin) serveOnce(ctx context.Context) error {
	kubelet, err := os.Stat(p.path(kubeletSocket))
	if err != nil {
		return fmt.Errorf("%w: %w", errKubeletAway, err)
	}
	if err := os.Remove(p.path(endpoint)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	listener, err := net.Listen("unix", p.path(endpoint))
	if err != nil {
		return fmt.Errorf("%w; mount %s from the node, writable", err, p.Dir)
	}
	server := grpc.NewServer()
	api.RegisterDevicePluginServer(server, &service{store: p.Store})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer server.Stop()

	if err := p.register(ctx); err != nil {
		return err
	}
	p.registered.Store(true)
	p.Log.Info("registered with kubelet", "resource", gpu.ResourceName, "socket", p.path(endpoint))
	ticker := time.NewTicker(p.Poll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-served:
			return fmt.Errorf("server ended: %w", err)
		case <-ticker.C:
			if p.kubeletRestarted(kubelet) {
				p.Log.Info("kubelet was restarted, registering again")
				return nil
			}
		}
	}
}

// kubeletRestarted compares kubelet's socket with the one at registration.
// A starting kubelet also deletes all plugins' sockets, which shows a restart even when the inode is reused.
func (p *Plugin) kubeletRestarted(before os.FileInfo) bool {
	now, err := os.Stat(p.path(kubeletSocket))
	if err != nil || !os.SameFile(before, now) || !before.ModTime().Equal(now.ModTime()) {
		return true
	}
	_, err = os.Stat(p.path(endpoint))
	return err != nil
}

func (p *Plugin) register(ctx context.Context) error {
	connection, err := grpc.NewClient("unix:"+p.path(kubeletSocket), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err = api.NewRegistrationClient(connection).Register(ctx, &api.RegisterRequest{
		Version: api.Version, Endpoint: endpoint, ResourceName: gpu.ResourceName, Options: &api.DevicePluginOptions{},
	})
	switch status.Code(err) {
	case codes.OK:
		return nil
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
		return fmt.Errorf("%w: %w", errKubeletAway, err)
	}
	return fmt.Errorf("kubelet refused %s: %w", gpu.ResourceName, err)
}

func (p *Plugin) path(name string) string { return filepath.Join(p.Dir, name) }
