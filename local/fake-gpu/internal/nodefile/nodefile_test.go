package nodefile

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestWriteAndRead(t *testing.T) {
	dir := t.TempDir()
	for _, node := range []Node{
		{Node: "n", DriverVersion: "1", CUDAVersion: "2", GPUs: []GPU{{Index: 0, UUID: "GPU-0", MemoryTotal: 10}}},
		{Node: "n", GPUs: []GPU{}},
	} {
		if err := Write(dir, node); err != nil {
			t.Fatal(err)
		}
		got, err := Read(dir)
		if err != nil || !reflect.DeepEqual(got, node) {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
	info, _ := os.Stat(filepath.Join(dir, Name))
	if info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v: users other than root could not read it", info.Mode())
	}
}

func TestReadNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Read(dir); !os.IsNotExist(err) {
		t.Errorf("missing file: %v", err)
	}
	path := filepath.Join(dir, Name)
	if err := os.WriteFile(path, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("broken file: %v", err)
	}
}
