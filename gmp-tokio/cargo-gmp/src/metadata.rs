//! Reads the parts of `cargo metadata` that this command uses.
//!
//! The fields are read from the JSON by name. A package with types for all of cargo's metadata
//! would make up most of the cost of installing this command, and serde_json a fifth of it.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::{Context, Error, Result};
use semver::{Version, VersionReq};
use tinyjson::JsonValue;

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
        let value: JsonValue = str::from_utf8(json)
            .map_err(Error::from)
            .and_then(|json| Ok(json.parse()?))
            .context("`cargo metadata` says something else than JSON")?;
        let target_directory = PathBuf::from(text(&value, "target_directory")?);
        let build_directory = text_if_any(&value, "build_directory").map(PathBuf::from);
        Ok(Metadata {
            workspace_root: text(&value, "workspace_root")?.into(),
            build_directory: build_directory.unwrap_or_else(|| target_directory.clone()),
            target_directory,
            packages: each(&value, "packages", package)?,
            nodes: field(&value, "resolve").map_or(Ok(Vec::new()), |resolve| each(resolve, "nodes", node))?,
        })
    }
}

fn package(value: &JsonValue) -> Result<Package> {
    Ok(Package {
        id: text(value, "id")?,
        name: text(value, "name")?,
        version: text(value, "version")?.parse()?,
        manifest: text(value, "manifest_path")?.into(),
        dependencies: each(value, "dependencies", dependency)?,
    })
}

fn dependency(value: &JsonValue) -> Result<Dependency> {
    Ok(Dependency {
        name: text(value, "name")?,
        rename: text_if_any(value, "rename"),
        requirement: text(value, "req")?.parse()?,
        source: text_if_any(value, "source"),
    })
}

fn node(value: &JsonValue) -> Result<Node> {
    let dependency = |value: &JsonValue| Ok((text(value, "name")?, text(value, "pkg")?));
    Ok(Node { id: text(value, "id")?, dependencies: each(value, "deps", dependency)? })
}

fn each<T>(value: &JsonValue, key: &str, read: impl Fn(&JsonValue) -> Result<T>) -> Result<Vec<T>> {
    let list = field(value, key).and_then(JsonValue::get::<Vec<JsonValue>>);
    list.into_iter().flatten().map(read).collect()
}

fn text(value: &JsonValue, key: &str) -> Result<String> {
    text_if_any(value, key).with_context(|| format!("`cargo metadata` doesn't say \"{key}\""))
}

fn text_if_any(value: &JsonValue, key: &str) -> Option<String> {
    field(value, key)?.get::<String>().cloned()
}

fn field<'a>(value: &'a JsonValue, key: &str) -> Option<&'a JsonValue> {
    value.get::<HashMap<String, JsonValue>>()?.get(key)
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

    #[test]
    fn what_is_no_json_is_said() {
        for json in [&b"error: no such command"[..], b"{\"workspace_root\": \"\xff\"}"] {
            let error = Metadata::parse(json).unwrap_err().to_string();
            assert_eq!(error, "`cargo metadata` says something else than JSON");
        }
    }
}
