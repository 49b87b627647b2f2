//! Tests of the sources that the binary carries, and of the package generated in them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Project, fails, succeeds, text};

/// The installed command, outside any checkout.
fn installed(project: &Project, line: &str, cache: &Path) -> Command {
    let mut command = project.gmp(line);
    command.env_remove("GMP_SOURCES").env("XDG_CACHE_HOME", cache);
    command
}

#[test]
fn an_installed_command_needs_no_checkout() {
    let project = Project::with_tokio("\"1\"");
    let cache = project.path("cache");
    let tree = succeeds(&mut installed(&project, "tree --depth 1", &cache));
    assert!(tree.contains(&format!("({}/gmp/", cache.display())), "{tree}");
    // From here on, the commands must work without the network.
    let other = Project::with_tokio("{ version = \"1\", features = [\"full\"] }");
    let tree = succeeds(&mut installed(&other, "tree --offline", &cache));
    assert!(tree.contains("gmp-io"), "{tree}");
}

#[test]
fn generating_twice_at_the_same_time_makes_one() {
    let project = Project::with_tokio("\"1\"");
    let cache = project.path("cache");
    let start = || installed(&project, "generate", &cache).stdout(Stdio::piped()).spawn().unwrap();
    let both = [start(), start(), start()];
    let answers: Vec<_> = both.map(|child| child.wait_with_output().unwrap()).into();
    let made = answers.iter().filter(|it| String::from_utf8_lossy(&it.stdout).contains("made from tokio 1.54.1"));
    assert_eq!(made.count(), 1, "{answers:?}");
    assert!(answers.iter().all(|it| it.status.success()), "{answers:?}");

    let contents = fs::read_dir(cache.join("gmp")).unwrap().map(|entry| entry.unwrap().path()).find(|it| it.is_dir());
    let drop_in = contents.unwrap().join("gmp-tokio");
    let mut names: Vec<_> = fs::read_dir(&drop_in).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, [".tokio-real.lock", "Cargo.toml", "io", "src", "tokio-real"]);
    let context = fs::read_to_string(drop_in.join("tokio-real/src/runtime/context.rs")).unwrap();
    assert!(context.contains("gmp_exec::bridge::budget()"));
    assert!(!drop_in.join("tokio-real/tests").exists());
}

#[test]
fn a_checkout_around_is_used_if_nobody_else_can_write_to_it_and_it_is_said() {
    let project = Project::with_tokio("\"1\"");
    for folder in ["gmp-tokio", "gmp-exec"] {
        project.write(&format!("{folder}/Cargo.toml"), "");
    }
    project.write("inner/a", "");
    let generated = |mode: u32, expected: &str| {
        fs::set_permissions(project.path(""), fs::Permissions::from_mode(mode)).unwrap();
        let mut command = installed(&project, "generate", &project.path("cache"));
        let output = command.current_dir(project.path("inner")).output().unwrap();
        let said = text(&output.stderr);
        assert!(output.status.success() && said.starts_with(expected), "{said}");
        project.path("gmp-tokio/tokio-real").exists()
    };
    assert!(!generated(0o777, "note: the checkout of gmp in "));
    assert!(generated(0o755, "note: gmp's sources are those around this folder, in "));
}

#[test]
fn a_checkout_with_another_generator_is_refused() {
    let project = Project::with_tokio("\"1\"");
    for folder in ["gmp-tokio", "gmp-exec"] {
        project.write(&format!("{folder}/Cargo.toml"), "");
    }
    project.write("gmp-tokio/cargo-gmp/src/tokio_real/edits.rs", "");
    let mut command = project.gmp("generate");
    command.env("GMP_SOURCES", project.path(""));
    let error = fails(&mut command, 101);
    let expected = "gmp-tokio/cargo-gmp/src/tokio_real/edits.rs: install it again with `cargo install --path ";
    assert!(error.contains(expected), "{error}");
    assert!(!project.path("gmp-tokio/tokio-real").exists());
}

/// The folder's entries without the lock files.
fn contents(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !name.ends_with(".lock")).collect()
}

#[test]
fn what_an_interrupted_generation_left_goes_away_with_the_next() {
    let project = Project::with_tokio("\"1\"");
    let cache = project.path("cache");
    project.write("cache/gmp/.tmpabcdef/gmp-exec/Cargo.toml", "");
    succeeds(&mut installed(&project, "generate", &cache));
    let [sources] = &contents(&cache.join("gmp"))[..] else { panic!("{:?}", contents(&cache.join("gmp"))) };
    let drop_in = cache.join("gmp").join(sources).join("gmp-tokio");
    fs::remove_file(drop_in.join("tokio-real/.generated")).unwrap();
    for left in [".tokio-real-abcdef", ".tokio-real-abcdef.outdated"] {
        fs::create_dir(drop_in.join(left)).unwrap();
    }
    succeeds(&mut installed(&project, "generate", &cache));
    assert!(!contents(&drop_in).iter().any(|name| name.starts_with(".tokio-real")), "{:?}", contents(&drop_in));
}

/// Permissions don't stop root from writing, so this test checks that the lock files are not even
/// opened.
#[test]
fn what_is_generated_already_is_not_written_to() {
    let project = Project::with_tokio("\"1\"");
    let cache = project.path("cache");
    succeeds(&mut installed(&project, "generate", &cache));
    let sources = cache.join("gmp").join(contents(&cache.join("gmp")).iter().find(|name| name.len() == 16).unwrap());
    fs::remove_file(cache.join("gmp/.lock")).unwrap();
    fs::remove_file(sources.join("gmp-tokio/.tokio-real.lock")).unwrap();
    succeeds(&mut installed(&project, "generate", &cache));
    assert!(!cache.join("gmp/.lock").exists() && !sources.join("gmp-tokio/.tokio-real.lock").exists());
}
