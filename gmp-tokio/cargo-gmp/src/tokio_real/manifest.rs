//! Makes the manifest of `tokio-real` from tokio's.

use anyhow::{Context, Result};
use toml_edit::{DocumentMut, Item, Table, value};

use super::NAME;

/// Renames the package, removes its tests and the dependencies that only the tests need, and adds a
/// dependency on the executor.
pub(super) fn rewritten(original: &str) -> Result<String> {
    let mut manifest: DocumentMut = original.parse()?;
    let package = manifest["package"].as_table_mut().context("tokio's manifest has no [package]")?;
    package["name"] = value(NAME);
    package["publish"] = value(false);
    package.remove("readme");
    package.remove("metadata");

    // The library gets another name too, because two crates of one name would write their
    // documentation to the same place.
    let library = manifest["lib"].as_table_mut().context("tokio's manifest has no [lib]")?;
    library["name"] = value(NAME.replace('-', "_"));
    library["test"] = value(false);
    library["doctest"] = value(false);
    manifest.remove("test");
    remove_dev_dependencies(&mut manifest);

    let dependencies = manifest["dependencies"].as_table_mut().context("tokio's manifest has no [dependencies]")?;
    dependencies["gmp-exec"]["path"] = value("../../gmp-exec");
    dependencies["gmp-exec"]["default-features"] = value(false);
    depend_on_tracing(&mut manifest)?;
    manifest["lints"] = Item::Table(silent());
    Ok(manifest.to_string())
}

/// tokio depends on the crate `tracing` only with `--cfg tokio_unstable`. Here the feature alone is
/// enough (`instrumentation`).
fn depend_on_tracing(manifest: &mut DocumentMut) -> Result<()> {
    let unstable = manifest["target"]["cfg(tokio_unstable)"]["dependencies"].as_table_like_mut();
    let tracing = unstable.and_then(|dependencies| dependencies.remove("tracing"));
    manifest["dependencies"]["tracing"] = tracing.context("tokio's manifest has no dependency on tracing")?;
    Ok(())
}

fn remove_dev_dependencies(manifest: &mut DocumentMut) {
    manifest.remove("dev-dependencies");
    let targets = manifest.get_mut("target").and_then(Item::as_table_like_mut);
    for (_, target) in targets.into_iter().flat_map(|targets| targets.iter_mut()) {
        if let Some(target) = target.as_table_like_mut() {
            target.remove("dev-dependencies");
        }
    }
}

/// Lints that warn about code with most features switched off, and about code for an older
/// compiler. They are allowed by name, because `-D warnings` in the user's flags overrides an
/// `allow` of `warnings`, but not of single lints.
const ALLOWED: [&str; 5] = ["deprecated", "mismatched_lifetime_syntaxes", "unexpected_cfgs", "unused", "unknown_lints"];

/// Lints for a package that is not the user's: cargo shows no warnings of packages from a registry
/// either.
pub(crate) fn silent() -> Table {
    let mut rust = Table::new();
    rust["warnings"] = value("allow");
    for lint in ALLOWED {
        rust[lint] = value("allow");
    }
    let mut lints = Table::new();
    lints["rust"] = Item::Table(rust);
    lints
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGINAL: &str = r#"
[package]
name = "tokio"
version = "1.54.1"

[features]
rt = []

[lib]
name = "tokio"
path = "src/lib.rs"

[[test]]
name = "a"
path = "tests/a.rs"

[dependencies.bytes]
version = "1.2.1"
optional = true

[dev-dependencies.tokio-test]
version = "0.4.0"

[target."cfg(unix)".dependencies.libc]
version = "0.2"

[target."cfg(unix)".dev-dependencies.libc]
version = "0.2"

[target."cfg(tokio_unstable)".dependencies.tracing]
version = "0.1.29"
optional = true
"#;

    #[test]
    fn nothing_that_needs_tokio_itself_is_left() {
        let manifest: DocumentMut = rewritten(ORIGINAL).unwrap().parse().unwrap();
        assert_eq!(manifest["package"]["name"].as_str(), Some("tokio-real"));
        assert_eq!(manifest["lib"]["name"].as_str(), Some("tokio_real"));
        assert_eq!(manifest["dependencies"]["gmp-exec"]["path"].as_str(), Some("../../gmp-exec"));
        assert!(manifest.get("test").is_none() && manifest.get("dev-dependencies").is_none());
        let unix = manifest["target"]["cfg(unix)"].as_table_like().unwrap();
        assert!(unix.contains_key("dependencies") && !unix.contains_key("dev-dependencies"));
    }

    #[test]
    fn features_and_versions_stay() {
        let manifest: DocumentMut = rewritten(ORIGINAL).unwrap().parse().unwrap();
        assert_eq!(manifest["package"]["version"].as_str(), Some("1.54.1"));
        assert!(manifest["features"].get("rt").is_some());
        assert_eq!(manifest["dependencies"]["bytes"]["optional"].as_bool(), Some(true));
    }

    #[test]
    fn the_feature_tracing_needs_no_cfg() {
        let text = rewritten(ORIGINAL).unwrap();
        let manifest: DocumentMut = text.parse().unwrap();
        assert_eq!(manifest["dependencies"]["tracing"]["optional"].as_bool(), Some(true));
        assert!(!text.contains("cfg(tokio_unstable)"), "{text}");
    }
}
