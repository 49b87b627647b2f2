//! Certificates made for the occasion, and what TLS wants to be configured with.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig, crypto};

/// Signs certificates. All bear the same name; they have different keys.
#[derive(Debug)]
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    /// One that nobody trusts yet.
    ///
    /// # Panics
    ///
    /// If there is no randomness.
    pub fn create() -> Authority {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        Authority(CertifiedIssuer::self_signed(params, key).expect("a certificate"))
    }
}

/// That name, as one who connects gives it.
///
/// # Panics
///
/// If it isn't a name.
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
/// If the authority's own certificate is no certificate.
pub fn client_config(authority: &Authority) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(authority.0.der().clone()).expect("a certificate");
    trusts(roots)
}

/// For a client that is never to use TLS.
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

/// A server of that name, vouched for by the authority.
///
/// # Panics
///
/// If it isn't a name.
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
