//! A process that was started with no setting is asked by SIGURG, as `cargo gmp tasks` does. The answer
//! goes to the process that has sent the signal.

use std::env;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use rustix::pipe::{PipeFlags, pipe_with};

use super::program::Program;
#[cfg(all(feature = "blocked-stacks", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
use super::program::SITES;
use crate::support::{Watchdog, catches, wait_until};

#[test]
fn a_process_that_says_so_in_its_name_gets_the_answer() {
    for setting in ["", "sigquit=1"] {
        for (form, expected) in [("", "runtime 1: 5 tasks\n"), ("j", "{\"id\":"), ("b", "runtime 1:\n  ")] {
            let program = Program::start("waits", setting);
            let answer = ask(&program, form);
            assert!(answer.starts_with(&format!("gmp 1\n{expected}")), "{answer}");
            // The system may have stopped a thread of the program within a poll.
            let says = |text| answer.contains(text);
            assert!(says("program.rs") || form == "b" && says("  watched, nothing found\n"), "{answer}");
            let (_, text) = program.killed();
            assert_eq!(text, "", "nothing is printed");
        }
    }
}

#[test]
#[cfg(all(feature = "blocked-stacks", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn the_line_of_the_program_at_which_a_task_waits_is_told() {
    let program = Program::start("awaits", "");
    for _ in 0..2 {
        let answer = ask(&program, "l");
        let [sleeps, joins, either] = SITES.map(|line| format!("tests/it/tasks/program.rs:{line}"));
        let count = |sites: String| answer.matches(&sites).count();
        let expected = (count(format!(", at {sleeps},")), count(format!(", at {joins} and at {either},")));
        assert_eq!(expected, (2, 1), "{answer}");
        // Of the second runtime, two were spawned in different lines and wait in one.
        assert!(answer.contains("  2 waiting, spawned at ") && answer.contains(": tasks "), "{answer}");
    }
    assert!(!ask(&program, "").contains(", at "), "nobody has asked for lines");
    program.kill();
}

/// Threads, and descriptors.
fn resources(program: &Program) -> [usize; 2] {
    ["task", "fd"].map(|of| fs::read_dir(format!("/proc/{}/{of}", program.child.id())).unwrap().count())
}

#[test]
fn a_process_has_nothing_for_the_answer_before_and_nothing_left_afterwards() {
    let refuses = Program::start("waits", "asks=0");
    let program = Program::start("waits", "");
    wait_until(|| resources(&program) == resources(&refuses));
    for _ in 0..3 {
        ask(&program, "");
        wait_until(|| resources(&program) == resources(&refuses));
    }
    program.kill();
    refuses.kill();
}

#[test]
fn a_process_answers_while_every_worker_is_stuck() {
    let program = Program::start("stuck", "");
    wait_until(|| ask(&program, "").contains("2 running, spawned at "));
    program.kill();
}

#[test]
fn the_thread_of_a_current_thread_runtime_answers_when_it_sleeps() {
    for (case, text) in [("single", "1 task\n  1 waiting, spawned at "), ("yields", "1 task\n  1 waiting, spawned at ")]
    {
        let program = Program::start(case, "");
        let answer = ask(&program, "");
        assert!(answer.starts_with(&format!("gmp 1\nruntime 1: {text}")), "{case}: {answer}");
        assert!(ask(&program, "b").contains("not watched: "), "{case}");
        program.kill();
    }
}

#[test]
fn a_process_that_refuses_does_not_catch_the_signal() {
    for (setting, expected) in [("", true), ("sigquit=1", true), ("asks=0", false), ("sigquit=1,asks=0", false)] {
        let program = Program::start("waits", setting);
        assert_eq!(catches(&program.child.id().to_string(), libc::SIGURG), expected, "{setting}");
        program.kill();
    }
}

#[test]
fn a_program_that_handles_the_signal_itself_keeps_its_handler() {
    let program = Program::start("handles", "");
    let asker = Asker::start(&program, "1", Stdio::piped());
    let (status, text) = program.wait();
    assert!(status.success() && !text.contains("gmp: "), "{status}: {text}");
    drop(asker);
}

