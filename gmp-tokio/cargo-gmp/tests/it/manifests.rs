//! gmp-io is one source with two manifests. They may differ in the source of tokio and in nothing
//! else.

use std::collections::BTreeMap;
use std::fs;

use toml_edit::{DocumentMut, Item};

use crate::support::repository;

fn parse(name: &str) -> DocumentMut {
    fs::read_to_string(repository().join(name)).unwrap().parse().unwrap()
}

/// A dependency's requirement, written out or inherited from the workspace.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    version: Option<String>,
    features: Vec<String>,
    default_features: bool,
    optional: bool,
}

fn asked(dependency: &Item, workspace: &Item, name: &str) -> Asked {
    let is_inherited = dependency.get("workspace").is_some();
    let base = if is_inherited { &workspace[name] } else { dependency };
    let features = |item: &Item| -> Vec<String> {
        let list = item.get("features").and_then(Item::as_array);
        list.into_iter().flatten().map(|it| it.as_str().unwrap().to_owned()).collect()
    };
    let mut all = features(base);
    if is_inherited {
        all.extend(features(dependency));
    }
    Asked {
        version: base.as_str().or_else(|| base.get("version")?.as_str()).map(str::to_owned),
        features: sorted(all),
        default_features: base.get("default-features").and_then(Item::as_bool).unwrap_or(true),
        optional: dependency.get("optional").and_then(Item::as_bool).unwrap_or(false),
    }
}

fn dependencies(manifest: &DocumentMut, workspace: &Item) -> BTreeMap<String, Asked> {
    let all = manifest["dependencies"].as_table().unwrap().iter();
    let all = all.map(|(name, dependency)| (name.to_owned(), asked(dependency, workspace, name)));
    all.filter(|(_, asked)| !asked.optional).collect()
}

#[test]
fn both_manifests_of_gmp_io_agree() {
    let workspace = parse("Cargo.toml")["workspace"]["dependencies"].clone();
    let (native, under_patch) = (parse("gmp-io/Cargo.toml"), parse("gmp-tokio/io/Cargo.toml"));
    let mut expected = dependencies(&native, &workspace);
    let mut found = dependencies(&under_patch, &workspace);
    // Packages of this repository are taken by path, and tokio is the intended difference.
    for dependencies in [&mut expected, &mut found] {
        dependencies.remove("gmp-exec").expect("an executor");
    }
    let (native_tokio, real) = (expected.remove("tokio").unwrap(), found.remove("tokio").unwrap());
    assert_eq!((native_tokio.features, native_tokio.default_features), (real.features, real.default_features));
    assert_eq!(under_patch["dependencies"]["tokio"]["package"].as_str(), Some("tokio-real"));
    assert_eq!(expected, found);
    assert!(native.get("target").is_none() && under_patch.get("target").is_none(), "not compared here");
    // The adapters are for programs that use gmp-io directly. Some adapters depend on tokio, which
    // would be the drop-in here.
    assert!(under_patch.get("features").is_none());
    let adapters: Vec<_> = native["features"].as_table().unwrap().iter().map(|(name, _)| format!("{name:?}")).collect();
    let absent = format!("cfg(feature, values({}))", sorted(adapters).join(", "));
    let known = under_patch["lints"]["rust"]["unexpected_cfgs"]["check-cfg"].as_array().unwrap();
    assert!(known.iter().any(|it| it.as_str() == Some(&absent)), "not in check-cfg: {absent}");
}

#[test]
fn both_manifests_of_gmp_io_name_the_same_source() {
    let under_patch = parse("gmp-tokio/io/Cargo.toml");
    let source = repository().join("gmp-tokio/io").join(under_patch["lib"]["path"].as_str().unwrap());
    assert_eq!(source.canonicalize().unwrap(), repository().join("gmp-io/src/lib.rs"));
    assert!(parse("gmp-io/Cargo.toml").get("lib").is_none());
    let package = &parse("Cargo.toml")["workspace"]["package"];
    for key in ["version", "edition", "rust-version"] {
        assert_eq!(under_patch["package"][key].as_str(), package[key].as_str(), "{key}");
    }
}

fn sorted(mut list: Vec<String>) -> Vec<String> {
    list.sort();
    list
}
