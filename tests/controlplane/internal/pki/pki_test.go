// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"testing"
)

var (
	testNames     = []string{"localhost", "kubernetes.default.svc"}
	testAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
)

func ensured(t *testing.T) Dir {
	t.Helper()
	d := Dir(filepath.Join(t.TempDir(), "pki"))
	if err := d.Ensure(testNames, testAddresses); err != nil {
		t.Fatal(err)
	}
	return d
}

func pool(t *testing.T, d Dir) *x509.CertPool {
	t.Helper()
	data, err := os.ReadFile(d.CACert())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(data) {
		t.Fatal("ca.crt holds no certificate")
	}
	return roots
}

func TestServingCertificateIsValidForEveryName(t *testing.T) {
	d := ensured(t)
	pair, err := tls.LoadX509KeyPair(d.ServingCert(), d.ServingKey())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"localhost", "kubernetes.default.svc", "127.0.0.1", "::1"} {
		options := x509.VerifyOptions{DNSName: name, Roots: pool(t, d)}
		if _, err := pair.Leaf.Verify(options); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if pair.Leaf.VerifyHostname("example.org") == nil {
		t.Error("the certificate is valid for a name that it should not have")
	}
}

func TestClientCertificateCarriesUserAndGroups(t *testing.T) {
	d := ensured(t)
	certPEM, keyPEM, err := d.Client("alice", []string{"developers", "readers"})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	subject := pair.Leaf.Subject
	if subject.CommonName != "alice" || len(subject.Organization) != 2 {
		t.Errorf("subject is %v", subject)
	}
	usage := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: pool(t, d), KeyUsages: usage}); err != nil {
		t.Error(err)
	}
}

func TestEnsureKeepsWhatIsThere(t *testing.T) {
	d := ensured(t)
	files := []string{d.CACert(), d.ServingCert(), d.ServingKey(), d.ServiceAccountKey(), d.caKey()}
	before := map[string][]byte{}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		before[path] = data
	}
	if err := d.Ensure(testNames, testAddresses); err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if data, _ := os.ReadFile(path); !bytes.Equal(data, before[path]) {
			t.Errorf("%s changed", path)
		}
	}
}

func TestEnsureRenewsTheServingCertificateForANewName(t *testing.T) {
	d := ensured(t)
	if err := d.Ensure(append(testNames, "api.test"), testAddresses); err != nil {
		t.Fatal(err)
	}
	cert, err := loadCert(d.ServingCert())
	if err != nil {
		t.Fatal(err)
	}
	if err := cert.VerifyHostname("api.test"); err != nil {
		t.Error(err)
	}
}

func TestEnsureRefusesADamagedKey(t *testing.T) {
	d := ensured(t)
	if err := os.WriteFile(d.ServiceAccountKey(), []byte("not a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Ensure(testNames, testAddresses); err == nil {
		t.Error("a damaged key was accepted")
	}
}

func TestKeysAreForTheOwnerOnly(t *testing.T) {
	d := ensured(t)
	for _, path := range []string{d.caKey(), d.ServingKey(), d.ServiceAccountKey()} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
	}
}
