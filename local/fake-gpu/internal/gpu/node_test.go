package gpu

import (
	"regexp"
	"slices"
	"testing"

	"local/fake-gpu/internal/config"
)

func nodeWith(name string, count int) Node {
	return NewNode(name, config.Config{
		Mode:    config.Passthrough,
		Default: config.GPUs{Count: count, Product: "NVIDIA-A100-SXM4-80GB", MemoryMiB: 81920},
	})
}

func TestUUIDsAreStableAndUnique(t *testing.T) {
	form := regexp.MustCompile(`^GPU-[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for _, name := range []string{"a", "b"} {
		first, again := nodeWith(name, 4), nodeWith(name, 8)
		for i, g := range first.GPUs {
			if g.UUID != again.GPUs[i].UUID {
				t.Errorf("%s/%d: the UUID depends on the count", name, i)
			}
			if !form.MatchString(g.UUID) || seen[g.UUID] {
				t.Errorf("%s/%d: %q is malformed or used twice", name, i, g.UUID)
			}
			seen[g.UUID] = true
		}
	}
	// Known value: uuid5 of the zero namespace and "a-0".
	if got := nodeWith("a", 1).GPUs[0].UUID; got != "GPU-881bf6f1-ee6d-5c0d-9060-ce80b3339131" {
		t.Errorf("got %s", got)
	}
}

func TestModelName(t *testing.T) {
	for product, want := range map[string]string{
		"NVIDIA-A100-SXM4-80GB": "NVIDIA A100-SXM4-80GB",
		"NVIDIA-H100XM-80C":     "NVIDIA H100XM-80C",
		"GRID-A100-40C":         "GRID A100-40C",
		"Tesla-T4":              "Tesla T4",
		"Something":             "Something",
	} {
		if got := (Node{Product: product}).ModelName(); got != want {
			t.Errorf("%s: got %q, want %q", product, got, want)
		}
	}
}

func TestWithUnhealthy(t *testing.T) {
	node := nodeWith("n", 3)
	uuid := node.GPUs[2].UUID
	for list, want := range map[string]struct {
		unhealthy []int
		ignored   []string
	}{
		"":                 {nil, nil},
		"0,2":              {[]int{0, 2}, nil},
		" 1 , ,":           {[]int{1}, nil},
		uuid + ",0":        {[]int{0, 2}, nil},
		"3,-1,x,1,GPU-abc": {[]int{1}, []string{"3", "-1", "x", "GPU-abc"}},
		"01":               {nil, []string{"01"}},
	} {
		got, ignored := node.WithUnhealthy(list)
		var unhealthy []int
		for _, g := range got.GPUs {
			if !g.Healthy {
				unhealthy = append(unhealthy, g.Index)
			}
		}
		if !slices.Equal(unhealthy, want.unhealthy) || !slices.Equal(ignored, want.ignored) {
			t.Errorf("%q: unhealthy %v, ignored %v", list, unhealthy, ignored)
		}
	}
	sick, _ := node.WithUnhealthy("0")
	if well, _ := sick.WithUnhealthy(""); !well.GPUs[0].Healthy || !node.GPUs[0].Healthy {
		t.Error("health does not come back, or the original was changed")
	}
}
