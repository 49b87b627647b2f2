//! The tokio that a project gets, and the project's files, which stay unchanged.

use std::fs;

use crate::support::{Project, fails, manifest, repository, succeeds, text};

const DROP_IN: &str = "gmp-tokio)";

#[test]
fn tokio_is_the_drop_in_and_the_project_is_as_it_was() {
    let project = Project::with_tokio("\"1.40\"");
    project.lock();
    let before = (project.read("Cargo.toml"), project.read("Cargo.lock"));
    let tree = succeeds(&mut project.gmp("tree --depth 1"));
    assert!(tree.contains("tokio v1.54.1") && tree.contains(DROP_IN), "{tree}");
    assert_eq!((project.read("Cargo.toml"), project.read("Cargo.lock")), before);
}

#[test]
fn a_project_without_a_lock_file_stays_without_one() {
    let project = Project::with_tokio("\"1\"");
    let tree = succeeds(&mut project.gmp("tree --depth 1"));
    assert!(tree.contains(DROP_IN), "{tree}");
    assert!(!project.path("Cargo.lock").exists());
    assert!(project.path("target/CACHEDIR.TAG").exists(), "as in every target directory");
}

/// Writes a cargo that logs its arguments, and whose `update` fails without `--offline`.
fn write_offline_cargo(project: &Project) {
    let fails = "*--offline*) ;; update*) echo 'error: no network' >&2; exit 101;;";
    let log = project.path("log");
    let script = format!(
        "#!/bin/sh\necho \"$*\" >> '{}'\ncase \"$*\" in {fails} esac\nexec '{}' \"$@\"\n",
        log.display(),
        env!("CARGO")
    );
    project.write_script("bin/cargo", &script);
}

#[test]
fn without_a_lock_file_the_network_is_asked_first_as_cargo_does() {
    let project = Project::with_tokio("\"1\"");
    write_offline_cargo(&project);
    let asked = |line: &str| {
        let _ = fs::remove_file(project.path("log"));
        let output = project.gmp(line).env("CARGO", project.path("bin/cargo")).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        let updates: Vec<_> =
            project.read("log").lines().filter(|line| line.starts_with("update")).map(str::to_owned).collect();
        (updates.first().cloned(), text(&output.stderr))
    };
    let (first, said) = asked("tree");
    assert!(first.is_some_and(|first| !first.contains("--offline")));
    assert!(said.contains("note: only what was downloaded before is looked at"), "{said}");
    let (first, said) = asked("tree --offline");
    assert!(first.is_some_and(|first| first.contains("--offline")) && !said.contains("note"), "{said}");

    project.lock();
    let (first, _) = asked("tree");
    assert!(
        first.is_some_and(|first| first.contains("--offline")),
        "a lock file of this very project needs no network"
    );
    project.write("Cargo.toml", &manifest("app", "tokio = \"1\"\nslab = \"0.4\""));
    let (first, _) = asked("tree");
    assert!(first.is_some_and(|first| first.contains("--offline")), "whether the lock file is current");
    let log = project.read("log");
    let ours = log.lines().find(|line| line.starts_with("update") && line.contains("lockfile-path")).unwrap();
    assert!(!ours.contains("--offline"), "{ours}");
}

#[test]
fn a_change_of_the_project_is_seen_by_the_next_command() {
    let project = Project::with_tokio("\"1\"");
    project.lock();
    succeeds(&mut project.gmp("tree"));
    project.write("Cargo.toml", &manifest("app", "tokio = \"1\"\nslab = \"0.4\""));
    let before = project.read("Cargo.lock");
    let tree = succeeds(&mut project.gmp("tree --depth 1"));
    assert!(tree.contains(DROP_IN) && tree.contains("slab v0.4"), "{tree}");
    assert_eq!(project.read("Cargo.lock"), before);
}

#[test]
fn a_lock_file_that_names_another_version_keeps_it_and_everything_else_keeps_its_own() {
    let project = Project::with_tokio("\"1.40\"\nslab = \"0.4\"");
    project.lock();
    succeeds(&mut project.cargo("update tokio --precise 1.47.1"));
    succeeds(&mut project.cargo("update slab --precise 0.4.11"));
    let before = project.read("Cargo.lock");
    let tree = succeeds(&mut project.gmp("tree --depth 1"));
    assert!(tree.contains("tokio v1.54.1") && tree.contains(DROP_IN) && tree.contains("slab v0.4.11"), "{tree}");
    assert_eq!(project.read("Cargo.lock"), before);
}

