// SPDX-License-Identifier: Apache-2.0

package statedir

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func opened(t *testing.T) Dir {
	t.Helper()
	d, err := Open(filepath.Join(t.TempDir(), "plane"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTheSecondLockIsRefused(t *testing.T) {
	d := opened(t)
	lock, err := d.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Lock(); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("second lock: %v", err)
	}
	lock.Close()
	again, err := d.Lock()
	if err != nil {
		t.Fatalf("after the first one is gone: %v", err)
	}
	again.Close()
}

func TestThePortIsRemembered(t *testing.T) {
	d := opened(t)
	listener, first, err := d.Listen("127.0.0.1", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Listen("127.0.0.1", 0); err == nil || !strings.Contains(err.Error(), "last start") {
		t.Errorf("a port in use: %v", err)
	}
	listener.Close()
	listener, second, err := d.Listen("127.0.0.1", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if first != second {
		t.Errorf("port was %d, is %d", first, second)
	}
}

func TestADamagedPortFileIsAnError(t *testing.T) {
	for _, content := range []string{"", "abc", "-1", "70000"} {
		d := opened(t)
		if err := os.WriteFile(d.path("port"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if listener, _, err := d.Listen("127.0.0.1", 0); err == nil {
			listener.Close()
			t.Errorf("%q was accepted", content)
		}
	}
}

func TestReadyComesBackAsWritten(t *testing.T) {
	d := opened(t)
	if _, err := d.ReadReady(); err == nil || !strings.Contains(err.Error(), "no control plane") {
		t.Errorf("before it is written: %v", err)
	}
	want := &Ready{PID: 7, Server: "https://127.0.0.1:1", Port: 1, CAFile: "/ca",
		Kubeconfigs: map[string]string{"admin": "/a"}, KubernetesVersion: "v1", StartMilliseconds: 9}
	if _, err := d.WriteReady(want); err != nil {
		t.Fatal(err)
	}
	got, err := d.ReadReady()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for range 2 {
		if err := d.RemoveReady(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOpenNeedsADirectory(t *testing.T) {
	if _, err := Open(""); err == nil {
		t.Error("an empty name was accepted")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file); err == nil {
		t.Error("a file was accepted")
	}
}
