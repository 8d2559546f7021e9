// Package kubelettest stands in for kubelet's two gRPC sockets in tests.
package kubelettest

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	plugins "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
	resources "k8s.io/kubelet/pkg/apis/podresources/v1"
)

const socketName = "kubelet.sock"

// Kubelet registers device plugins and follows their device lists.
type Kubelet struct {
	plugins.UnimplementedRegistrationServer
	Dir     string
	Devices chan []*plugins.Device // every list that the plugin sent
	Refuse  error                  // the answer to a registration, nil to accept

	mu     sync.Mutex
	server *grpc.Server
	plugin *grpc.ClientConn
	last   *plugins.RegisterRequest
}

// New returns a kubelet that is not running, with an empty directory of sockets.
func New(t *testing.T) *Kubelet {
	t.Helper()
	dir, err := os.MkdirTemp("", "kubelet") // socket paths must be short
	if err != nil {
		t.Fatal(err)
	}
	k := &Kubelet{Dir: dir, Devices: make(chan []*plugins.Device, 100)}
	t.Cleanup(func() {
		k.Stop()
		_ = os.RemoveAll(dir)
	})
	return k
}

// Start removes all sockets from the directory, as kubelet does, and listens.
func (k *Kubelet) Start(t *testing.T) {
	t.Helper()
	old, _ := filepath.Glob(filepath.Join(k.Dir, "*.sock"))
	for _, path := range old {
		_ = os.Remove(path)
	}
	server := grpc.NewServer()
	plugins.RegisterRegistrationServer(server, k)
	k.mu.Lock()
	k.server = server
	k.mu.Unlock()
	listener := listen(t, filepath.Join(k.Dir, socketName))
	go func() { _ = server.Serve(listener) }()
}

// Stop ends kubelet and its connection to the plugin.
func (k *Kubelet) Stop() {
	k.mu.Lock()
	server, plugin := k.server, k.plugin
	k.server, k.plugin = nil, nil
	k.mu.Unlock()
	if plugin != nil {
		_ = plugin.Close()
	}
	if server != nil {
		server.Stop()
	}
}

// Register connects to the plugin that registers, like kubelet.
func (k *Kubelet) Register(_ context.Context, request *plugins.RegisterRequest) (*plugins.Empty, error) {
	if k.Refuse != nil {
		return nil, k.Refuse
	}
	connection, err := grpc.NewClient("unix:"+filepath.Join(k.Dir, request.GetEndpoint()), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	k.plugin, k.last = connection, request
	k.mu.Unlock()
	stream, err := plugins.NewDevicePluginClient(connection).ListAndWatch(context.Background(), &plugins.Empty{})
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			list, err := stream.Recv()
			if err != nil {
				return
			}
			k.Devices <- list.GetDevices()
		}
	}()
	return &plugins.Empty{}, nil
}

// Plugin returns a client of the registered plugin and its registration.
func (k *Kubelet) Plugin() (plugins.DevicePluginClient, *plugins.RegisterRequest) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return plugins.NewDevicePluginClient(k.plugin), k.last
}

// PodResources answers the pod-resources API with what it is given.
type PodResources struct {
	resources.UnimplementedPodResourcesListerServer
	Socket string

	mu   sync.Mutex
	pods []*resources.PodResources
}

// ServePodResources starts the API with no pods.
func ServePodResources(t *testing.T) *PodResources {
	t.Helper()
	dir, err := os.MkdirTemp("", "podres")
	if err != nil {
		t.Fatal(err)
	}
	p := &PodResources{Socket: filepath.Join(dir, socketName)}
	server := grpc.NewServer()
	resources.RegisterPodResourcesListerServer(server, p)
	listener := listen(t, p.Socket)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		_ = os.RemoveAll(dir)
	})
	return p
}

// Give adds a pod with one container that holds the devices of the resource.
func (p *PodResources) Give(namespace, pod, container, resource string, ids ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pods = append(p.pods, &resources.PodResources{Namespace: namespace, Name: pod, Containers: []*resources.ContainerResources{
		{Name: container, Devices: []*resources.ContainerDevices{{ResourceName: resource, DeviceIds: ids}}},
	}})
}

// List answers with all pods.
func (p *PodResources) List(context.Context, *resources.ListPodResourcesRequest) (*resources.ListPodResourcesResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &resources.ListPodResourcesResponse{PodResources: p.pods}, nil
}

func listen(t *testing.T, path string) net.Listener {
	t.Helper()
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Error(err)
	}
	return listener
}
