//! Reads from cargo's configuration and environment the settings for the compiler, and the settings
//! that conflict with gmp.
//!
//! `cargo config get` would answer this but is not stable. This module reads every place that can
//! hold a setting. It repeats cargo's rules of precedence only where a caller needs the one setting
//! that applies.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result};
use toml_edit::{DocumentMut, Item};

use crate::handed_over;
use crate::sources::HOST;

/// A setting and the place where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) text: String,
    pub(crate) place: String,
}

/// All flags for the compiler.
pub(crate) fn flags(from: &Path) -> Result<Vec<Setting>> {
    let mut found = variables(&["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"]);
    found.extend(flags_of_builds(from)?);
    found.extend(flags_of_targets(from)?);
    Ok(found)
}

/// The flags of `build.rustflags`.
pub(crate) fn flags_of_builds(from: &Path) -> Result<Vec<Setting>> {
    let mut found = variables(&["CARGO_BUILD_RUSTFLAGS"]);
    for (path, file) in files(from)? {
        let flags = file.get("build").and_then(|build| build.get("rustflags"));
        found.extend(flags.map(|flags| setting(flags, &path)));
    }
    Ok(found)
}

/// The flags of `target.*.rustflags`, whether or not they apply to this machine.
pub(crate) fn flags_of_targets(from: &Path) -> Result<Vec<Setting>> {
    let mut found = variables_like("CARGO_TARGET_", "_RUSTFLAGS");
    for (path, file) in files(from)? {
        let targets = file.get("target").and_then(Item::as_table_like);
        let flags = targets.into_iter().flat_map(|it| it.iter()).filter_map(|(_, it)| it.get("rustflags"));
        found.extend(flags.map(|flags| setting(flags, &path)));
    }
    Ok(found)
}

/// The configured targets. Empty if cargo builds for this machine.
pub(crate) fn targets(from: &Path) -> Result<Vec<Setting>> {
    let mut found = variables(&["CARGO_BUILD_TARGET"]);
    for (path, file) in files(from)? {
        let target = file.get("build").and_then(|build| build.get("target"));
        found.extend(target.map(|target| setting(target, &path)));
    }
    Ok(found)
}

/// The runners: programs through which cargo starts those that it has built for `target`, or for the
/// configured platforms, or for this machine. What a `cfg(…)` applies to is not looked into.
pub(crate) fn runners(from: &Path, target: Option<&OsStr>) -> Result<Vec<Setting>> {
    let configured = || Some(targets(from).ok()?.first()?.text.clone());
    let platforms = target.map(|target| target.to_string_lossy().into_owned()).or_else(configured);
    let platforms = platforms.unwrap_or_else(|| HOST.to_owned());
    let is_built_for = |key: &str| key.starts_with("cfg(") || platforms.split_whitespace().any(|it| it == key);
    let names: Vec<_> = platforms.split_whitespace().map(handed_over::variable).collect();
    let mut found = variables(&names.iter().map(String::as_str).collect::<Vec<_>>());
    found.retain(|runner| !handed_over::is_own(&runner.text));
    for (path, file) in files(from)? {
        let targets = file.get("target").and_then(Item::as_table_like);
        let targets = targets.into_iter().flat_map(|it| it.iter()).filter(|(key, _)| is_built_for(key));
        found.extend(targets.filter_map(|(_, it)| it.get("runner")).map(|runner| setting(runner, &path)));
    }
    Ok(found)
}

/// The patches of tokio.
pub(crate) fn patches(from: &Path) -> Result<Vec<Setting>> {
    let patch = |file: &DocumentMut| Some(file.get("patch")?.get("crates-io")?.get("tokio")?.clone());
    let found = files(from)?.into_iter().filter_map(|(path, file)| Some(setting(&patch(&file)?, &path)));
    Ok(found.collect())
}

/// The folder that replaces crates.io.
pub(crate) fn vendored(from: &Path) -> Result<Option<Setting>> {
    let files = files(from)?;
    let source = |name: &str, key: &str| {
        let find = |file: &DocumentMut| Some(file.get("source")?.get(name)?.get(key)?.as_str()?.to_owned());
        files.iter().find_map(|(path, file)| Some((find(file)?, path)))
    };
    let (mut name, mut place) = ("crates-io".to_owned(), None);
    // The limit ends sources that replace each other. No user has a chain of eight.
    for _ in 0..8 {
        let Some((next, path)) = source(&name, "replace-with") else { break };
        (name, place) = (next, Some(path.display().to_string()));
    }
    let folder = source(&name, "directory").map(|(folder, _)| folder);
    Ok(folder.zip(place).map(|(text, place)| Setting { text, place }))
}

