//! `cargo gmp test --seed`: a run once more, with its output.

use std::env;
use std::ffi::OsString;
use std::path::Path;

use anyhow::{Result, ensure};

use super::listing::Test;
use super::process::{Files, Output, Place};
use super::request::{Again, Request};
use super::{nextest, none};
use crate::alias::Line;
use crate::project::Project;

/// Runs the tests one after the other. Returns whether all have passed.
pub(super) fn again(mut tests: Vec<Test>, again: &Again, project: &Project) -> Result<bool> {
    let seed = again.seed;
    if let Some(program) = &again.program {
        let is_one = |test: &Test| test.program.name() == *program;
        ensure!(tests.iter().any(is_one), none::is_of(program, &tests));
        tests.retain(is_one);
    }
    let folder = tempfile::tempdir_in(project.seeds_directory())?;
    let place = Place::make(folder.path(), 0, again.mode)?;
    let files = Files { replay: again.replay.clone(), log: None };
    let mut failed = 0;
    for test in &tests {
        println!("{} under seed {seed:x}", test.full_name());
        let run = place.run_with(test, seed, again.timeout, Output::Shown, &files)?;
        let verdict = match run.status {
            _ if run.has_passed() => "passed".to_owned(),
            Some(status) => format!("FAILED ({status})"),
            None => format!("FAILED: it hangs, ended after {} s of real time (--timeout)", again.timeout.as_secs()),
        };
        failed += usize::from(!run.has_passed());
        println!("{verdict} in {:.2} s\n", run.time.as_secs_f64());
    }
    println!("{} passed, {failed} failed under seed {seed:x}", tests.len() - failed);
    Ok(failed == 0)
}

/// Variables that are often set in one place, as in CI, and not in another, and that change what a program
/// does: whether the program gathers backtraces, and what it logs. Under the same seed, a program with other
/// values may make other choices.
const VARIABLES: [&str; 3] = ["RUST_BACKTRACE", "RUST_LIB_BACKTRACE", "RUST_LOG"];

/// The user's own arguments, between which the seed and the test go.
#[derive(Debug)]
pub(super) struct CommandLine {
    variables: String,
    subcommand: &'static str,
    options: String,
    rest: String,
}

pub(super) fn command_line(line: &Line, request: &Request) -> CommandLine {
    let dashes = line.rest.iter().position(|argument| argument == "--").unwrap_or(line.rest.len());
    let (options, rest) = line.rest.split_at(dashes);
    let (subcommand, options) = if nextest::is_run(line) { ("nextest run", &options[1..]) } else { ("test", options) };
    let rest = rest.iter().skip(1).filter(|argument| *argument != "--exact");
    let mode = request.mode().options().into_iter().map(OsString::from);
    let net = request.net.iter().flat_map(|net| ["--net".into(), net.into()]);
    let timeout = request.timeout().into_iter().flat_map(|time| ["--timeout".into(), time.into()]);
    let own: Vec<OsString> = mode.chain(net).chain(timeout).collect();
    CommandLine {
        variables: variables(|name| env::var_os(name)),
        subcommand,
        options: words(own.iter().chain(&line.before).chain(options)),
        rest: words(rest),
    }
}

/// Those of `VARIABLES` that are set, as a shell takes them before a command.
fn variables(value: impl Fn(&str) -> Option<OsString>) -> String {
    let set = VARIABLES.iter().filter_map(|name| Some((name, value(name)?)));
    set.map(|(name, value)| format!("{name}={} ", quoted(&value.to_string_lossy()))).collect()
}

impl CommandLine {
    /// The command that runs this test under this seed.
    pub(super) fn seed(&self, seed: u64, test: &Test, all: &[Test]) -> String {
        self.with(&format!("--seed {seed:x}"), test, all)
    }

    /// The command that makes the choices in the file.
    pub(super) fn replay(&self, file: &Path, test: &Test, all: &[Test]) -> String {
        self.with(&format!("--replay {}", quoted(&file.to_string_lossy())), test, all)
    }

    /// The program is named if the line would run others of all tests, too. A test without a harness
    /// takes no notice of names.
    fn with(&self, what: &str, test: &Test, all: &[Test]) -> String {
        let is_one = all.iter().filter(|other| other.name == test.name || other.name.is_empty()).count() == 1;
        self.of(what, &test.name, &test.program.name(), is_one && !test.name.is_empty())
    }

    /// Of several filters libtest takes all, and with `--exact` those are whole names. So the user's
    /// own filter does no harm.
    fn of(&self, what: &str, test: &str, program: &str, is_one: bool) -> String {
        let program = if is_one { String::new() } else { format!(" --program {program}") };
        let exact = if test.is_empty() { String::new() } else { format!(" --exact {}", quoted(test)) };
        let rest = format!("{exact}{}", self.rest);
        let dashes = if rest.is_empty() { "" } else { " --" };
        format!("{}cargo gmp {} {what}{program}{}{dashes}{rest}", self.variables, self.subcommand, self.options)
    }
}

fn words<'a>(arguments: impl Iterator<Item = &'a OsString>) -> String {
    arguments.map(|argument| format!(" {}", quoted(&argument.to_string_lossy()))).collect()
}

/// As a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=:/.,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_to_replay_has_the_users_options() {
        let line = |line: &str| {
            let mut line = Line::parse(line.split_whitespace().map(OsString::from)).unwrap();
            let request = Request::take(&mut line).unwrap().unwrap();
            CommandLine { variables: String::new(), ..command_line(&line, &request) }
        };
        let of = |options, test, is_one| line(options).of("--seed 5f3a", test, "app::it", is_one);
        assert_eq!(of("test --seeds 1", "pool::is_fair", true), "cargo gmp test --seed 5f3a -- --exact pool::is_fair");
        let expected = "cargo gmp test --seed 5f3a -p a 'pool::<' -- --exact pool::is_fair --skip x";
        assert_eq!(of("test --seeds 1 -p a pool::< -- --exact --skip x", "pool::is_fair", true), expected);
        let expected = "cargo gmp test --seed 5f3a --program app::it --workspace -- --exact 'a::<u8>'";
        assert_eq!(of("test --seeds 1 --workspace", "a::<u8>", false), expected);
        let expected = "cargo gmp nextest run --seed 5f3a -E 'test(a)' -- --exact pool::is_fair";
        assert_eq!(of("nextest run --seeds 1 -E test(a)", "pool::is_fair", true), expected);
        assert_eq!(of("test --seeds 1", "", false), "cargo gmp test --seed 5f3a --program app::it");
        let expected =
            "cargo gmp test --seed 5f3a --keep-order --net loss=1% --timeout 90 -p a -- --exact pool::is_fair";
        assert_eq!(of("test --for 5s --timeout 90s -p a --net loss=1% --keep-order", "pool::is_fair", true), expected);
    }

    #[test]
    fn it_sets_the_variables_that_were_set() {
        let set = |name: &str| match name {
            "RUST_BACKTRACE" => Some("1".into()),
            "RUST_LOG" => Some("info,app[x]=debug".into()),
            _ => None,
        };
        let variables = variables(set);
        assert_eq!(variables, "RUST_BACKTRACE=1 RUST_LOG='info,app[x]=debug' ");
        let line = CommandLine { variables, subcommand: "test", options: String::new(), rest: String::new() };
        let expected = "RUST_BACKTRACE=1 RUST_LOG='info,app[x]=debug' cargo gmp test --seed 1 -- --exact a";
        assert_eq!(line.of("--seed 1", "a", "app::it", true), expected);
    }
}
