//! Programs whose lock file is years old. Each lock file has the newest versions of June of its
//! year.

use std::collections::BTreeMap;
use std::fs;

use toml_edit::DocumentMut;

use crate::support::{Project, fails, manifest, repository, shared, succeeds, text};

/// The program with the lock file of that year.
fn of(year: &str) -> Project {
    let read =
        |name: &str| fs::read_to_string(repository().join("gmp-tokio/cargo-gmp/tests/locks").join(name)).unwrap();
    let project = Project::with_tokio("\"1\"");
    project.write("Cargo.toml", &read("program.toml").replace("NAME", &format!("of-{year}")));
    project.write("Cargo.lock", &read(&format!("{year}.lock")));
    project.write("src/main.rs", &read("program.rs"));
    project
}

/// Maps each package's name and range of compatible versions to its version.
fn versions(lock: &str) -> BTreeMap<(String, String), String> {
    let lock: DocumentMut = lock.parse().unwrap();
    let of_a_registry = lock["package"].as_array_of_tables().unwrap().iter().filter(|it| it.contains_key("source"));
    let entry = |package: &toml_edit::Table| {
        let text = |key: &str| package[key].as_str().unwrap().to_owned();
        let version = text("version");
        let numbers: Vec<_> = version.split('.').collect();
        let line = if numbers[0] == "0" { numbers[..2].join(".") } else { numbers[0].to_owned() };
        ((text("name"), line), version)
    };
    of_a_registry.map(entry).collect()
}

/// The packages with another version, without tokio's own two.
fn moved(before: &str, after: &str) -> Vec<String> {
    let after = versions(after);
    let kept = versions(before).into_iter().filter(|((name, _), _)| !name.starts_with("tokio") || name == "tokio-util");
    let moved = kept.filter_map(|(line, from)| {
        let to = after.get(&line).filter(|to| **to != from)?;
        Some(format!("{} {from} -> {to}", line.0))
    });
    moved.collect()
}

/// Checks that only `expected` has moved, and that the notes say so.
#[track_caller]
fn moves(project: &Project, expected: &[&str]) {
    let metadata = project.gmp("metadata --locked --format-version 1").output().unwrap();
    let said = text(&metadata.stderr);
    assert!(metadata.status.success(), "{said}");
    let notes: Vec<_> = said.lines().filter_map(|line| line.strip_prefix("note: ")).collect();
    let lines: Vec<_> = expected.iter().map(|moved| format!("{moved}: gmp needs it")).collect();
    assert_eq!(notes, lines);
    assert_eq!(moved(&project.read("Cargo.lock"), &gmps_lock(project)), expected);
}

fn gmps_lock(project: &Project) -> String {
    let folder = fs::read_dir(project.path("target/gmp/lock")).unwrap().next().unwrap().unwrap().path();
    fs::read_to_string(folder.join("Cargo.lock")).unwrap()
}

#[test]
fn a_lock_file_of_2023() {
    let project = of("2023");
    let before = project.read("Cargo.lock");
    moves(&project, &["libc 0.2.146 -> 0.2.172", "pin-project-lite 0.2.9 -> 0.2.12"]);
    let said = succeeds(&mut shared(project.gmp("run --quiet --locked")));
    assert_eq!(said, "an old lock file on gmp_exec::runtime::runtime::Runtime\n");
    assert_eq!(project.read("Cargo.lock"), before);
}

#[test]
fn a_lock_file_of_2024() {
    let project = of("2024");
    moves(&project, &["libc 0.2.155 -> 0.2.172"]);
    succeeds(&mut shared(project.gmp("check --quiet --locked")));
}

#[test]
fn a_lock_file_of_2025_needs_no_move() {
    let project = of("2025");
    moves(&project, &[]);
    succeeds(&mut shared(project.gmp("check --quiet --locked")));
}

#[test]
fn nothing_of_gmps_models_and_tests_is_in_the_graph() {
    let project = of("2025");
    succeeds(&mut project.gmp("metadata --format-version 1"));
    let lock = gmps_lock(&project);
    for name in ["loom", "shuttle", "gmp-macros", "generator", "rand"] {
        assert!(!lock.contains(&format!("name = \"{name}\"\n")), "{name} is in {lock}");
    }
}

#[test]
fn what_a_package_asks_of_another_tokio_is_no_demand_on_this_one() {
    let project = Project::with_tokio("\">=1.40, <1.50\"\nboth = { path = \"both\" }");
    let tokios = "tokio = \"1\"\nold = { package = \"tokio\", version = \"0.2\", optional = true }";
    project.write("both/Cargo.toml", &manifest("both", tokios));
    project.write("both/src/lib.rs", "");
    let error = fails(&mut project.gmp("tree"), 101);
    let expected = "error: `app 0.1.0` requires tokio `>=1.40, <1.50`, which gmp's tokio 1.54.1 doesn't meet";
    assert!(error.contains(expected) && !error.contains("both"), "{error}");
}
