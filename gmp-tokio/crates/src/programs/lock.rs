//! Reads lock files: the tokio that a program was published with, and the packages that `cargo gmp`
//! moved.

use toml::{Table, Value};

/// The versions of tokio in a lock file.
pub(crate) fn tokio(lock: &str) -> Result<String, String> {
    let lock: Table = toml::from_str(lock).map_err(|error| format!("Cargo.lock: {error}"))?;
    let packages = lock.get("package").and_then(Value::as_array).into_iter().flatten();
    let tokios = packages.filter(|package| package.get("name").and_then(Value::as_str) == Some("tokio"));
    let versions: Vec<&str> = tokios.filter_map(|tokio| tokio.get("version")?.as_str()).collect();
    Ok(versions.join(", "))
}

/// The notes that report a move, such as `libc 0.2.98 -> 0.2.172`.
pub(crate) fn moved(notes: &[String]) -> Vec<String> {
    let moves = notes.iter().filter(|note| note.contains(" -> "));
    moves.map(|note| note.split(':').next().unwrap_or_default().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_tokio_is_read() {
        let lock = "[[package]]\nname = \"tokio\"\nversion = \"1.8.1\"\n[[package]]\nname = \"tokio-util\"\nversion = \"0.6.3\"\n";
        assert_eq!(tokio(lock).unwrap(), "1.8.1");
        assert_eq!(tokio("version = 4").unwrap(), "");
    }

    #[test]
    fn moves_are_told_without_their_reason() {
        let notes = ["libc 0.2.98 -> 0.2.172: gmp needs it", "using the sources of this checkout"].map(str::to_owned);
        assert_eq!(moved(&notes), ["libc 0.2.98 -> 0.2.172"]);
    }
}
