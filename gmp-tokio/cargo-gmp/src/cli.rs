//! The command line of `cargo gmp`.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use anyhow::Result;

use crate::arguments::Arguments;
use crate::cargo::Cargo;
use crate::nested::{self, Name};
use crate::printed::printed;
use crate::sources::Sources;
use crate::tokio_real::{Outcome, VERSION};
use crate::usage::{Usage, usage};
use crate::{compare, doctor, help, install, patch, program, run, settings, tasks, trace};

const HELP: &str = "\
Builds and runs a program written against tokio on gmp, without a change to the program.

Usage: cargo gmp <run|build|test|check|bench|doc|clippy|tree|...> [cargo's options]
       cargo gmp <command>

Cargo's options are passed on to cargo. Cargo.toml and Cargo.lock stay as they are; programs are put into target/gmp.
Tools and aliases that cargo knows work too (nextest, your own).

Commands:
  patch      writes the patch into the workspace's Cargo.toml, so that cargo alone builds on gmp
  unpatch    removes that patch
  install    installs a program from the registry, or from a folder (--path), as published except for tokio
  compare    runs a program or its tests on tokio and on gmp, and reports differences, time and memory
  doctor     reports problems, and compiles nothing
  tasks      prints the tasks of a running program, by its process id (options: see `tasks --help`)
  blocked    prints which tasks of a running program have held their threads, by its process id
  trace      says what a running program does, or what is in a file of `run --trace`: busiest places, longest polls
  generate   prepares the sources as the first use does (tokio's own code, from cargo's download), and builds nothing
  help       prints this text; `help settings` the variables that programs on gmp read
  version    prints the versions of cargo-gmp and of the tokio that it replaces

Options of run: --trace <FILE> (see trace); --console, for a program with console-subscriber: tokio-console works on it;
  --seed <SEED>: all that is left to chance follows from the seed (--keep-order, --preempt: see below).
Options of test, for races: --seeds <N> or --for <TIME> runs each test under many seeds, each with other orders of tasks
  and threads; --seed <SEED> is one of these runs again, and --replay <FILE> one that was shrunk, of --program <NAME>.
  With --seeds and --for also --check (every run twice), --no-fail-fast, --timeout <TIME>, --first-seed <SEED>,
  --json <FILE>. With all of these --keep-order (tasks of current-thread runtimes run in tokio's order) and --preempt
  (threads are interrupted at each basic block of the program; compiles all crates once more).
  `nextest run` takes these options, too, but --preempt, and nextest's filters and expressions choose the tests.
Options of run and test with seeds: --net <LIST>, how the simulated network misbehaves, as in GMP_SEED_NET; --real-net
  allows real connections to other computers.
Options of patch, unpatch and doctor: --manifest-path <PATH>, --offline; of doctor also --target <TRIPLE>.
Option of generate: --offline.

GMP_SOURCES names a checkout of gmp to build from. Without this variable: the checkout around the current folder, if
there is one, else the sources that this command carries.
";

/// What `cargo gmp COMMAND --help` prints, for the commands that are not cargo's.
const HELP_OF: [(&str, &str); 9] = [
    (
        "patch",
        "Usage: cargo gmp patch [--manifest-path <PATH>] [--offline]

Writes the patch into the workspace's Cargo.toml, so that cargo alone builds on gmp.",
    ),
    (
        "unpatch",
        "Usage: cargo gmp unpatch [--manifest-path <PATH>] [--offline]

Removes what `cargo gmp patch` has written.",
    ),
    ("install", install::HELP),
    ("compare", compare::HELP),
    (
        "doctor",
        "Usage: cargo gmp doctor [--manifest-path <PATH>] [--target <TRIPLE>] [--offline]

Reports problems, and compiles nothing.",
    ),
    (
        "tasks",
        "Usage: cargo gmp tasks [--json | --lines | --every <SECONDS>] <PID>

Prints the tasks of a running program on gmp: where they were spawned, what they do and wait for. Ages are counted from
the spawn. With --json a line of JSON for each task. With --lines also the line of the program at which each task waits:
the tasks that wait are polled once more for that, a thousand per runtime at most. With --every, until the
program ends: where more and more tasks are spawned, and which are polled most. The program needs no setting, and goes
on.",
    ),
    (
        "blocked",
        "Usage: cargo gmp blocked <PID>

Prints which tasks of a running program on gmp have held their threads so far, for how long, in which system call and
line. Lines of tasks that compute need GMP_BLOCKED=signal, and runtimes on a single thread GMP_BLOCKED=summary, both set
at the program's start.",
    ),
    (
        "trace",
        "Usage: cargo gmp trace <FILE>...
       cargo gmp trace [--for <TIME>] [--output <FILE>] <PID>

Says in words what is in a recording of a program on gmp: busiest places, longest polls, waits, processors that were
taken. A running program records itself for a while (2s, at most 60s) when it is asked, needs no setting, and goes on.
With --output the recording is kept.

GMP_TRACE=<FILE> records a program from its start, and so does `cargo gmp run --trace <FILE>`. Of a program with several
runtimes, the second writes <FILE>-runtime2, and so on, before the extension. Several files have to be of one recording,
as those of GMP_TRACE=<FILE>,roll=1GiB. https://ui.perfetto.dev shows the same files as a picture.

Exit codes: 0, 1 if a file can't be read or is no recording, or a process can't be asked, 2 if the command line is
wrong.",
    ),
    (
        "generate",
        "Usage: cargo gmp generate [--offline]

Prepares the sources as the first use does (tokio's own code, from cargo's download), and builds nothing.",
    ),
];

/// Runs the command with `arguments`, the arguments after the program's name. Does not return if
/// this process becomes cargo.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    let command = arguments.iter().find(|argument| *argument != "gmp").cloned().unwrap_or_default();
    match dispatch(arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(exit_code(&error, &command))
        }
    }
}

