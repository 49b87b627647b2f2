//! Certificates that are made for the tests, and the TLS configurations that use them.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig, crypto};

/// Signs certificates. All authorities have the same name and different keys.
#[derive(Debug)]
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    /// A new authority, which no client trusts yet.
    ///
    /// # Panics
    ///
    /// Panics if the system has no randomness.
    pub fn create() -> Authority {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        Authority(CertifiedIssuer::self_signed(params, key).expect("a certificate"))
    }
}

/// `name` in the form that a TLS client needs.
///
/// # Panics
///
/// Panics if `name` is invalid.
pub fn server_name(name: &'static str) -> ServerName<'static> {
    ServerName::try_from(name).expect("a name")
}

fn provider() -> Arc<crypto::CryptoProvider> {
    Arc::new(crypto::ring::default_provider())
}

/// Trusts one authority.
///
/// # Panics
///
/// Panics if the authority's own certificate is invalid.
pub fn client_config(authority: &Authority) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(authority.0.der().clone()).expect("a certificate");
    trusts(roots)
}

/// For a client that must never use TLS.
pub fn trusts_nobody() -> ClientConfig {
    trusts(RootCertStore::empty())
}

fn trusts(roots: RootCertStore) -> ClientConfig {
    ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// A server with this name, whose certificate the authority has signed.
///
/// # Panics
///
/// Panics if the name is invalid.
pub fn server_config(authority: &Authority, name: &str) -> ServerConfig {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
    let certificate = params.signed_by(&key, &authority.0).expect("a certificate");
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .expect("they belong together")
}
