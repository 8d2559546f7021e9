// Package deviceplugin offers the node's GPUs to kubelet.
package deviceplugin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"

	"local/fake-gpu/internal/gpu"
	"local/fake-gpu/internal/state"
)

// VisibleDevices is the variable by which the NVIDIA runtime learns a container's GPUs.
const VisibleDevices = "NVIDIA_VISIBLE_DEVICES"

// service answers kubelet's calls.
type service struct {
	api.UnimplementedDevicePluginServer
	store *state.Store
}

// GetDevicePluginOptions says that none of the optional calls is needed.
func (s *service) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

// ListAndWatch sends all devices at once and again after each change.
func (s *service) ListAndWatch(_ *api.Empty, stream grpc.ServerStreamingServer[api.ListAndWatchResponse]) error {
	changes, unsubscribe := s.store.Subscribe()
	defer unsubscribe()
	for {
		select {
		case <-stream.Context().Done():
			return nil
		case <-changes:
			node, _ := s.store.Node()
			// An empty list is sent too: it makes kubelet report 0 allocatable GPUs.
			if err := stream.Send(&api.ListAndWatchResponse{Devices: devices(node)}); err != nil {
				return err
			}
		}
	}
}

func devices(node gpu.Node) []*api.Device {
	list := make([]*api.Device, 0, len(node.GPUs))
	for _, g := range node.GPUs {
		health := api.Healthy
		if !g.Healthy {
			health = api.Unhealthy
		}
		list = append(list, &api.Device{ID: g.UUID, Health: health})
	}
	return list
}

// Allocate tells the runtime, through the environment, which GPUs each container has.
func (s *service) Allocate(_ context.Context, request *api.AllocateRequest) (*api.AllocateResponse, error) {
	node, _ := s.store.Node()
	response := &api.AllocateResponse{}
	for _, container := range request.GetContainerRequests() {
		visible, err := inIndexOrder(node, container.GetDevicesIds())
		if err != nil {
			return nil, err
		}
		response.ContainerResponses = append(response.ContainerResponses, &api.ContainerAllocateResponse{
			Envs: map[string]string{VisibleDevices: strings.Join(visible, ",")},
		})
	}
	return response, nil
}

func inIndexOrder(node gpu.Node, ids []string) ([]string, error) {
	found := make([]gpu.GPU, 0, len(ids))
	for _, id := range ids {
		g, known := node.ByUUID(id)
		if !known {
			return nil, status.Error(codes.NotFound, fmt.Sprintf("node %s has no GPU %q; it has %d", node.Name, id, len(node.GPUs)))
		}
		found = append(found, g)
	}
	slices.SortFunc(found, func(a, b gpu.GPU) int { return cmp.Compare(a.Index, b.Index) })
	sorted := make([]string, len(found))
	for i, g := range found {
		sorted[i] = g.UUID
	}
	return sorted, nil
}