/// The usual ones, but cargo's own where this command stands for cargo.
fn exit_code(error: &anyhow::Error, command: &OsStr) -> u8 {
    match command.to_str() {
        _ if error.is::<Usage>() => 2,
        Some("tasks" | "blocked" | "trace") => 1,
        _ => 101,
    }
}

fn dispatch(arguments: Vec<OsString>) -> Result<ExitCode> {
    match nested::own_name() {
        Some(Name::Cargo) => return nested::as_cargo(arguments).map(|()| ExitCode::SUCCESS),
        Some(Name::Starter) => return program::start(arguments),
        Some(Name::PlainStarter) => return program::start_plain(arguments),
        None => {}
    }
    let mut arguments = arguments.into_iter().peekable();
    // Cargo passes the subcommand's name as the first argument.
    arguments.next_if(|first| first == "gmp");
    let Some(command) = arguments.next() else {
        printed(HELP)?;
        return Ok(ExitCode::SUCCESS);
    };
    let rest: Vec<_> = arguments.collect();
    if let Some(help) = help_of(&command, &rest) {
        printed(&format!("{}\n", help.trim_end()))?;
        return Ok(ExitCode::SUCCESS);
    }
    match command.to_str() {
        Some("help") if rest.first().is_some_and(|what| what == "settings") => {
            printed(&settings::help())?;
        }
        Some("help" | "--help" | "-h") => {
            printed(HELP)?;
        }
        Some("version" | "--version" | "-V") => {
            println!("cargo-gmp {} (tokio {VERSION})", env!("CARGO_PKG_VERSION"));
        }
        Some("generate") => generate(&own_options("generate", rest, &["--offline"])?)?,
        Some("patch") => patch::patch(&own_options("patch", rest, &["--offline", "--manifest-path"])?)?,
        Some("unpatch") => patch::unpatch(&own_options("unpatch", rest, &["--offline", "--manifest-path"])?)?,
        Some("compare") => return compare::compare(rest),
        Some("tasks") => return tasks::tasks(&rest),
        Some("blocked") => return tasks::blocked(&rest),
        Some("trace") => return trace::trace(&rest),
        Some("install") => return install::install(rest),
        Some("doctor") => {
            return doctor::doctor(&own_options("doctor", rest, &["--offline", "--manifest-path", "--target"])?);
        }
        _ => return run::run([vec![command], rest].concat()),
    }
    Ok(ExitCode::SUCCESS)
}