/// The names in `[unstable]`, each with whether its value is a mere switch.
pub(crate) fn unstable(from: &Path) -> Result<Vec<(Setting, bool)>> {
    let mut found = Vec::new();
    for (path, file) in files(from)? {
        let table = file.get("unstable").and_then(Item::as_table_like);
        for (name, item) in table.into_iter().flat_map(|it| it.iter()) {
            let setting = Setting { text: name.to_owned(), place: path.display().to_string() };
            found.push((setting, item.as_bool().is_some()));
        }
    }
    Ok(found)
}

/// The words of an alias. The variable takes precedence, then the nearest file.
pub(crate) fn alias(from: &Path, name: &str) -> Result<Option<Vec<String>>> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    let variable = format!("CARGO_ALIAS_{}", name.to_uppercase().replace('-', "_"));
    if let Ok(text) = env::var(variable) {
        return Ok(Some(words(&text)));
    }
    let aliases = files(from)?.into_iter().filter_map(|(_, file)| Some(file.get("alias")?.get(name)?.clone()));
    let mut found = aliases.filter_map(|alias| match (alias.as_str(), alias.as_array()) {
        (Some(text), _) => Some(words(text)),
        (_, Some(list)) => Some(list.iter().filter_map(|word| word.as_str()).map(str::to_owned).collect()),
        _ => None,
    });
    Ok(found.next())
}

fn setting(item: &Item, path: &Path) -> Setting {
    let text = match (item.as_str(), item.as_array()) {
        (Some(text), _) => text.to_owned(),
        (_, Some(list)) => list.iter().filter_map(|it| it.as_str()).collect::<Vec<_>>().join(" "),
        _ => item.to_string().trim().to_owned(),
    };
    Setting { text, place: path.display().to_string() }
}

/// The variables whose names begin and end like this.
fn variables_like(begin: &str, end: &str) -> Vec<Setting> {
    let set = env::vars().filter(|(name, _)| name.starts_with(begin) && name.ends_with(end));
    set.map(|(name, text)| Setting { text, place: format!("the variable {name}") }).collect()
}

fn variables(names: &[&str]) -> Vec<Setting> {
    let set = names.iter().filter_map(|name| Some((name, env::var(name).ok()?)));
    set.map(|(name, text)| Setting { text, place: format!("the variable {name}") }).collect()
}

/// Cargo's configuration files: those of `from` and the folders around it, then the user's.
pub(crate) fn files(from: &Path) -> Result<Vec<(PathBuf, DocumentMut)>> {
    let mut folders: Vec<_> = from.ancestors().map(|folder| folder.join(".cargo")).collect();
    folders.extend(env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo"))));
    let mut found: Vec<(PathBuf, DocumentMut)> = Vec::new();
    for path in folders.iter().flat_map(|folder| [folder.join("config"), folder.join("config.toml")]) {
        if found.iter().any(|(known, _)| *known == path) {
            continue;
        }
        if let Ok(text) = fs::read_to_string(&path) {
            let file = text.parse().with_context(|| format!("can't read {}", path.display()))?;
            found.push((path, file));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_found_in_the_folders_around() {
        let top = tempfile::tempdir().unwrap();
        let inner = top.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        fs::create_dir(top.path().join(".cargo")).unwrap();
        let file = top.path().join(".cargo/config.toml");
        let text = "build.target = \"wasm32-wasip1\"\n[build]\n";
        fs::write(&file, text.replace("[build]\n", "") + "[target.'cfg(unix)']\nrustflags = [\"--cfg\", \"x\"]\n")
            .unwrap();

        let place = file.display().to_string();
        assert!(flags(&inner).unwrap().contains(&Setting { text: "--cfg x".to_owned(), place: place.clone() }));
        assert!(targets(&inner).unwrap().contains(&Setting { text: "wasm32-wasip1".to_owned(), place }));
    }
}
