//! Tests of `cargo gmp doctor`.

use crate::support::{Project, manifest, succeeds, text};

fn problems(project: &Project, line: &str, variable: Option<(&str, &str)>) -> String {
    let output = project.gmp(line).envs(variable).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}{}", text(&output.stdout), text(&output.stderr));
    let lines = text(&output.stdout);
    lines.lines().filter_map(|line| line.strip_prefix("problem  ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_healthy_project_has_no_problems() {
    let project = Project::with_tokio("\"1\"");
    let answer = succeeds(&mut project.gmp("doctor"));
    assert!(answer.lines().all(|line| line.starts_with("ok ")), "{answer}");
    assert!(answer.contains("every requirement on tokio 1 is met by 1.54.1"), "{answer}");
}

#[test]
fn each_problem_is_named() {
    let project = Project::with_tokio("\"1\"");
    let answer = succeeds(project.gmp("doctor").env("RUSTFLAGS", "--cfg tokio_unstable"));
    assert!(answer.contains("tokio_unstable is set by the variable RUSTFLAGS"), "{answer}");
    let found = problems(&project, "doctor --target x86_64-pc-windows-msvc", None);
    assert!(found.starts_with("the target is x86_64-pc-windows-msvc (by the option --target)"), "{found}");

    project.write("Cargo.toml", &manifest("app", "slab = \"0.4\""));
    let found = problems(&project, "doctor", None);
    assert_eq!(found, "nothing in this workspace depends on tokio");
}

#[test]
fn a_tokio_from_elsewhere_is_a_problem() {
    let project = Project::with_own_tokio();
    let found = problems(&project, "doctor", None);
    assert!(found.starts_with("`app 0.1.0` takes tokio from a folder"), "{found}");
}
