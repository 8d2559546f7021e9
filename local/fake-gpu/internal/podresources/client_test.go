package podresources

import (
	"context"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"local/fake-gpu/internal/kubelettest"
)

func TestOwners(t *testing.T) {
	kubelet := kubelettest.ServePodResources(t)
	client, err := NewClient(kubelet.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if owners, err := client.Owners(context.Background()); err != nil || len(owners) != 0 {
		t.Fatalf("got %v, %v", owners, err)
	}
	kubelet.Give("team-a", "train", "main", "nvidia.com/gpu", "GPU-a", "GPU-b")
	kubelet.Give("team-b", "nic", "main", "example.com/nic", "nic-0")
	kubelet.Give("team-b", "cpu", "main", "nvidia.com/gpu")
	owners, err := client.Owners(context.Background())
	owner := Owner{"team-a", "train", "main"}
	if err != nil || !reflect.DeepEqual(owners, Owners{"GPU-a": owner, "GPU-b": owner}) {
		t.Errorf("got %v, %v", owners, err)
	}
	ids := owners.Of("team-a", "train")
	slices.Sort(ids)
	if !slices.Equal(ids, []string{"GPU-a", "GPU-b"}) || owners.Of("team-b", "train") != nil {
		t.Errorf("got %v", ids)
	}
}

func TestOwnersNamesTheSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.sock")
	client, err := NewClient(path)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Owners(context.Background()); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
}
