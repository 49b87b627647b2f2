//! The options about seeds, which are not cargo's.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;

use super::mode::{KEEP_ORDER, Mode, PREEMPT};
use super::{misplaced, nextest, shrunk, wish};
use crate::alias::Line;
use crate::arguments::value_of;
use crate::duration::duration;
use crate::usage::usage;

/// What to do with seeds.
#[derive(Debug, PartialEq)]
pub(crate) struct Request {
    pub(super) task: Task,
    /// How the simulated network misbehaves, as in `GMP_SEED_NET`, if the user says so.
    pub(super) net: Option<String>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Task {
    /// Runs the tests under many seeds.
    Explore(Options),
    /// Runs the tests under this seed, and shows their output.
    Again(Again),
    /// Runs a program under this seed.
    Program { seed: u64, mode: Mode },
}

#[derive(Debug, PartialEq)]
pub(crate) struct Again {
    pub(super) seed: u64,
    /// The choices to make in place of those that the seed draws.
    pub(super) replay: Option<PathBuf>,
    pub(super) timeout: Duration,
    /// If tests of several programs have the same name.
    pub(super) program: Option<String>,
    pub(super) mode: Mode,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    /// How many seeds. `None`: as many as fit into the time.
    pub(super) seeds: Option<u64>,
    pub(super) time: Option<Duration>,
    pub(super) first: Option<u64>,
    pub(super) is_fail_fast: bool,
    /// Whether every run is repeated.
    pub(super) checks_all: bool,
    pub(super) timeout: Duration,
    pub(super) json: Option<PathBuf>,
    pub(super) mode: Mode,
}

/// The real time that a run may take, unless the user says otherwise.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The seed of a run. It is not passed on to cargo, and not to programs that list their tests.
pub(super) const VARIABLE: &str = "GMP_SEED";

/// Kinds of tests that don't run under seeds.
const NOT_SEEDED: [(&str, &str); 3] = [("--doc", "doc tests"), ("--bench", "benches"), ("--benches", "benches")];

/// libtest's options that only print something.
const NOTHING_RUN: [&str; 3] = ["--list", "--help", "-h"];

impl Request {
    pub(super) fn mode(&self) -> Mode {
        match &self.task {
            Task::Explore(options) => options.mode,
            Task::Again(again) => again.mode,
            Task::Program { mode, .. } => *mode,
        }
    }

    /// In whole seconds, as the user says it; `None`: as long as always.
    pub(super) fn timeout(&self) -> Option<String> {
        match &self.task {
            Task::Explore(Options { timeout, .. }) if *timeout != TIMEOUT => Some(timeout.as_secs().to_string()),
            _ => None,
        }
    }

    /// What follows a seed that is kept: with another mode or network, the seed means another run.
    pub(super) fn suffix(&self) -> String {
        let net = self.net.as_ref().map(|net| format!(" net={net}")).unwrap_or_default();
        self.mode().suffix() + &net
    }

    /// Takes the options out of the line. `None` if the line does not ask for seeds.
    ///
    /// # Errors
    ///
    /// An option has a wrong value, or does not go with the others.
    pub(crate) fn take(line: &mut Line) -> Result<Option<Request>> {
        Request::of(line, env::var_os(VARIABLE))
    }

