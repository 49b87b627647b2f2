//! Cargo started by aliases, tools and programs: in each case the program runs on gmp.

use std::process::Command;

use crate::support::{Project, program, shared, shared_target, succeeds, text, with_tools, write_tool};

/// Prints the runtime that it runs on, and its arguments.
const SAYS: &str = r#"fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    runtime.block_on(async { tokio::spawn(async {}).await.unwrap() });
    let name = std::any::type_name_of_val(&runtime).split("::").next().unwrap();
    println!("{name} {}", std::env::args().skip(1).collect::<Vec<_>>().join(" "));
}"#;

fn says(name: &str, configuration: &str) -> Project {
    let project = program(name, SAYS);
    project.write(".cargo/config.toml", configuration);
    project
}

#[test]
fn an_alias_that_ends_in_dashes_runs_on_gmp_with_its_own_arguments() {
    let aliases = "[alias]\nxtask = \"run --quiet --\"\nagain = [\"xtask\", \"a b\"]\n";
    let project = says("aliased", aliases);
    assert_eq!(succeeds(&mut shared(project.gmp("xtask foo --locked"))), "gmp_exec foo --locked\n");
    assert_eq!(succeeds(&mut shared(project.gmp("again foo"))), "gmp_exec a b foo\n");
    assert_eq!(succeeds(&mut shared(project.gmp("--quiet run --config build.jobs=1 foo"))), "gmp_exec foo\n");
    assert_eq!(succeeds(&mut shared(project.gmp("--config build.jobs=1 run -q -- --config"))), "gmp_exec --config\n");
    let from_variable = &mut shared(project.gmp("from-variable"));
    assert_eq!(succeeds(from_variable.env("CARGO_ALIAS_FROM_VARIABLE", "xtask x")), "gmp_exec x\n");
}

#[test]
fn an_alias_that_means_itself_is_an_error() {
    let project = says("endless", "[alias]\none = \"two\"\ntwo = \"one\"\n");
    let output = shared(project.gmp("one")).output().unwrap();
    assert_eq!(output.status.code(), Some(101));
    assert!(text(&output.stderr).contains("the alias `one` stands for itself"), "{}", text(&output.stderr));
}

/// Its test prints the output of the program beside itself, and of the program that cargo runs for
/// it.
const LOOKS: &str = r#"use std::process::Command;

fn says(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn looks() {
    let own = std::env::current_exe().unwrap();
    let beside = own.parent().unwrap().parent().unwrap().join("looked-for");
    let mut seen = vec![says(&mut Command::new(beside)), says(&mut Command::new(env!("CARGO_BIN_EXE_looked-for")))];
    for cargo in [std::env::var("CARGO").unwrap(), "cargo".to_owned()] {
        for line in ["run --quiet", "--offline run --quiet", "as-alias --quiet"] {
            seen.push(says(Command::new(&cargo).args(line.split(' '))));
        }
        assert!(says(Command::new(&cargo).arg("--version")).starts_with("cargo 1."));
    }
    assert!(std::env::var_os("__CARGO_TEST_CHANNEL_OVERRIDE_DO_NOT_USE_THIS").is_none());
    println!("seen: {}", seen.concat().replace(" \n", ","));
}
"#;

#[test]
fn tests_find_their_program_and_their_cargo_builds_on_gmp() {
    let project = says("looked-for", "[alias]\nas-alias = \"run\"\n");
    project.write("tests/it.rs", LOOKS);
    let before = (project.read("Cargo.toml"), project.read("Cargo.lock"));
    for (mut test, expected) in [(shared(project.cargo("test")), "tokio"), (shared(project.gmp("test")), "gmp_exec")] {
        test.args(["--quiet", "--test", "it", "--", "--nocapture"]);
        let said = succeeds(&mut test);
        assert!(said.contains(&format!("seen: {}\n", format!("{expected},").repeat(8))), "{said}");
    }
    assert_eq!((project.read("Cargo.toml"), project.read("Cargo.lock")), before);
}

#[test]
fn a_project_that_a_program_makes_and_builds_is_on_gmp_too() {
    let project = program(
        "maker",
        r#"fn main() {
            let cargo = std::env::var_os("CARGO").unwrap();
            let made = std::process::Command::new(cargo).args(["run", "--quiet"]).current_dir("made").status().unwrap();
            assert!(made.success());
        }"#,
    );
    let made = says("made", "");
    for file in ["Cargo.toml", "Cargo.lock", "src/main.rs"] {
        project.write(&format!("made/{file}"), &made.read(file));
    }
    project.write("made/Cargo.toml", &(made.read("Cargo.toml") + "\n[workspace]\n"));
    assert_eq!(succeeds(&mut shared(project.gmp("run --quiet"))), "gmp_exec \n");
}

