//! Digests as text.

use hmac_sha256::Hash as Sha256;

/// The SHA-256 of one piece of data.
pub(crate) fn of(data: impl AsRef<[u8]>) -> String {
    hex(&Sha256::hash(data.as_ref()))
}

/// A finished digest, in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