    /// `variable` is the value of `GMP_SEED`, if it is set.
    fn of(line: &mut Line, variable: Option<OsString>) -> Result<Option<Request>> {
        let is_nextest = nextest::is_run(line);
        let mut given = Given::split(&mut line.rest);
        let task = match line.subcommand.to_str() {
            Some("test" | "t") => of_tests(&mut given, variable)?,
            Some("nextest") if is_nextest => of_tests(&mut given, variable)?,
            Some("run" | "r") => of_program(&mut given, variable)?,
            _ => None,
        };
        let request = match task {
            Some(task) => Some(Request { task, net: net(&mut given)? }),
            None => None,
        };
        line.rest = [given.options, given.rest].concat();
        misplaced::refuse(line, request.is_some())?;
        Ok(request)
    }
}

/// `--net LIST` and `--real-net`.
fn net(given: &mut Given) -> Result<Option<String>> {
    let list = given.value("--net", "a list, as GMP_SEED_NET has it", |text| Some(text.to_owned()))?;
    let real = given.flag("--real-net").then(|| "real".to_owned());
    let net = [list, real].into_iter().flatten().reduce(|list, real| format!("{list},{real}"));
    wish::parse(net.as_deref().unwrap_or_default()).map_err(|error| usage(format!("`--net`: {error}")))?;
    Ok(net)
}

fn of_program(given: &mut Given, variable: Option<OsString>) -> Result<Option<Task>> {
    let given_seed = given.value("--seed", SEED, seed)?;
    let Some(seed) = given_seed.map_or_else(|| of_variable(variable), |seed| Ok(Some(seed)))? else { return Ok(None) };
    Ok(Some(Task::Program { seed, mode: mode(given) }))
}

fn mode(given: &mut Given) -> Mode {
    Mode { keeps_order: given.flag(KEEP_ORDER), preempts: given.flag(PREEMPT) }
}

/// The seed of `GMP_SEED`, which counts as `--seed` where the line says nothing of seeds: a program that is
/// built without the engine would take no notice of it.
fn of_variable(variable: Option<OsString>) -> Result<Option<u64>> {
    let Some(text) = variable else { return Ok(None) };
    let seed = text.to_str().and_then(seed);
    let seed = seed.ok_or_else(|| usage(format!("`{VARIABLE}={}`: allowed is {SEED}", text.display())))?;
    eprintln!("note: {VARIABLE} is set, which counts as `--seed {seed:x}`");
    Ok(Some(seed))
}

fn of_tests(given: &mut Given, variable: Option<OsString>) -> Result<Option<Task>> {
    let mut seed = given.value("--seed", SEED, seed)?;
    let seeds = given.value("--seeds", "a number, 1 or more", |text| text.parse().ok().filter(|&seeds| seeds > 0))?;
    let time = given.value("--for", TIME, duration)?;
    let replay = given.value("--replay", CHOICES, |path| Some(PathBuf::from(path)))?;
    let replay = replay.map(|path| choices(&path)).transpose()?;
    let not_seeded = given.not_seeded();
    if seed.is_none() && seeds.is_none() && time.is_none() && replay.is_none() {
        if let Some(why) = not_seeded.as_ref().filter(|_| variable.is_some()) {
            eprintln!("note: {VARIABLE} is set, and does not count: {why}");
            return Ok(None);
        }
        seed = of_variable(variable)?;
        if seed.is_none() {
            return Ok(None);
        }
    }
    if let Some(why) = not_seeded {
        return Err(usage(why));
    }
    let timeout = given.value("--timeout", TIME, duration)?.unwrap_or(TIMEOUT);
    let ways = [seed.is_some(), replay.is_some(), seeds.is_some() || time.is_some()];
    if ways.iter().filter(|is_given| **is_given).count() > 1 {
        return Err(usage(
            "`--seed` and `--replay` run a test again, and `--seeds` and `--for` try many: take one of them",
        ));
    }
    let mode = mode(given);
    let again = replay.map(|(seed, file)| (seed, Some(file))).or(seed.map(|seed| (seed, None)));
    let Some((seed, replay)) = again else {
        return Ok(Some(Task::Explore(Options {
            seeds,
            time,
            first: given.value("--first-seed", SEED, self::seed)?,
            is_fail_fast: !given.flag("--no-fail-fast"),
            checks_all: given.flag("--check"),
            timeout,
            json: given.value("--json", "a file", |text| Some(text.into()))?,
            mode,
        })));
    };
    let program = given.value("--program", "a name as `app::it`, as a failure names it", |text| Some(text.into()))?;
    Ok(Some(Task::Again(Again { seed, replay, timeout, program, mode })))
}

const SEED: &str = "a hexadecimal number of up to 16 digits, as a failure names it";
const CHOICES: &str = "a file of choices, as a failure names it";
const TIME: &str = "a time: 90, 90s, 5m or 1h";

fn seed(text: &str) -> Option<u64> {
    let is_hexadecimal = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hexadecimal.then(|| u64::from_str_radix(text, 16).ok())?
}

/// The seed in the file, and the path of the file from any folder.
fn choices(path: &Path) -> Result<(u64, PathBuf)> {
    let wrong = |what: &str| usage(format!("`--replay {}`: {what}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| wrong(&error.to_string()))?;
    let seed = shrunk::seed(&text).ok_or_else(|| wrong(&format!("allowed is {CHOICES}")))?;
    Ok((seed, fs::canonicalize(path)?))
}

/// The arguments, up to the dashes and from them on.
struct Given {
    options: Vec<OsString>,
    rest: Vec<OsString>,
}

impl Given {
    fn split(arguments: &mut Vec<OsString>) -> Self {
        let options = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
        let rest = arguments.split_off(options);
        Given { options: std::mem::take(arguments), rest }
    }

    /// Why nothing of the line runs under seeds.
    fn not_seeded(&self) -> Option<String> {
        let of_cargo = NOT_SEEDED.iter().find(|(option, _)| self.options.iter().any(|it| it == option));
        let of_libtest = || NOTHING_RUN.iter().find(|option| self.rest.iter().any(|it| it == *option));
        match of_cargo {
            Some((option, what)) => Some(format!("`{option}`: {what} do not run under seeds")),
            None => Some(format!("`-- {}`: runs no test, so it has no use with seeds", of_libtest()?)),
        }
    }

    fn flag(&mut self, name: &str) -> bool {
        let found = self.options.iter().position(|argument| argument == name);
        found.map(|index| self.options.remove(index)).is_some()
    }

    /// Takes the option, if it is there. `allowed` says what values it has.
    fn value<T>(&mut self, name: &str, allowed: &str, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>> {
        let is_it = |argument: &OsString| value_of(name, argument, || Some(argument)).is_some();
        let Some(index) = self.options.iter().position(is_it) else { return Ok(None) };
        let argument = self.options.remove(index);
        let is_next = argument == name;
        let next = (is_next && index < self.options.len()).then(|| self.options.remove(index));
        let value = value_of(name, &argument, || next.as_ref());
        let value = value.ok_or_else(|| usage(format!("`{name}` needs {allowed}")))?;
        let parsed = value.to_str().and_then(parse);
        parsed.map(Some).ok_or_else(|| usage(format!("`{name} {}`: allowed is {allowed}", value.display())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(line: &str) -> Result<(Option<Request>, String)> {
        take_with(line, None)
    }

    fn take_with(line: &str, variable: Option<&str>) -> Result<(Option<Request>, String)> {
        let mut line = Line::parse(line.split_whitespace().map(OsString::from)).unwrap();
        let request = Request::of(&mut line, variable.map(OsString::from))?;
        Ok((request, line.rest.join(" ".as_ref()).into_string().unwrap()))
    }

    #[test]
    fn what_is_cargos_stays() {
        let (request, rest) = take("test -p a --seeds 10 --for=2m --check pool:: -- --seeds x").unwrap();
        let Some(Request { task: Task::Explore(options), net: None }) = request else { panic!("{request:?}") };
        assert_eq!((options.seeds, options.time), (Some(10), Some(Duration::from_secs(120))));
        assert!(options.checks_all && options.is_fail_fast && options.timeout == TIMEOUT);
        assert_eq!(rest, "-p a pool:: -- --seeds x");
        let (request, rest) = take("t --seed 5f3a --timeout 5 --program app::it a").unwrap();
        let (timeout, program) = (Duration::from_secs(5), Some("app::it".to_owned()));
        let task = Task::Again(Again { seed: 0x5f3a, replay: None, timeout, program, mode: Mode::default() });
        assert_eq!(request, Some(Request { task, net: None }));
        assert_eq!(rest, "a");
        let (request, rest) = take("t --seeds 2 --keep-order --preempt").unwrap();
        assert!(request.is_some_and(|request| request.suffix() == " keep-order preempt") && rest.is_empty());
        let (request, _) = take("t --seeds 2 --net calm --keep-order").unwrap();
        assert!(request.is_some_and(|request| request.suffix() == " keep-order net=calm"));
        let program = |keeps_order| {
            let task = Task::Program { seed: 10, mode: Mode { keeps_order, preempts: false } };
            Some(Request { task, net: None })
        };
        assert_eq!(take("r --seed=a -- --seed b").unwrap(), (program(false), "-- --seed b".to_owned()));
        assert_eq!(take("r --keep-order --seed a").unwrap(), (program(true), String::new()));
    }

    #[test]
    fn the_variable_counts_where_the_line_says_nothing_of_seeds() {
        let of = |line| take_with(line, Some("5f")).unwrap();
        for (line, with_option) in [
            ("test a", "test --seed 5f a"),
            ("t --keep-order", "t --seed 5f --keep-order"),
            ("test --net calm", "test --seed 5f --net calm"),
            ("nextest run -E x", "nextest run --seed 5f -E x"),
            ("run --release", "run --seed 5f --release"),
        ] {
            assert_eq!(of(line), take(with_option).unwrap(), "{line}");
            assert!(of(line).0.is_some(), "{line}");
        }
        for line in ["test --seeds 3", "test --seed 7", "run --seed 7 -- --seed 8", "nextest run --for 1s"] {
            assert_eq!(of(line), take(line).unwrap(), "{line}");
        }
        for line in ["test --doc", "test -- --list", "bench", "build", "nextest list"] {
            assert_eq!(of(line).0, None, "{line}");
        }
        let error = take_with("test", Some("xyz")).unwrap_err().to_string();
        assert_eq!(error, "`GMP_SEED=xyz`: allowed is a hexadecimal number of up to 16 digits, as a failure names it");
    }

    #[test]
    fn the_network_is_a_list() {
        let net = |line| take(line).map(|(request, rest)| (request.unwrap().net.unwrap_or_default(), rest));
        let of = |line| net(line).unwrap();
        assert_eq!(of("test --seeds 9 --net calm,loss=1% a"), ("calm,loss=1%".to_owned(), "a".to_owned()));
        assert_eq!(of("run --seed 9 --net=kernel"), ("kernel".to_owned(), String::new()));
        assert_eq!(of("test --seed 9 --real-net"), ("real".to_owned(), String::new()));
        assert_eq!(of("test --seed 9 --real-net --net calm -- --net x").0, "calm,real");
        let error = net("test --seeds 9 --net calm,rain").unwrap_err().to_string();
        assert!(error.starts_with("`--net`: \"rain\" is none of kernel, real, calm, delay=1..20ms, "), "{error}");
    }

    #[test]
    fn without_seeds_cargo_gets_all() {
        let lines = [
            "test --no-fail-fast -- --seeds 1 --check",
            "build --seed 1",
            "run --release -- --seeds 1",
            "run app --json x",
        ];
        for line in lines {
            let (request, rest) = take(line).unwrap();
            assert_eq!((request, rest.as_str()), (None, line.split_once(' ').unwrap().1));
        }
    }

    #[test]
    fn own_options_that_do_not_fit_are_refused_by_name() {
        for (line, expected) in [
            ("test --seed 1 --check", "`--check` goes with `--seeds` or `--for`"),
            ("test --seed 1 --json x", "`--json` goes with `--seeds` or `--for`"),
            ("test --replay=CHOICES --first-seed=5", "`--first-seed` goes with `--seeds` or `--for`"),
            ("t --seeds 5 --program bank", "`--program` goes with `--seed` or `--replay`"),
            ("test --net calm", "`--net` goes with `--seeds`, `--for`, `--seed` or `--replay`"),
            ("test --trace a", "`--trace` is an option of `cargo gmp run`, without `--seed`"),
            ("run --keep-order", "`--keep-order` goes with `--seed`"),
            ("r --seed 1 --check", "`--check` is an option of `cargo gmp test`"),
            ("run --seed 1 --trace=a", "`--trace` is an option of `cargo gmp run`, without `--seed`"),
        ] {
            let file = tempfile::NamedTempFile::new().unwrap();
            fs::write(file.path(), " seed 5\n").unwrap();
            let error = take(&line.replace("CHOICES", file.path().to_str().unwrap())).unwrap_err();
            assert_eq!(error.to_string(), expected, "{line}");
        }
    }

    #[test]
    fn errors_name_the_value_and_what_is_allowed() {
        let error = |line: &str| take(line).unwrap_err().to_string();
        assert_eq!(error("test --seeds 0"), "`--seeds 0`: allowed is a number, 1 or more");
        assert_eq!(error("test --seeds"), "`--seeds` needs a number, 1 or more");
        let seed = "a hexadecimal number of up to 16 digits, as a failure names it";
        assert_eq!(error("test --seed xyz"), format!("`--seed xyz`: allowed is {seed}"));
        assert_eq!(error("run --seed 11112222333344445"), format!("`--seed 11112222333344445`: allowed is {seed}"));
        assert_eq!(error("test --for 0s"), "`--for 0s`: allowed is a time: 90, 90s, 5m or 1h");
        assert!(error("test --seeds 5 --seed 1").contains("take one of them"));
        let expected = "`--replay Cargo.toml`: allowed is a file of choices, as a failure names it";
        assert_eq!(error("test --replay Cargo.toml"), expected);
        assert!(error("test --replay nosuch").starts_with("`--replay nosuch`: No such file or directory"));
        assert_eq!(error("test --seeds 5 --doc"), "`--doc`: doc tests do not run under seeds");
        for option in NOTHING_RUN {
            let expected = format!("`-- {option}`: runs no test, so it has no use with seeds");
            assert_eq!(error(&format!("test --seeds 5 -- a {option}")), expected);
        }
    }
}
