//! Reads the parts of `cargo metadata` that this command uses.
//!
//! The fields are read from the JSON by name. A package with types for all of cargo's metadata
//! would make up most of the cost of installing this command.

use std::path::PathBuf;

use anyhow::{Context, Result};
use semver::{Version, VersionReq};
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Metadata {
    pub(crate) workspace_root: PathBuf,
    pub(crate) target_directory: PathBuf,
    pub(crate) build_directory: PathBuf,
    pub(crate) packages: Vec<Package>,
    /// Empty if cargo was not asked to resolve anything.
    pub(crate) nodes: Vec<Node>,
}

#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: Version,
    pub(crate) manifest: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
}

/// A dependency that a manifest asks for.
#[derive(Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) rename: Option<String>,
    pub(crate) requirement: VersionReq,
    /// As cargo prints sources. `None` for a dependency from a folder.
    pub(crate) source: Option<String>,
}

/// A package of the resolved graph.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) id: String,
    /// The names that the package uses for its dependencies, and their ids.
    pub(crate) dependencies: Vec<(String, String)>,
}

impl Metadata {
    /// Parses cargo's output.
    pub(crate) fn parse(json: &[u8]) -> Result<Self> {
        let value: Value = serde_json::from_slice(json).context("`cargo metadata` says something else than JSON")?;
        let target_directory = PathBuf::from(text(&value, "target_directory")?);
        let build_directory = value["build_directory"].as_str().map(PathBuf::from);
        Ok(Metadata {
            workspace_root: text(&value, "workspace_root")?.into(),
            build_directory: build_directory.unwrap_or_else(|| target_directory.clone()),
            target_directory,
            packages: each(&value["packages"], package)?,
            nodes: each(&value["resolve"]["nodes"], node)?,
        })
    }
}

fn package(value: &Value) -> Result<Package> {
    Ok(Package {
        id: text(value, "id")?,
        name: text(value, "name")?,
        version: text(value, "version")?.parse()?,
        manifest: text(value, "manifest_path")?.into(),
        dependencies: each(&value["dependencies"], dependency)?,
    })
}

fn dependency(value: &Value) -> Result<Dependency> {
    Ok(Dependency {
        name: text(value, "name")?,
        rename: value["rename"].as_str().map(str::to_owned),
        requirement: text(value, "req")?.parse()?,
        source: value["source"].as_str().map(str::to_owned),
    })
}

fn node(value: &Value) -> Result<Node> {
    let dependency = |value: &Value| Ok((text(value, "name")?, text(value, "pkg")?));
    Ok(Node { id: text(value, "id")?, dependencies: each(&value["deps"], dependency)? })
}

fn each<T>(list: &Value, read: impl Fn(&Value) -> Result<T>) -> Result<Vec<T>> {
    list.as_array().into_iter().flatten().map(read).collect()
}

fn text(value: &Value, key: &str) -> Result<String> {
    let text = value[key].as_str().with_context(|| format!("`cargo metadata` doesn't say \"{key}\""))?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::Cargo;

    #[test]
    fn this_cargos_metadata_is_understood() {
        let mut command = Cargo::from_env(true).command();
        command.args(["metadata", "--format-version", "1", "--offline", "--no-deps"]);
        let metadata = Metadata::parse(&command.output().unwrap().stdout).unwrap();
        let own = metadata.packages.iter().find(|package| package.name == "cargo-gmp").unwrap();
        assert!(own.manifest.starts_with(&metadata.workspace_root));
        assert!(own.dependencies.iter().any(|it| it.name == "semver" && it.source.is_some()));
        assert!(metadata.nodes.is_empty());
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = Metadata::parse(b"{}").unwrap_err().to_string();
        assert_eq!(error, "`cargo metadata` doesn't say \"target_directory\"");
    }
}
