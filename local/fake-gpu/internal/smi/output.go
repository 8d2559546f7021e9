package smi

import (
	"fmt"
	"io"
	"strings"
)

func writeList(out io.Writer, devices []device) {
	for _, d := range devices {
		fmt.Fprintf(out, "GPU %d: %s (UUID: %s)\n", d.position, d.Name, d.UUID)
	}
}

// writeCSV prints the asked columns. As in the original, nounits drops the units from the values only.
func writeCSV(out io.Writer, opts options, v view, devices []device) {
	if opts.header {
		titles := make([]string, len(opts.query))
		for i, name := range opts.query {
			titles[i] = fields[name].name
			if unit := fields[name].unit; unit != "" {
				titles[i] += " [" + unit + "]"
			}
		}
		fmt.Fprintln(out, strings.Join(titles, ", "))
	}
	for _, d := range devices {
		values := make([]string, len(opts.query))
		for i, name := range opts.query {
			values[i] = fields[name].value(v, d)
			if unit := fields[name].unit; unit != "" && opts.hasUnits && values[i] != notAvailable {
				values[i] += " " + unit
			}
		}
		fmt.Fprintln(out, strings.Join(values, ", "))
	}
}

// The table's columns are 41, 24 and 22 characters wide, borders not counted.
const (
	wide     = 89
	rule     = "+-----------------------------------------+------------------------+----------------------+\n"
	heavy    = "|=========================================+========================+======================|\n"
	fullRule = "+-----------------------------------------------------------------------------------------+\n"
)

func row(out io.Writer, left, middle, right string) {
	fmt.Fprintf(out, "|%-41.41s|%24.24s|%22.22s|\n", left, middle, right)
}

func writeTable(out io.Writer, v view, devices []device) {
	fmt.Fprintln(out, v.now.Format("Mon Jan _2 15:04:05 2006"))
	fmt.Fprint(out, fullRule)
	title := fmt.Sprintf(" NVIDIA-SMI %-22s Driver Version: %-14s CUDA Version: %-8s", v.node.DriverVersion, v.node.DriverVersion, v.node.CUDAVersion)
	fmt.Fprintf(out, "|%-*s|\n", wide, title)
	fmt.Fprint(out, rule)
	row(out, " GPU  Name                 Persistence-M", "Bus-Id          Disp.A ", "Volatile Uncorr. ECC ")
	row(out, " Fan  Temp   Perf          Pwr:Usage/Cap", "Memory-Usage ", "GPU-Util  Compute M. ")
	row(out, "", "", "MIG M. ")
	fmt.Fprint(out, heavy)
	for _, d := range devices {
		temperature := fmt.Sprintf("%dC", d.Temperature)
		if v.node.VGPU {
			temperature = "N/A"
		}
		row(out, fmt.Sprintf(" %3d  %-30.30s On", d.position, d.Name), d.PCIBusID+" Off ", "0 ")
		row(out, fmt.Sprintf(" N/A  %4s    P0             N/A /  N/A", temperature),
			fmt.Sprintf("%dMiB / %6dMiB ", d.MemoryUsed, d.MemoryTotal), fmt.Sprintf("%d%%      Default ", d.Utilization))
		row(out, "", "", "N/A ")
		fmt.Fprint(out, rule)
	}
	fmt.Fprintln(out)
	fmt.Fprint(out, fullRule)
	for _, line := range []string{
		" Processes:",
		"  GPU   GI   CI              PID   Type   Process name                        GPU Memory ",
		"        ID   ID                                                               Usage      ",
	} {
		fmt.Fprintf(out, "|%-*s|\n", wide, line)
	}
	fmt.Fprintf(out, "|%s|\n", strings.Repeat("=", wide))
	fmt.Fprintf(out, "|%-*s|\n", wide, "  No running processes found")
	fmt.Fprint(out, fullRule)
}
