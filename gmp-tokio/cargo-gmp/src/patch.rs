//! `cargo gmp patch` and `cargo gmp unpatch`: write the drop-in into the manifest, and remove it.
//!
//! Only the one entry changes; the comments and the formatting around it stay. Cargo.lock has to be
//! updated too, because cargo does not use a patch for a version that the lock file doesn't name.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use toml_edit::{DocumentMut, InlineTable, Item, Table, Value, value};

use crate::arguments::Arguments;
use crate::cargo::Cargo;
use crate::project::Project;
use crate::run;
use crate::sources::path_text;
use crate::tokio_real::VERSION;
use crate::tokios::Tokios;

/// Writes the patch, and updates Cargo.lock for it.
pub(crate) fn patch(arguments: &Arguments) -> Result<()> {
    let cargo = Cargo::from_env(arguments.offline);
    let project = Project::find(&cargo, arguments)?;
    // Finds conflicting settings before anything is written.
    let patched = run::patched(&cargo, &project, arguments)?;
    let drop_in = patched.drop_in();

    let root = project.root_manifest();
    let mut manifest = read(&root)?;
    if current(&manifest).is_some() {
        println!("{} has the patch already", root.display());
    } else {
        insert(&mut manifest, path_text(drop_in)?);
        fs::write(&root, manifest.to_string()).with_context(|| format!("can't write {}", root.display()))?;
        println!("{} patches tokio to {}", root.display(), drop_in.display());
    }
    follow(&cargo, &project)
}

/// Removes the patch, if it is the drop-in's.
pub(crate) fn unpatch(arguments: &Arguments) -> Result<()> {
    let cargo = Cargo::from_env(arguments.offline);
    let project = Project::find(&cargo, arguments)?;
    let root = project.root_manifest();
    let mut manifest = read(&root)?;
    match current(&manifest) {
        None => bail!("{} doesn't patch tokio", root.display()),
        Some(path) if !is_drop_in(&path) => bail!("{} patches tokio to {path}, which isn't gmp's", root.display()),
        Some(_) => remove(&mut manifest),
    }
    fs::write(&root, manifest.to_string()).with_context(|| format!("can't write {}", root.display()))?;
    println!("{} has crates.io's tokio again; Cargo.lock follows with the next cargo command", root.display());
    Ok(())
}

/// The source to which the manifest patches tokio.
pub(crate) fn current(manifest: &DocumentMut) -> Option<String> {
    let entry = manifest.get("patch")?.get("crates-io")?.get("tokio")?;
    let place = ["path", "git"].iter().find_map(|key| entry.get(key)?.as_str());
    Some(place.unwrap_or("another version").to_owned())
}

fn is_drop_in(path: &str) -> bool {
    // By the folder's name, not by its content: the sources may have been removed.
    Path::new(path).file_name().is_some_and(|name| name == "gmp-tokio")
}

fn insert(manifest: &mut DocumentMut, path: &str) {
    let mut implicit = Table::new();
    implicit.set_implicit(true);
    let patches = manifest.entry("patch").or_insert(Item::Table(implicit));
    let crates = patches.as_table_like_mut().map(|it| it.entry("crates-io").or_insert(Item::Table(Table::new())));
    let mut entry = InlineTable::new();
    entry.insert("path", Value::from(path));
    if let Some(crates) = crates.and_then(Item::as_table_like_mut) {
        crates.insert("tokio", value(entry));
    }
}

/// Removes the entry, and the tables that would be left empty.
fn remove(manifest: &mut DocumentMut) {
    let Some(patches) = manifest.get_mut("patch").and_then(Item::as_table_like_mut) else { return };
    let Some(crates) = patches.get_mut("crates-io").and_then(Item::as_table_like_mut) else { return };
    crates.remove("tokio");
    if crates.is_empty() {
        patches.remove("crates-io");
    }
    if patches.is_empty() {
        manifest.remove("patch");
    }
}

fn read(manifest: &Path) -> Result<DocumentMut> {
    let text = fs::read_to_string(manifest).with_context(|| format!("can't read {}", manifest.display()))?;
    text.parse().with_context(|| format!("can't read {}", manifest.display()))
}

fn follow(cargo: &Cargo, project: &Project) -> Result<()> {
    let lock = project.lock_file();
    let Ok(text) = fs::read_to_string(&lock) else { return Ok(()) };
    let tokios = Tokios::read(&text)?;
    let Some((locked, source)) = tokios.to_replace() else { return Ok(()) };
    let package = format!("{source}#tokio@{}", locked.version);
    let root = project.root_manifest();
    cargo.run_offline_first(&["update", &package, "--precise", VERSION, "--manifest-path", path_text(&root)?])?;
    println!("{} has tokio {VERSION} (it had {})", lock.display(), locked.version);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "# An application.\n[package]\nname = \"app\" # for now\n\n[dependencies]\ntokio = \"1\"\n";

    fn parse(text: &str) -> DocumentMut {
        text.parse().unwrap()
    }

    #[test]
    fn what_was_there_stays_and_comes_back_byte_for_byte() {
        let mut manifest = parse(MANIFEST);
        insert(&mut manifest, "/cache/gmp-tokio");
        let patched = manifest.to_string();
        assert!(patched.starts_with(MANIFEST), "{patched}");
        assert!(patched.contains("[patch.crates-io]\ntokio = { path = \"/cache/gmp-tokio\" }"), "{patched}");

        let mut manifest = parse(&patched);
        assert_eq!(current(&manifest).as_deref(), Some("/cache/gmp-tokio"));
        remove(&mut manifest);
        assert_eq!(manifest.to_string(), MANIFEST);
    }

    #[test]
    fn other_patches_are_left_alone() {
        let text = format!("{MANIFEST}\n[patch.crates-io]\n# ours\nbytes = {{ path = \"../bytes\" }}\n");
        let mut manifest = parse(&text);
        insert(&mut manifest, "/cache/gmp-tokio");
        assert!(manifest.to_string().starts_with(&text));
        remove(&mut manifest);
        assert_eq!(manifest.to_string(), text);
    }

    #[test]
    fn a_patch_of_somebody_elses_is_told_apart() {
        assert!(is_drop_in("/cache/gmp-tokio"));
        assert!(!is_drop_in("../tokio"));
        let fork = parse("[patch.crates-io]\ntokio = { git = \"https://example.org/fork\" }\n");
        assert_eq!(current(&fork).as_deref(), Some("https://example.org/fork"));
        assert_eq!(current(&parse(MANIFEST)), None);
    }
}
