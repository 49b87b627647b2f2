//! Projects whose configuration conflicts with gmp.

use crate::support::{Project, fails, manifest, program, shared, succeeds, text};

#[test]
fn a_patch_of_tokio_in_the_configuration_is_named() {
    let project = Project::with_tokio("\"1\"");
    project.write(".cargo/config.toml", "[patch.crates-io]\ntokio = { path = \"mine\" }\n");
    project.write_own_tokio("mine/");
    let error = fails(&mut project.gmp("tree"), 101);
    assert!(error.contains("config.toml patches tokio; `cargo gmp` needs that place"), "{error}");
}

#[test]
fn a_target_that_gmp_does_not_run_on_is_refused_before_anything_is_compiled() {
    let project = Project::with_tokio("\"1\"");
    let error = fails(&mut project.gmp("build --target x86_64-pc-windows-msvc"), 101);
    assert_eq!(error, "error: gmp runs on Linux and other Unix, not on x86_64-pc-windows-msvc\n");
    project.write(".cargo/config.toml", "build.target = \"x86_64-unknown-linux-musl\"\n");
    let error = fails(&mut project.gmp("test --seeds 1"), 101);
    assert_eq!(error, "error: seeded runs need Linux with glibc, not x86_64-unknown-linux-musl\n");
}

#[test]
fn an_unstable_setting_stays_without_effect() {
    let project = program("stable", "fn main() {}");
    // A stable compiler would report an error for the second option.
    project.write(".cargo/config.toml", "[unstable]\nmsrv-policy = true\npanic-abort-tests = true\n");
    project.write("tests/it.rs", "const _: () = assert!(cfg!(panic = \"unwind\"));\n");
    succeeds(&mut shared(project.gmp("check --quiet --config profile.dev.panic=\"abort\" --test it")));

    project.write(".cargo/config.toml", "[unstable]\nbuild-std = [\"std\"]\n");
    let error = fails(&mut shared(project.gmp("check")), 101);
    assert!(error.contains("`unstable.build-std` in ") && error.contains("would be obeyed"), "{error}");
}

#[test]
fn a_cargo_that_is_too_old_is_refused_before_anything_else() {
    let project = Project::with_tokio("\"1\"");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in --version) echo 'cargo 1.85.1 (x)';; *) exec '{}' \"$@\";; esac\n",
        env!("CARGO")
    );
    project.write_script("old/cargo", &script);
    let mut command = project.gmp("tree");
    command
        .env("CARGO", project.path("old/cargo"))
        .env_remove("GMP_SOURCES")
        .env("XDG_CACHE_HOME", project.path("cache"));
    let error = fails(&mut command, 101);
    assert!(error.contains("error: cargo 1.85.1 is too old for `cargo gmp`, which needs 1.95.0 or newer"), "{error}");
    assert!(!project.path("cache").exists());
}

#[test]
fn vendored_packages_lack_gmps_and_can_be_completed() {
    let project = Project::with_tokio("\"1\"");
    project.lock();
    succeeds(&mut project.cargo("vendor"));
    let replacement = "[source.crates-io]\nreplace-with = \"mine\"\n\n[source.mine]\ndirectory = \"vendor\"\n";
    project.write(".cargo/config.toml", replacement);
    for command in ["tree", "doctor", "patch"] {
        let output = project.gmp(command).output().unwrap();
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(!output.status.success());
        assert!(said.contains("crates.io is replaced by the folder vendor (in "), "{said}");
        assert!(said.contains("`cargo gmp patch`, `cargo vendor`"), "{said}");
    }
    project.write(".cargo/config.toml", "");
    succeeds(&mut project.gmp("patch"));
    succeeds(&mut project.cargo("vendor"));
    project.write(".cargo/config.toml", replacement);
    let tree = succeeds(&mut project.cargo("tree --offline --depth 1"));
    assert!(tree.contains("gmp-tokio)"), "{tree}");
}

#[test]
fn a_project_without_tokio_is_built_without_the_patch() {
    let project = Project::with_tokio("\"1\"");
    project.write("Cargo.toml", &manifest("plain", ""));
    project.write("src/main.rs", "fn main() {}\n#[test]\nfn works() {}\n");
    for line in ["build", "build --locked", "test --seeds 1", "test --locked --seeds 1"] {
        let output = project.gmp(line).output().unwrap();
        let errors = text(&output.stderr);
        assert!(output.status.success() && !errors.contains("was not used"), "{line}: {errors}");
        assert_eq!(errors.contains("warning: nothing in this workspace"), line.starts_with("build"), "{errors}");
        // The user's own, for `--locked`.
        project.lock();
    }
}