pub(super) fn ask(program: &Program, suffix: &str) -> String {
    let _watchdog = Watchdog::new();
    let mut asker = Asker::start(program, &format!("1{suffix}"), Stdio::piped());
    let mut answer = Vec::new();
    // The asker lives until its answer has ended.
    BufReader::new(asker.0.stdout.take().unwrap()).read_until(0, &mut answer).unwrap();
    assert_eq!(answer.pop(), Some(0), "the answer is whole");
    String::from_utf8(answer).unwrap()
}

/// Otherwise the sender of the signal could have the program write into any file that the program may
/// write.
#[test]
fn an_asker_that_names_another_descriptor_than_that_of_a_pipe_for_writing_gets_no_answer() {
    let program = Program::start("waits", "");
    let path = env::temp_dir().join(format!("gmp-asked-{}", std::process::id()));
    let file = File::create(&path).unwrap();
    // A file, and the end for reading of a pipe.
    for (descriptor, stdout) in [("1", Stdio::from(file)), ("0", Stdio::null()), ("1", Stdio::null())] {
        let _asker = Asker::start(&program, descriptor, stdout);
        // Meanwhile the first asker has asked many times.
        (0..5).for_each(|_| drop(ask(&program, "")));
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "");
    fs::remove_file(path).unwrap();
    let (_, text) = program.killed();
    assert_eq!(text, "", "nothing is printed");
}

#[test]
fn an_asker_that_does_not_read_is_given_up() {
    let program = Program::start("waits", "");
    let (reader, writer) = pipe_with(PipeFlags::NONBLOCK).unwrap();
    while rustix::io::write(&writer, &[0; 4096]).is_ok() {}
    let asker = Asker::start(&program, "1", Stdio::from(writer));
    wait_until(|| resources(&program)[1] > 3);
    // Otherwise an asker that goes away could end a program that has the default for SIGPIPE.
    wait_until(|| answering_thread_blocks(&program, libc::SIGPIPE));
    drop(asker);
    assert!(ask(&program, "").contains("5 tasks"));
    drop(reader);
    program.kill();
}

fn answering_thread_blocks(program: &Program, signal: i32) -> bool {
    let threads = fs::read_dir(format!("/proc/{}/task", program.child.id())).unwrap();
    let mut statuses = threads.filter_map(|thread| fs::read_to_string(thread.unwrap().path().join("status")).ok());
    let Some(status) = statuses.find(|status| status.starts_with("Name:\tgmp-dump\n")) else { return false };
    let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:\t")).unwrap();
    u64::from_str_radix(blocked, 16).unwrap() & 1 << (signal - 1) != 0
}

/// A process that names a descriptor of its own for the answer. A shell sends the signal itself, and
/// reads nothing. It asks sysmon, or if there is none, each thread in turn.
pub(super) struct Asker(pub(super) Child);

impl Asker {
    pub(super) fn start(program: &Program, descriptor: &str, stdout: Stdio) -> Asker {
        // Threads come and go.
        let script = "printf gmp-tasks:$1 > /proc/$$/comm; process=$2; shift 2
            while kill -0 $process; do for thread; do kill -URG $thread; sleep 0.02; done; done";
        let mut asker = Command::new("sh");
        asker.args(["-c", script, "sh", descriptor, &program.child.id().to_string()]).args(threads(program));
        Asker(asker.stderr(Stdio::null()).stdout(stdout).spawn().unwrap())
    }
}

fn threads(program: &Program) -> Vec<String> {
    let folder = format!("/proc/{}/task", program.child.id());
    let threads = fs::read_dir(&folder).unwrap().map(|thread| thread.unwrap().file_name().into_string().unwrap());
    let all: Vec<_> = threads.collect();
    let is_sysmon = |thread: &&String| {
        fs::read_to_string(format!("{folder}/{thread}/comm")).is_ok_and(|name| name == "gmp-sysmon\n")
    };
    all.iter().find(is_sysmon).map_or(all.clone(), |sysmon| vec![sysmon.clone()])
}

impl Drop for Asker {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}
