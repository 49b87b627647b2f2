//! Makes packages that only re-export everything of a tokio, for rustdoc to document.
//!
//! The drop-in consists of re-exports, and rustdoc writes a signature differently depending on
//! whether it read the signature in the source (`io::Result<()>`, `impl<T: Send>`) or in the
//! metadata of a dependency (`Result<(), Error>`, a `where` clause). Behind a facade both tokios
//! are dependencies, so rustdoc reads both from metadata. Only the facades are documented, which is
//! fast. Each set of features has its own facade, so that cargo keeps the sets apart and rebuilds
//! only those that have changed.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::package::write_changed;
use crate::round::Round;
use crate::source::VERSION;

/// The source of a facade.
pub(crate) const FACADE: &str = "#[doc(inline)]\npub use ::tokio::*;\n";

/// The tokio that a facade re-exports.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    Tokio,
    Ours,
}

impl Side {
    const BOTH: [Side; 2] = [Side::Tokio, Side::Ours];

    /// The facade's name, which is also its crate's name.
    fn package(self, features: &str) -> String {
        let side = match self {
            Side::Tokio => "tokio",
            Side::Ours => "ours",
        };
        let features = features.replace([',', '-'], "_");
        format!("{side}_with_{}", if features.is_empty() { "nothing" } else { &features })
    }

    fn source(self) -> String {
        match self {
            Side::Tokio => format!("version = \"={VERSION}\""),
            Side::Ours => "path = \"../../../..\"".to_owned(),
        }
    }
}

/// Writes the facades for all sets of features, as one workspace.
pub(crate) fn make(round: Round) -> Result<(), String> {
    write_all(round).map_err(|error| format!("{}: {error}", folder(round).display()))
}

fn write_all(round: Round) -> std::io::Result<()> {
    let mut members = Vec::new();
    for features in round.sets() {
        for side in Side::BOTH {
            let name = side.package(features);
            let package = folder(round).join(&name);
            fs::create_dir_all(package.join("src"))?;
            write_changed(&package.join("src/lib.rs"), FACADE)?;
            write_changed(&package.join("Cargo.toml"), &manifest(&name, side, features))?;
            members.push(name);
        }
    }
    write_changed(&folder(round).join("Cargo.toml"), &format!("[workspace]\nmembers = {members:?}\nresolver = \"3\"\n"))
}

fn manifest(name: &str, side: Side, features: &str) -> String {
    let features: Vec<&str> = features.split(',').filter(|feature| !feature.is_empty()).collect();
    let source = side.source();
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies.tokio]\n{source}\n\
         default-features = false\nfeatures = {features:?}\n"
    )
}

/// Documents the facade with these features. Returns the folder of its pages, which has the crate's
/// name.
pub(crate) fn document(side: Side, features: &str, round: Round) -> Result<PathBuf, String> {
    let name = side.package(features);
    let target = round.target_folder().join("api");
    let mut cargo = Command::new(env!("CARGO"));
    // Each facade is built by itself, so that the features of one set don't switch on anything for
    // another.
    cargo.current_dir(folder(round)).args(["doc", "--quiet", "--no-deps", "-p", &name]);
    cargo.env("CARGO_TARGET_DIR", &target).env("RUSTDOCFLAGS", "-A warnings");
    if round == Round::Unstable {
        cargo.env("RUSTFLAGS", round.rustflags());
    }
    let status = cargo.status().map_err(|error| format!("cargo doc: {error}"))?;
    if !status.success() {
        return Err(format!("{side:?} does not compile with the features {features:?}"));
    }
    Ok(target.join("doc").join(name))
}

fn folder(round: Round) -> PathBuf {
    round.folder().join("api")
}
