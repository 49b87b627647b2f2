//! Digests as text.

use sha2::{Digest, Sha256};

/// The SHA-256 of one piece of data.
pub(crate) fn of(data: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(data))
}

/// A finished digest, in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
