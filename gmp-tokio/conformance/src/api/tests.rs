//! Compares small crates, as rustdoc shows them.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::difference::{Change, Difference, find};
use super::facade::FACADE;
use super::{Api, read};

/// A folder. Dropping this removes the folder.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The public items of a source, through a facade, as in the comparison.
fn api(name: &str, source: &str) -> Api {
    let folder = Folder(std::env::temp_dir().join(format!("gmp-conformance-{}-{name}", std::process::id())));
    std::fs::create_dir_all(&folder.0).unwrap();
    std::fs::write(folder.0.join("source.rs"), source).unwrap();
    std::fs::write(folder.0.join("facade.rs"), FACADE).unwrap();
    let run = |tool: &str, arguments: &[&str]| {
        let mut command = Command::new(Path::new(env!("CARGO")).with_file_name(tool));
        command.current_dir(&folder.0).args(["--edition", "2024", "-A", "warnings"]).args(arguments);
        assert!(command.status().unwrap().success(), "{tool} fails");
    };
    run("rustc", &["--crate-name", "tokio", "--crate-type", "lib", "--emit", "metadata", "source.rs"]);
    run("rustdoc", &["--crate-name", name, "--extern", "tokio=libtokio.rmeta", "-o", "doc", "facade.rs"]);
    read(&folder.0.join("doc").join(name)).unwrap()
}

fn differences(name: &str, tokio: &str, ours: &str) -> Vec<Difference> {
    find(&api(&format!("tokio_{name}"), tokio), &api(&format!("ours_{name}"), ours))
}

/// `- name` for a missing item, `! name` for a different one, `+ name` for an added one.
fn names(differences: &[Difference]) -> Vec<String> {
    let sign = |change: &Change| match change {
        Change::Missing => '-',
        Change::Other { .. } => '!',
        Change::Added => '+',
    };
    differences.iter().map(|Difference { name, change }| format!("{} {name}", sign(change))).collect()
}

#[test]
fn every_fault_is_found() {
    let found = differences("faults", include_str!("tests/tokio.rs"), include_str!("tests/faults.rs"));
    let expected: Vec<&str> = include_str!("tests/faults.txt").lines().collect();
    assert_eq!(names(&found), expected);
}

#[test]
fn what_callers_cannot_tell_apart_is_the_same() {
    let found = differences("same", include_str!("tests/tokio.rs"), include_str!("tests/same.rs"));
    assert_eq!(found, []);
}

#[test]
fn a_difference_says_what_was_expected_and_what_was_found() {
    let found = differences("text", "pub fn f(_: u32) {}", "pub fn f(_: u64) -> bool { true }");
    let [difference] = &found[..] else { panic!("{found:?}") };
    assert_eq!(difference.to_string(), "different: fn.f\n  tokio: fn f<>(u32) -> ()\n  ours:  fn f<>(u64) -> bool");
}

#[test]
fn everything_of_the_fixture_is_understood() {
    // A declaration that can't be parsed would be compared as rustdoc writes it, including `pub`,
    // and could seem to differ although it doesn't.
    let api = api("understood", include_str!("tests/tokio.rs"));
    let texts = api.iter().filter(|(name, _)| !name.starts_with("macro.")).flat_map(|(_, texts)| texts);
    for text in texts {
        assert!(!text.starts_with("pub fn") && !text.starts_with("impl<"), "{text}");
    }
}
