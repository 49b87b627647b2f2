//! Tests of `cargo gmp patch` and `cargo gmp unpatch`.

use crate::support::{Project, fails, succeeds};

#[test]
fn a_patched_project_needs_only_cargo_and_unpatching_restores_it() {
    let project = Project::with_tokio("\"1\"");
    project.lock();
    let before = project.read("Cargo.toml");
    succeeds(&mut project.gmp("patch"));
    let patched = project.read("Cargo.toml");
    assert!(patched.starts_with(&before) && patched.contains("[patch.crates-io]\ntokio = { path = "), "{patched}");

    let tree = succeeds(&mut project.cargo("tree --offline --depth 1"));
    assert!(tree.contains("gmp-tokio)"), "{tree}");
    // With the patch in the manifest, `cargo gmp` works as before, and patching again changes
    // nothing.
    assert!(succeeds(&mut project.gmp("tree --depth 1")).contains("gmp-tokio)"));
    assert!(succeeds(&mut project.gmp("patch")).contains("has the patch already"));
    assert_eq!(project.read("Cargo.toml"), patched);

    succeeds(&mut project.gmp("unpatch"));
    assert_eq!(project.read("Cargo.toml"), before);
    let tree = succeeds(&mut project.cargo("tree --depth 1"));
    assert!(!tree.contains("gmp-tokio)"), "{tree}");
    let error = fails(&mut project.gmp("unpatch"), 101);
    assert!(error.contains("doesn't patch tokio"), "{error}");
}

#[test]
fn somebody_elses_patch_is_left_alone() {
    let project = Project::with_tokio("\"1\"");
    let manifest = project.read("Cargo.toml") + "\n[patch.crates-io]\ntokio = { path = \"mine\" }\n";
    project.write("Cargo.toml", &manifest);
    project.write_own_tokio("mine/");
    for command in ["patch", "tree"] {
        let error = fails(&mut project.gmp(command), 101);
        assert!(error.contains("patches tokio to mine"), "{error}");
    }
    let error = fails(&mut project.gmp("unpatch"), 101);
    assert!(error.contains("patches tokio to mine, which isn't gmp's"), "{error}");
    assert_eq!(project.read("Cargo.toml"), manifest);
}

#[test]
fn what_would_not_work_is_not_written() {
    let project = Project::with_own_tokio();
    let before = project.read("Cargo.toml");
    let error = fails(&mut project.gmp("patch"), 101);
    assert!(error.contains("takes tokio from a folder"), "{error}");
    assert_eq!(project.read("Cargo.toml"), before);
}
