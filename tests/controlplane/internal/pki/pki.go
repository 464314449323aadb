// SPDX-License-Identifier: Apache-2.0

// Package pki makes the certificates and keys of one control plane: a certificate authority, the
// serving certificate of the API server, the signing key of service account tokens and client
// certificates of users. Everything is P-256 and valid for a year, and lives in one directory, so
// that a control plane started again on the same directory is the same one for its clients.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"sandboxrun.dev/tests/controlplane/internal/atomicfile"
)

const (
	validity  = 365 * 24 * time.Hour
	clockSkew = time.Hour
	pemCert   = "CERTIFICATE"
	pemKey    = "EC PRIVATE KEY"
)

// Dir is a directory of certificates and keys.
type Dir string

func (d Dir) path(name string) string { return filepath.Join(string(d), name) }

// CACert is the certificate that signs every other one here.
func (d Dir) CACert() string { return d.path("ca.crt") }

// ServingCert and ServingKey are what the API server shows to its clients.
func (d Dir) ServingCert() string { return d.path("apiserver.crt") }

// ServingKey belongs to ServingCert.
func (d Dir) ServingKey() string { return d.path("apiserver.key") }

// ServiceAccountKey signs and verifies the tokens of service accounts.
func (d Dir) ServiceAccountKey() string { return d.path("service-account.key") }

func (d Dir) caKey() string { return d.path("ca.key") }

// Ensure makes what is missing and leaves what is there. The serving certificate is valid for
// names and addresses; it is made again when those change.
func (d Dir) Ensure(names []string, addresses []net.IP) error {
	if err := os.MkdirAll(string(d), 0o755); err != nil {
		return err
	}
	if err := d.ensureCA(); err != nil {
		return fmt.Errorf("certificate authority: %w", err)
	}
	if err := d.ensureServing(names, addresses); err != nil {
		return fmt.Errorf("serving certificate: %w", err)
	}
	if _, err := loadKey(d.ServiceAccountKey()); errors.Is(err, fs.ErrNotExist) {
		key, err := newKey()
		if err != nil {
			return err
		}
		return writeKey(d.ServiceAccountKey(), key)
	} else if err != nil {
		return fmt.Errorf("service account key: %w", err)
	}
	return nil
}

// Client returns certificate and key, both as PEM, of a user with the groups given.
func (d Dir) Client(user string, groups []string) (certPEM, keyPEM []byte, err error) {
	key, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	der, err := d.sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, key)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return encode(pemCert, der), encode(pemKey, keyDER), nil
}

func (d Dir) ensureCA() error {
	_, err := loadKey(d.caKey())
	if err == nil {
		_, err = loadCert(d.CACert())
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	key, err := newKey()
	if err != nil {
		return err
	}
	template, err := withLifetime(&x509.Certificate{
		Subject:               pkix.Name{CommonName: "sandboxrun-test-ca"},
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IsCA:                  true,
		BasicConstraintsValid: true,
	})
	if err != nil {
		return err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	if err := writeKey(d.caKey(), key); err != nil {
		return err
	}
	return atomicfile.Write(d.CACert(), encode(pemCert, der), 0o644)
}

func (d Dir) ensureServing(names []string, addresses []net.IP) error {
	if _, err := loadKey(d.ServingKey()); err == nil {
		if cert, err := loadCert(d.ServingCert()); err == nil && covers(cert, names, addresses) {
			return nil
		}
	}
	key, err := newKey()
	if err != nil {
		return err
	}
	der, err := d.sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    names,
		IPAddresses: addresses,
	}, key)
	if err != nil {
		return err
	}
	if err := writeKey(d.ServingKey(), key); err != nil {
		return err
	}
	return atomicfile.Write(d.ServingCert(), encode(pemCert, der), 0o644)
}

func covers(cert *x509.Certificate, names []string, addresses []net.IP) bool {
	for _, name := range names {
		if cert.VerifyHostname(name) != nil {
			return false
		}
	}
	for _, address := range addresses {
		if cert.VerifyHostname(address.String()) != nil {
			return false
		}
	}
	return time.Now().Before(cert.NotAfter)
}

func (d Dir) sign(template *x509.Certificate, key *ecdsa.PrivateKey) ([]byte, error) {
	caKey, err := loadKey(d.caKey())
	if err != nil {
		return nil, err
	}
	caCert, err := loadCert(d.CACert())
	if err != nil {
		return nil, err
	}
	if template, err = withLifetime(template); err != nil {
		return nil, err
	}
	return x509.CreateCertificate(rand.Reader, template, caCert, key.Public(), caKey)
}

func withLifetime(template *x509.Certificate) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template.SerialNumber = serial
	template.NotBefore = now.Add(-clockSkew)
	template.NotAfter = now.Add(validity)
	return template, nil
}

func newKey() (*ecdsa.PrivateKey, error) {
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func loadPEM(path, kind string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil || block.Type != kind {
		return nil, fmt.Errorf("%s: no PEM block of type %q", path, kind)
	}
	return block.Bytes, nil
}

func loadKey(path string) (*ecdsa.PrivateKey, error) {
	der, err := loadPEM(path, pemKey)
	if err != nil {
		return nil, err
	}
	return x509.ParseECPrivateKey(der)
}

func loadCert(path string) (*x509.Certificate, error) {
	der, err := loadPEM(path, pemCert)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, encode(pemKey, der), 0o600)
}
