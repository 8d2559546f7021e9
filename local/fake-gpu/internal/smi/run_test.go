package smi

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"local/fake-gpu/internal/nodefile"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func nodeDir(t *testing.T, vgpu bool) string {
	t.Helper()
	dir := t.TempDir()
	node := nodefile.Node{Node: "worker", VGPU: vgpu, DriverVersion: "580.126.09", CUDAVersion: "13.0"}
	for i, id := range []string{"GPU-aa", "GPU-bb", "GPU-cc"} {
		node.GPUs = append(node.GPUs, nodefile.GPU{
			Index: i, UUID: id, Name: "NVIDIA A100-SXM4-80GB", PCIBusID: "00000000:0" + string(rune('3'+i)) + ":00.0",
			MemoryTotal: 81920, MemoryUsed: 61440 * i / 2, Utilization: 10 * i, MemoryUtilization: 5 * i, Temperature: 30 + i, SMClock: 210,
		})
	}
	if err := nodefile.Write(dir, node); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRun(t *testing.T) {
	const none = "No devices were found\n"
	for name, test := range map[string]struct {
		visible, args string
		code          int
		stdout        string
		stderr        string // a part
	}{
		"list":                 {"GPU-bb", "-L", 0, "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-bb)\n", ""},
		"list long":            {"GPU-bb", "--list-gpus", 0, "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-bb)\n", ""},
		"node order":           {"GPU-cc, GPU-aa,GPU-cc", "--query-gpu=index,uuid --format=csv,noheader", 0, "0, GPU-aa\n1, GPU-cc\n", ""},
		"indices":              {"2,1", "--query-gpu=uuid --format=csv,noheader", 0, "GPU-bb\nGPU-cc\n", ""},
		"all":                  {"all", "--query-gpu=uuid,count --format=csv,noheader", 0, "GPU-aa, 3\nGPU-bb, 3\nGPU-cc, 3\n", ""},
		"unset":                {"", "-L", 6, none, ""},
		"void":                 {"void", "", 6, none, ""},
		"none":                 {"none", "--query-gpu=uuid --format=csv", 6, none, ""},
		"foreign UUID":         {"GPU-zz", "-L", 6, none, `"GPU-zz", which is none of the 3 GPUs of node worker`},
		"one foreign":          {"GPU-zz,0", "-L", 0, "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-aa)\n", "GPU-zz"},
		"header and units":     {"1", "--query-gpu=gpu_name,memory.total,memory.used,memory.free,utilization.gpu --format=csv", 0, "name, memory.total [MiB], memory.used [MiB], memory.free [MiB], utilization.gpu [%]\nNVIDIA A100-SXM4-80GB, 81920 MiB, 30720 MiB, 51200 MiB, 10 %\n", ""},
		"nounits":              {"1", "--query-gpu memory.total,temperature.gpu,power.draw --format csv,nounits", 0, "memory.total [MiB], temperature.gpu, power.draw [W]\n81920, 31, [N/A]\n", ""},
		"blanks in format":     {"0", "--query-gpu=driver_version,pci.bus_id,timestamp --format=csv,noheader", 0, "580.126.09, 00000000:03:00.0, 2026/01/02 03:04:05.000\n", ""},
		"unknown field":        {"0", "--query-gpu=uuid,cuda_version --format=csv", 2, "Field \"cuda_version\" is not a valid field to query.\n\n", ""},
		"no format":            {"0", "--query-gpu=uuid", 2, "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n", "--format=csv"},
		"unknown format":       {"0", "--query-gpu=uuid --format=csv,xml", 2, "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n", "xml"},
		"unknown option":       {"0", "topo", 2, "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n", "topo"},
		"option without value": {"0", "-i", 2, "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n", "-i"},
		"select position":      {"GPU-bb,GPU-cc", "-L -i 1", 0, "GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-cc)\n", ""},
		"select UUID":          {"all", "-i GPU-bb --query-gpu=index --format=csv,noheader", 0, "1\n", ""},
		"select bus":           {"all", "--id=00000000:05:00.0 -L", 0, "GPU 2: NVIDIA A100-SXM4-80GB (UUID: GPU-cc)\n", ""},
		"select hidden":        {"GPU-aa", "-i 1 -L", 6, none, ""},
		"help":                 {"", "-h", 0, usage, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := Run(strings.Fields(test.args), test.visible, nodeDir(t, false), now, &stdout, &stderr)
			if code != test.code || stdout.String() != test.stdout {
				t.Errorf("code %d, stdout %q; want %d, %q", code, stdout.String(), test.code, test.stdout)
			}
			if !strings.Contains(stderr.String(), test.stderr) || test.stderr == "" && stderr.Len() > 0 {
				t.Errorf("stderr %q; want %q in it", stderr.String(), test.stderr)
			}
		})
	}
}

func TestVGPUHidesTheTemperature(t *testing.T) {
	var out bytes.Buffer
	Run([]string{"--query-gpu=temperature.gpu", "--format=csv,noheader"}, "0", nodeDir(t, true), now, &out, &out)
	if out.String() != "[N/A]\n" {
		t.Errorf("got %q", out.String())
	}
	out.Reset()
	Run(nil, "0", nodeDir(t, true), now, &out, &out)
	if strings.Contains(out.String(), "30C") || !strings.Contains(out.String(), "N/A   N/A    P0") {
		t.Errorf("got %s", out.String())
	}
}

func TestTableKeepsItsWidth(t *testing.T) {
	var out bytes.Buffer
	if code := Run(nil, "all", nodeDir(t, false), now, &out, &out); code != 0 {
		t.Fatal(code)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for _, line := range lines[1:] {
		if line != "" && len(line) != wide+2 {
			t.Errorf("%d characters: %q", len(line), line)
		}
	}
	for _, part := range []string{"Driver Version: 580.126.09", "CUDA Version: 13.0", "61440MiB /  81920MiB", "20%      Default", "00000000:05:00.0", "32C"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("%q is missing in\n%s", part, out.String())
		}
	}
}

func TestNoNodeFile(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := Run([]string{"-L"}, "all", t.TempDir(), now, &stdout, &stderr)
	if code != 9 || !strings.Contains(stdout.String(), "couldn't communicate with the NVIDIA driver") || !strings.Contains(stderr.String(), "DaemonSet fake-gpu") {
		t.Errorf("code %d, %q, %q", code, stdout.String(), stderr.String())
	}
}
