//! `cargo gmp nextest run --seeds`: the tests that nextest's own options and expressions choose.
//!
//! nextest is asked for its list. It builds the tests through this command in cargo's place
//! ([`crate::nested`]), which [`wanted`] tells to build them for seeded runs. It starts each program to list
//! its tests, through the runner, which notes the program's variables ([`super::program`]).

use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use tinyjson::JsonValue;

use super::build::{self, Built};
use super::listing::Test;
use super::mode::{Mode, PREEMPT};
use super::program::{Program, VARIABLE};
use super::request::{Request, VARIABLE as SEED};
use super::targets::Targets;
use crate::alias::Line;
use crate::arguments::Arguments;
use crate::cargo::Cargo;
use crate::handed_over;
use crate::nested::Folder;
use crate::project::Project;
use crate::sources::cache_folder;
use crate::tool::{self, exit_code};
use crate::usage::usage;

/// Is set for a cargo that builds tests for seeded runs.
const WANTED: &str = "GMP_NESTED_SEEDS";

type Object = HashMap<String, JsonValue>;

/// Whether the line is nextest's that runs tests.
pub(super) fn is_run(line: &Line) -> bool {
    line.subcommand == "nextest" && line.rest.first().is_some_and(|first| first == "run" || first == "r")
}

/// Whether this cargo builds tests for seeded runs.
pub(crate) fn wanted(line: &Line) -> bool {
    env::var_os(WANTED).is_some() && (line.subcommand == "test" || line.subcommand == "build")
}

/// Builds the tests. Returns only if cargo can't be started.
pub(crate) fn become_cargo(line: Line) -> Result<()> {
    let arguments = Arguments::of(line.before, line.rest);
    let cargo = Cargo::from_env(arguments.offline);
    let project = Project::find(&cargo, &arguments)?;
    let subcommand = line.subcommand.to_str().unwrap_or_default();
    let mut command = build::command(&cargo, subcommand, &arguments, &project, Mode::default())?;
    Err(command.env_remove(VARIABLE).exec()).context("can't start cargo")
}

/// Builds the tests, and lists those that nextest would run.
pub(super) fn tests(cargo: &Cargo, arguments: &Arguments, project: &Project, request: &Request) -> Result<Built> {
    ensure!(!request.mode().preempts, usage(format!("`{PREEMPT}` goes with `cargo gmp test`")));
    let nextest = tool::find("nextest".as_ref()).context("nextest is not there: cargo install cargo-nextest")?;
    let folder = tempfile::tempdir()?;
    let mut command = Command::new(nextest);
    command.args(["nextest", "list", "--message-format", "json"]).args(&arguments.all[1..]);
    command
        .env(VARIABLE, folder.path())
        .env(WANTED, "1")
        .env_remove(SEED)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    command.envs(request.net.as_ref().map(|net| ("GMP_SEED_NET", net)));
    Folder::make_in(&cache_folder()?)?.give(&mut command, cargo.program())?;
    let programs = build::programs(project);
    let target_dir = arguments.target_dir.clone().or(Some(programs));
    handed_over::give(&mut command, cargo, &Arguments { target_dir, ..arguments.clone() })?;
    let listed = command.output().context("can't start nextest")?;
    if !listed.status.success() {
        return Ok(Built::Failed(exit_code(listed.status)));
    }
    let programs = Program::read_all(folder.path(), &Targets::default())?;
    let list = String::from_utf8_lossy(&listed.stdout);
    Ok(Built::Tests(chosen(&list, programs).context("nextest's list is not as expected")?))
}

/// The tests of nextest's list that its filters choose.
fn chosen(list: &str, programs: Vec<Program>) -> Option<Vec<Test>> {
    let file = |path: &Path| path.file_name().map(OsString::from);
    let mut programs: HashMap<_, _> = programs.into_iter().map(|program| (file(&program.path), program)).collect();
    let list: JsonValue = list.parse().ok()?;
    let mut tests = Vec::new();
    let mut suites: Vec<_> = object(&list, "rust-suites")?.iter().collect();
    suites.sort_by_key(|(id, _)| id.as_str());
    for (id, suite) in suites {
        let Some(program) = programs.remove(&file(Path::new(text(suite, "binary-path")?))) else { continue };
        let program = Arc::new(program.of_nextest(id));
        let mut names: Vec<_> = object(suite, "testcases")?.iter().filter(|(_, test)| is_chosen(test)).collect();
        names.sort_by_key(|(name, _)| name.as_str());
        tests.extend(names.into_iter().map(|(name, _)| Test { program: program.clone(), name: name.clone() }));
    }
    Some(tests)
}

fn is_chosen(test: &JsonValue) -> bool {
    let found = test.get::<Object>().and_then(|test| test.get("filter-match"));
    found.and_then(|found| text(found, "status")) == Some("matches")
}

fn object<'a>(value: &'a JsonValue, name: &str) -> Option<&'a Object> {
    value.get::<Object>()?.get(name)?.get()
}

fn text<'a>(value: &'a JsonValue, name: &str) -> Option<&'a str> {
    value.get::<Object>()?.get(name)?.get::<String>().map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nextest_would_run_is_chosen() {
        let case = |name, status| format!(r#""{name}":{{"ignored":false,"filter-match":{{"status":"{status}"}}}}"#);
        let cases = [case("b", "matches"), case("a::<u8>", "matches"), case("c", "mismatch")].join(",");
        let suite = |path| format!(r#"{{"package-name":"app","binary-path":"{path}","testcases":{{{cases}}}}}"#);
        let suites = format!(r#"{{"app::it":{},"app":{}}}"#, suite("/build/deps/it-1"), suite("/build/deps/app-2"));
        let programs = ["/programs/deps/it-1", "/programs/deps/app-2"].map(|path| {
            let mut program = Program::of_package("app");
            (program.path, program.arguments) = (path.into(), vec!["--list".into()]);
            program
        });
        let tests = chosen(&format!(r#"{{"rust-suites":{suites}}}"#), programs.into()).unwrap();
        let names: Vec<_> = tests.iter().map(Test::full_name).collect();
        assert_eq!(names, ["app::a::<u8>", "app::b", "app::it::a::<u8>", "app::it::b"]);
        assert!(tests.iter().all(|test| test.program.arguments.is_empty()));
        assert_eq!(chosen("{}", Vec::new()).map(|tests| tests.len()), None);
    }
}