#[test]
fn what_a_tool_builds_is_on_gmp_or_it_is_said_that_it_may_not_be() {
    let project = says("tooled", "[alias]\nframed = \"frame x\"\n");
    write_tool(&project, "frame", "test \"$1\" = frame && \"$CARGO\" run --quiet -- \"$@\"; cargo run --quiet; exit 7");
    let output = with_tools(&project, "framed y").output().unwrap();
    assert_eq!(text(&output.stdout), "gmp_exec frame x y\ngmp_exec \n", "{}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(7));
    // The user may start the command directly instead of through cargo.
    let output = with_tools(&project, "framed y").env_remove("CARGO").output().unwrap();
    assert_eq!(text(&output.stdout), "gmp_exec frame x y\ngmp_exec \n", "{}", text(&output.stderr));
    assert!(!text(&output.stderr).contains("tokio"), "{}", text(&output.stderr));

    write_tool(&project, "sly", &format!("'{}' run --quiet", real_cargo()));
    let output = with_tools(&project, "sly").output().unwrap();
    assert_eq!(text(&output.stdout), "tokio \n");
    let expected = "warning: `cargo sly` built nothing through the cargo that it was given";
    assert!(text(&output.stderr).contains(expected), "{}", text(&output.stderr));
}

/// Builds the tests and starts them itself, through the runner that is configured by a variable, as
/// nextest does.
const STARTS_TESTS: &str = r#"
test=$("$CARGO" test --quiet --test it --no-run --message-format json | sed -n 's/.*"executable":"\([^"]*\/it-[^"]*\)".*/\1/p')
runner=$(env | sed -n 's/^CARGO_TARGET_.*_RUNNER=//p')
CARGO=$CARGO $runner "$test" --nocapture"#;

#[test]
fn tests_that_a_tool_starts_itself_find_their_program_on_gmp() {
    let project = says("handed", "[alias]\nas-alias = \"run\"\n");
    project.write("tests/it.rs", &LOOKS.replace("looked-for", "handed"));
    write_tool(&project, "starts-tests", STARTS_TESTS);
    succeeds(&mut shared(project.cargo("build --quiet")));
    let said = succeeds(&mut with_tools(&project, "starts-tests"));
    assert!(said.contains(&format!("seen: {}\n", "gmp_exec,".repeat(8))), "{said}");
}

#[test]
fn a_runner_of_the_users_is_kept_for_tools_too() {
    let project = says("kept", "[target.'cfg(unix)']\nrunner = [\"env\", \"CARRIED=1\"]\n");
    write_tool(&project, "runners", "\"$CARGO\" build --quiet; echo \"runners: $(env | grep -c '_RUNNER=')\"");
    let output = with_tools(&project, "runners").output().unwrap();
    assert_eq!(text(&output.stdout), "runners: 0\n", "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("note: a runner is configured"), "{}", text(&output.stderr));
}

#[test]
fn a_runner_for_another_platform_is_none_for_this_one() {
    let project = says("elsewhere", "[target.wasm32-unknown-unknown]\nrunner = \"no-such-runner\"\n");
    write_tool(&project, "runners", "\"$CARGO\" build --quiet; echo \"runners: $(env | grep -c '_RUNNER=')\"");
    let output = with_tools(&project, "runners").output().unwrap();
    assert_eq!(text(&output.stdout), "runners: 1\n", "{}", text(&output.stderr));
    assert!(!text(&output.stderr).contains("a runner is configured"), "{}", text(&output.stderr));
}

/// Its test looks for the features that it was built with where trybuild does: in cargo's records
/// beside the folder of the test.
const FEATURES: &str = r#"#[test]
fn features() {
    let own = std::env::args_os().next().map(std::path::PathBuf::from).unwrap();
    let hash = own.to_str().unwrap().rsplit('-').next().unwrap();
    let records = own.parent().unwrap().parent().unwrap().join(".fingerprint");
    let mut folders = records.read_dir().unwrap().map(|folder| folder.unwrap().path());
    let folder = folders.find(|folder| folder.to_str().unwrap().ends_with(hash)).unwrap();
    let files = folder.read_dir().unwrap().map(|file| file.unwrap().path());
    let record = files.filter(|file| file.extension().is_some_and(|it| it == "json")).next().unwrap();
    assert!(std::fs::read_to_string(record).unwrap().contains("extra"));
}
"#;

#[test]
fn tests_find_the_features_that_they_were_built_with() {
    let project = says("featured", "");
    project.write("Cargo.toml", &(project.read("Cargo.toml") + "\n[features]\nextra = []\n"));
    project.write("tests/it.rs", FEATURES);
    for mut test in [shared(project.cargo("test")), shared(project.gmp("test"))] {
        succeeds(test.args(["--quiet", "--features", "extra", "--test", "it"]));
    }
}

/// The real cargo that rustup's cargo starts.
fn real_cargo() -> String {
    env!("CARGO").to_owned()
}

#[test]
fn a_program_with_tokios_own_scheduler_is_noticed_when_it_starts() {
    let project = says("noticed", "");
    succeeds(&mut shared(project.cargo("build --quiet")));
    let said = text(&shared(project.gmp("run --quiet")).output().unwrap().stderr);
    assert!(!said.contains("warning"), "{said}");
    let starter = shared_target().join("gmp/nested/on-gmp");
    let places = [shared_target(), shared_target().join("gmp"), shared_target().join("debug/noticed")];
    let output = Command::new(starter).args(places).output().unwrap();
    let said = text(&output.stderr);
    assert!(said.contains("has tokio's own scheduler in it"), "{said}");
    assert_eq!(text(&output.stdout), "tokio \n");
}

#[test]
fn a_runner_of_the_users_is_kept_and_what_it_costs_is_said() {
    let project = says("carried", "[target.'cfg(unix)']\nrunner = [\"env\", \"CARRIED=1\"]\n");
    let output = shared(project.gmp("run --quiet")).output().unwrap();
    assert_eq!(text(&output.stdout), "gmp_exec \n");
    assert!(text(&output.stderr).contains("note: a runner is configured"), "{}", text(&output.stderr));
}