#[test]
fn a_requirement_that_is_not_met_is_named_with_its_crate() {
    let project = Project::with_tokio("\">=1.40, <1.50\"");
    let error = fails(&mut project.gmp("tree"), 101);
    let expected = "`app 0.1.0` requires tokio `>=1.40, <1.50`, which gmp's tokio 1.54.1 doesn't meet";
    assert!(error.contains(expected), "{error}");
    assert!(!project.path("Cargo.lock").exists());
}

#[test]
fn tokio_from_a_folder_is_refused() {
    let project = Project::with_own_tokio();
    let error = fails(&mut project.gmp("tree"), 101);
    assert!(error.contains("`app 0.1.0` takes tokio from a folder"), "{error}");
}

#[test]
fn tokio_from_git_is_refused() {
    let fork = Project::with_tokio("\"1\"");
    fork.write_own_tokio("");
    let settings = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false"];
    for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "A fork"]] {
        let mut git = std::process::Command::new("git");
        // git sets these variables for its hooks, which may run these tests.
        git.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE").env_remove("GIT_INDEX_FILE");
        succeeds(git.args(settings).args(arguments).current_dir(fork.path("")));
    }
    let url = format!("file://{}", fork.path("").display());
    let project = Project::with_tokio(&format!("{{ git = \"{url}\" }}"));
    let error = fails(&mut project.gmp("tree"), 101);
    assert!(error.contains("`app 0.1.0` takes tokio from git (file://"), "{error}");
}

#[test]
fn members_are_found_from_a_subfolder_and_by_manifest_path() {
    let project = Project::with_tokio("\"1\"");
    project.write("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\nresolver = \"3\"\n");
    for member in ["a", "b"] {
        project.write(&format!("{member}/Cargo.toml"), &manifest(member, "tokio = \"1\""));
        project.write(&format!("{member}/src/main.rs"), "fn main() {}\n");
    }
    project.lock();
    let before = project.read("Cargo.lock");
    let tree = succeeds(&mut project.gmp("tree -p b --depth 1"));
    assert!(tree.starts_with("b v0.1.0") && tree.contains(DROP_IN), "{tree}");
    let tree = succeeds(project.gmp("tree --depth 1").current_dir(project.path("a/src")));
    assert!(tree.starts_with("a v0.1.0") && tree.contains(DROP_IN), "{tree}");
    let manifest = project.path("b/Cargo.toml").display().to_string();
    let elsewhere = Project::with_tokio("\"1\"");
    let tree = succeeds(&mut elsewhere.gmp(&format!("tree --depth 1 --manifest-path {manifest}")));
    assert!(tree.starts_with("b v0.1.0") && tree.contains(DROP_IN), "{tree}");
    assert_eq!(project.read("Cargo.lock"), before);
    let entries: Vec<_> = fs::read_dir(project.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(entries.len(), 6, "Cargo.toml, Cargo.lock, a, b, src and target: {entries:?}");
}

#[test]
fn locked_is_about_the_users_lock_file() {
    let project = Project::with_tokio("\"1\"");
    let error = fails(&mut project.gmp("tree --locked"), 101);
    assert!(error.contains("--locked: Cargo.lock is missing or out of date"), "{error}");

    project.lock();
    assert!(succeeds(&mut project.gmp("tree --locked")).contains(DROP_IN));
    assert!(succeeds(&mut project.gmp("tree --frozen")).contains(DROP_IN));

    project.write("Cargo.toml", &manifest("app", "tokio = \"1\"\nslab = \"0.4\""));
    let error = fails(&mut project.gmp("tree --locked"), 101);
    assert!(error.contains("--locked: Cargo.lock is missing or out of date"), "{error}");
}

#[test]
fn wrong_sources_are_named() {
    let project = Project::with_tokio("\"1\"");
    let error = fails(project.gmp("tree").env("GMP_SOURCES", project.path("")), 101);
    assert!(error.contains("GMP_SOURCES is ") && error.contains("not a checkout of gmp"), "{error}");
    let error = fails(&mut project.gmp("frobnicate"), 101);
    assert!(error.contains("unknown subcommand `frobnicate`"), "{error}");
    // In a checkout, the checkout's own sources are used.
    let mut in_checkout = project.gmp("generate");
    let answer = succeeds(in_checkout.env_remove("GMP_SOURCES").current_dir(repository().join("gmp-exec/src")));
    assert!(answer.contains(&repository().join("gmp-tokio/tokio-real").display().to_string()), "{answer}");
}