/// The help, if it is asked for.
fn help_of(command: &OsStr, rest: &[OsString]) -> Option<&'static str> {
    let (_, help) = HELP_OF.iter().find(|(name, _)| *name == command)?;
    help::is_asked(rest).then_some(*help)
}

fn generate(arguments: &Arguments) -> Result<()> {
    let (drop_in, outcome) = Sources::find()?.ready(&Cargo::from_env(arguments.offline))?;
    let folder = drop_in.join(crate::tokio_real::NAME);
    match outcome {
        Outcome::Fresh => println!("{} is up to date", folder.display()),
        Outcome::Generated => println!("{} made from tokio {VERSION}", folder.display()),
    }
    Ok(())
}

/// Parses the options of one of this command's own subcommands. Unknown options are refused here,
/// because cargo does not see them.
fn own_options(command: &str, arguments: Vec<OsString>, allowed: &[&str]) -> Result<Arguments> {
    let mut given = arguments.iter();
    while let Some(argument) = given.next() {
        let text = argument.to_string_lossy();
        let (name, value) = text.split_once('=').map_or((&*text, None), |(name, value)| (name, Some(value)));
        let has_value = name != "--offline";
        if !allowed.contains(&name) || (!has_value && value.is_some()) {
            let allowed = allowed.join(", ");
            return Err(usage(format!("unknown option `{text}`: `cargo gmp {command}` takes {allowed}")));
        }
        if has_value && value.is_none() && given.next().is_none() {
            return Err(usage(format!("`{name}` needs a value")));
        }
    }
    Ok(Arguments::parse(arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Result<Arguments> {
        let arguments = line.split_whitespace().map(OsString::from).collect();
        own_options("doctor", arguments, &["--offline", "--manifest-path"])
    }

    #[test]
    fn unknown_options_are_named_with_what_is_allowed() {
        let error = options("--release").unwrap_err().to_string();
        assert_eq!(error, "unknown option `--release`: `cargo gmp doctor` takes --offline, --manifest-path");
        assert_eq!(options("--manifest-path").unwrap_err().to_string(), "`--manifest-path` needs a value");
        assert!(options("--offline=yes").is_err());
    }

    #[test]
    fn every_command_has_help_of_its_own() {
        let list = HELP.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
        let names = list.map(|line| line.split_whitespace().next().unwrap());
        for name in names.filter(|name| !["help", "version"].contains(name)) {
            let help = help_of(name.as_ref(), &["x".into(), "--help".into()]).unwrap();
            assert!(help.contains(&format!("Usage: cargo gmp {name} ")), "{help}");
        }
        let of = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            help_of(&words[0], &words[1..]).unwrap()
        };
        for line in ["compare --help", "compare test -h", "compare run --help"] {
            assert!(of(line).contains("--load <URL>"), "{line}");
        }
        assert!(of("install --help").contains("--version <VERSION>"));
        assert_eq!(help_of("tasks".as_ref(), &["--".into(), "--help".into()]), None, "not the command's");
        assert_eq!(help_of("run".as_ref(), &["--help".into()]), None, "cargo's");
    }

    #[test]
    fn known_options_are_read() {
        let arguments = options("--offline --manifest-path a/Cargo.toml").unwrap();
        assert!(arguments.offline);
        assert_eq!(arguments.manifest_path, Some("a/Cargo.toml".into()));
    }
}
