// Package podresources asks kubelet which container holds which GPU.
package podresources

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/podresources/v1"

	"local/fake-gpu/internal/gpu"
)

// Socket is kubelet's pod-resources socket.
const Socket = "/var/lib/kubelet/pod-resources/kubelet.sock"

const (
	timeout = 10 * time.Second
	// maxAnswer is the size in bytes up to which kubelet's own client accepts answers.
	maxAnswer = 16 << 20
)

// Owner is a container that holds a GPU.
type Owner struct {
	Namespace string
	Pod       string
	Container string
}

// Owners maps the UUID of each GPU in use to its owner.
type Owners map[string]Owner

// Of returns the UUIDs of the GPUs that the pod holds, in no particular order.
func (o Owners) Of(namespace, pod string) []string {
	var ids []string
	for id, owner := range o {
		if owner.Namespace == namespace && owner.Pod == pod {
			ids = append(ids, id)
		}
	}
	return ids
}

// Client reads kubelet's pod-resources API. It connects when first used and again after kubelet restarts.
type Client struct {
	socket     string
	connection *grpc.ClientConn
	lister     api.PodResourcesListerClient
}

// NewClient returns a client of the socket at the given path.
func NewClient(socket string) (*Client, error) {
	connection, err := grpc.NewClient("unix:"+socket,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer)))
	if err != nil {
		return nil, fmt.Errorf("kubelet's pod-resources API at %s: %w", socket, err)
	}
	return &Client{socket: socket, connection: connection, lister: api.NewPodResourcesListerClient(connection)}, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.connection.Close() }

// Owners returns who holds which GPU right now.
func (c *Client) Owners(ctx context.Context) (Owners, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answer, err := c.lister.List(ctx, &api.ListPodResourcesRequest{})
	if err != nil {
		return nil, fmt.Errorf("kubelet's pod-resources API at %s: %w", c.socket, err)
	}
	owners := Owners{}
	for _, pod := range answer.GetPodResources() {
		for _, container := range pod.GetContainers() {
			for _, devices := range container.GetDevices() {
				if devices.GetResourceName() != gpu.ResourceName {
					continue
				}
				for _, id := range devices.GetDeviceIds() {
					owners[id] = Owner{Namespace: pod.GetNamespace(), Pod: pod.GetName(), Container: container.GetName()}
				}
			}
		}
	}
	return owners, nil
}
