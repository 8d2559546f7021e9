package ociruntime

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"
)

type bench struct {
	wrapper Wrapper
	bundle  string
	runc    string
	argv    []string // of the real runtime, nil when it was not called
}

// newBench makes a bundle with the given config.json, the mounts' sources and a runc that is never run.
func newBench(t *testing.T, config string) *bench {
	t.Helper()
	dir := t.TempDir()
	b := &bench{bundle: filepath.Join(dir, "bundle"), runc: filepath.Join(dir, "runc")}
	smi, run := filepath.Join(dir, "nvidia-smi"), filepath.Join(dir, "run")
	for _, err := range []error{
		os.Mkdir(b.bundle, 0o755), os.Mkdir(run, 0o755), os.WriteFile(smi, nil, 0o755),
		os.WriteFile(b.runc, []byte("#!/bin/false\n"), 0o755), os.WriteFile(b.config(), []byte(config), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(RuncVariable, b.runc)
	b.wrapper = Wrapper{
		Mounts: []Mount{{smi, "/usr/bin/nvidia-smi", "install it"}, {run, "/run/fake-gpu", "run the DaemonSet"}},
		Exec: func(path string, argv, _ []string) error {
			if path != b.runc {
				t.Errorf("ran %s", path)
			}
			b.argv = argv
			return nil
		},
	}
	return b
}

func (b *bench) config() string { return filepath.Join(b.bundle, "config.json") }

func (b *bench) read(t *testing.T) (string, specs.Spec) {
	t.Helper()
	text, err := os.ReadFile(b.config())
	if err != nil {
		t.Fatal(err)
	}
	var spec specs.Spec
	if err := json.Unmarshal(text, &spec); err != nil {
		t.Fatal(err)
	}
	return string(text), spec
}

func withEnv(entries ...string) string {
	env, _ := json.Marshal(append([]string{"PATH=/bin"}, entries...))
	return `{"ociVersion":"1.1.0","process":{"args":["a"],"env":` + string(env) + `,"future":18446744073709551615},` +
		`"root":{"path":"rootfs","readonly":true},"mounts":[{"destination":"/proc","type":"proc","source":"proc","later":1}],"unheardOf":{"x":1}}`
}

func TestCreateMountsWhenGPUsAreVisible(t *testing.T) {
	for value, want := range map[string]bool{
		"NVIDIA_VISIBLE_DEVICES=GPU-aa,GPU-bb": true,
		"NVIDIA_VISIBLE_DEVICES=all":           true,
		"NVIDIA_VISIBLE_DEVICES=0":             true,
		"NVIDIA_VISIBLE_DEVICES=void":          false,
		"NVIDIA_VISIBLE_DEVICES=none":          false,
		"NVIDIA_VISIBLE_DEVICES=":              false,
		"OTHER=all":                            false,
	} {
		t.Run(value, func(t *testing.T) {
			b := newBench(t, withEnv(value))
			before, _ := b.read(t)
			args := []string{"--root", "/r", "create", "--bundle", b.bundle, "id"}
			if err := b.wrapper.Run(args); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(b.argv[1:], args) {
				t.Errorf("arguments became %v", b.argv)
			}
			after, spec := b.read(t)
			if !want {
				if after != before {
					t.Error("a container without GPUs was changed")
				}
				return
			}
			if len(spec.Mounts) != 3 || spec.Mounts[1].Destination != "/usr/bin/nvidia-smi" || spec.Mounts[2].Destination != "/run/fake-gpu" {
				t.Fatalf("mounts %+v", spec.Mounts)
			}
			for _, m := range spec.Mounts[1:] {
				if m.Type != "bind" || !slices.Contains(m.Options, "ro") || !slices.Contains(m.Options, "rbind") {
					t.Errorf("mount %+v", m)
				}
			}
			for _, part := range []string{`"unheardOf":{"x":1}`, `"later":1`, `"future":18446744073709551615`} {
				if !strings.Contains(after, part) {
					t.Errorf("lost %s", part)
				}
			}
			if info, _ := os.Stat(b.config()); info.Mode().Perm() != 0o600 {
				t.Errorf("mode became %v", info.Mode())
			}
		})
	}
}

func TestTheLastSettingCounts(t *testing.T) {
	b := newBench(t, withEnv("NVIDIA_VISIBLE_DEVICES=all", "NVIDIA_VISIBLE_DEVICES=void"))
	if err := b.wrapper.Run([]string{"create", "-b", b.bundle, "id"}); err != nil {
		t.Fatal(err)
	}
	if _, spec := b.read(t); len(spec.Mounts) != 1 {
		t.Errorf("mounts %+v", spec.Mounts)
	}
}

func TestOwnMountsOfTheContainerStay(t *testing.T) {
	config := `{"process":{"env":["NVIDIA_VISIBLE_DEVICES=all"]},"mounts":[{"destination":"/run/fake-gpu/","source":"/mine"}]}`
	b := newBench(t, config)
	for range 2 { // preparing twice changes nothing more
		if err := b.wrapper.Run([]string{"create", "-b", b.bundle, "id"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, spec := b.read(t); len(spec.Mounts) != 2 || spec.Mounts[0].Source != "/mine" {
		t.Errorf("mounts %+v", spec.Mounts)
	}
}

func TestDefaultBundleIsTheWorkingDirectory(t *testing.T) {
	b := newBench(t, withEnv("NVIDIA_VISIBLE_DEVICES=all"))
	t.Chdir(b.bundle)
	if err := b.wrapper.Run([]string{"create", "id"}); err != nil {
		t.Fatal(err)
	}
	if _, spec := b.read(t); len(spec.Mounts) != 3 {
		t.Errorf("mounts %+v", spec.Mounts)
	}
}

func TestOtherCommandsPassUntouched(t *testing.T) {
	for _, command := range []string{"start", "state", "delete", "run", "exec", "spec"} {
		b := newBench(t, withEnv("NVIDIA_VISIBLE_DEVICES=all"))
		args := []string{command, "--bundle", b.bundle, "id"}
		if err := b.wrapper.Run(args); err != nil {
			t.Fatal(err)
		}
		if _, spec := b.read(t); len(spec.Mounts) != 1 || !slices.Equal(b.argv[1:], args) {
			t.Errorf("%s: mounts %+v, argv %v", command, spec.Mounts, b.argv)
		}
	}
}

func TestFailuresAreClearAndLogged(t *testing.T) {
	for name, test := range map[string]struct {
		config string
		spoil  func(*bench)
		want   []string
	}{
		"no nvidia-smi": {withEnv("NVIDIA_VISIBLE_DEVICES=all"), func(b *bench) { _ = os.Remove(b.wrapper.Mounts[0].Source) }, []string{"/usr/bin/nvidia-smi", "install it"}},
		"no directory":  {withEnv("NVIDIA_VISIBLE_DEVICES=all"), func(b *bench) { _ = os.Remove(b.wrapper.Mounts[1].Source) }, []string{"/run/fake-gpu", "run the DaemonSet"}},
		"no config":     {"", func(b *bench) { _ = os.Remove(b.config()) }, []string{"config.json"}},
		"no JSON":       {"{", func(*bench) {}, []string{"config.json"}},
		"no runc":       {withEnv(), func(b *bench) { _ = os.Remove(b.runc) }, []string{"real runtime", RuncVariable}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, test.config)
			test.spoil(b)
			before, _ := os.ReadFile(b.config())
			log := filepath.Join(b.bundle, "log.json")
			err := b.wrapper.Run([]string{"--log", log, "--log-format=json", "create", "-b", b.bundle, "id"})
			if err == nil || b.argv != nil {
				t.Fatalf("error %v, argv %v", err, b.argv)
			}
			var entry struct{ Level, Msg string }
			text, _ := os.ReadFile(log)
			if err := json.Unmarshal(text, &entry); err != nil || entry.Level != "error" {
				t.Fatalf("log %q: %v", text, err)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) || !strings.Contains(entry.Msg, part) {
					t.Errorf("%q or %q lacks %q", err, entry.Msg, part)
				}
			}
			if after, _ := os.ReadFile(b.config()); string(after) != string(before) {
				t.Error("config.json was changed")
			}
		})
	}
}

func TestTheWrapperIsNotItsOwnRuntime(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(RuncVariable, self)
	if err := (&Wrapper{}).Run([]string{"state", "id"}); err == nil || !strings.Contains(err.Error(), "this wrapper itself") {
		t.Errorf("got %v", err)
	}
}
