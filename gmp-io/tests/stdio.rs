//! Standard input and output in child processes: the example `stdio`.
//!
//! Cargo builds the examples before it runs a package's tests, unless single tests are selected
//! with `--test`.

#![cfg(unix)]

use std::io::{Read, Write};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use std::{env, thread};

/// Longer than anything here takes on the slowest machine.
const DEADLINE: Duration = Duration::from_secs(60);

#[test]
fn what_is_read_is_what_was_sent() {
    // Each read of the second process returns only a few bytes.
    for (program, length) in [("cat", 300_007_u32), ("cancel-reads", 30_007)] {
        let sent: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
        let mut child = start(&[program]);
        let mut input = child.stdin.take().expect("piped");
        let for_writer = sent.clone();
        let writer = thread::spawn(move || {
            for piece in for_writer.chunks(4_999) {
                input.write_all(piece).expect("the program reads");
            }
        });
        let output = finish(child);
        writer.join().expect("written");
        assert!(output.status.success(), "{program}: {output:?}");
        assert!(output.stdout == sent, "{program}: {} of {} bytes", output.stdout.len(), sent.len());
    }
}

#[test]
fn a_read_without_input_can_be_cancelled_and_does_not_keep_the_program() {
    let mut child = start(&["give-up-reading"]);
    let input = child.stdin.take();
    let output = finish(child);
    assert_eq!(output.stdout, b"nothing came\n");
    assert!(output.status.success());
    drop(input);
}

#[test]
fn a_write_that_finds_no_room_can_be_given_up_and_does_not_keep_the_program() {
    let mut child = start(&["give-up-writing"]);
    let mut output = child.stdout.take().expect("piped");
    let rest = finish(child);
    assert!(rest.status.success(), "{rest:?}");
    let reported: usize = String::from_utf8_lossy(&rest.stderr).trim().parse().expect("a number");
    let mut written = Vec::new();
    output.read_to_end(&mut written).expect("what is in the pipe");
    assert_eq!(written.len(), reported, "what was accepted was written, and nothing else");
    assert!(reported > 0);
}

#[test]
fn nothing_is_lost_without_a_flush_however_slow_the_reader() {
    let mut child = start(&["flood", "3000000"]);
    let mut output = child.stdout.take().expect("piped");
    let mut written = Vec::new();
    let mut piece = [0; 65_536];
    loop {
        let n = output.read(&mut piece).expect("readable");
        if n == 0 {
            break;
        }
        written.extend_from_slice(&piece[..n]);
        thread::yield_now();
    }
    assert!(finish(child).status.success());
    assert_eq!(written.len(), 3_000_000);
    assert!(written.iter().zip((0..=255).cycle()).all(|(written, sent)| *written == sent));
}

#[test]
fn a_closed_reader_is_an_error_and_no_signal() {
    let mut child = start(&["flood", "3000000"]);
    drop(child.stdout.take());
    let output = finish(child);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("Broken pipe"), "{output:?}");
}

#[test]
fn a_file_takes_everything() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let target = file.reopen().expect("a second handle");
    let child = program(&["flood", "3000000"]).stdout(target).spawn().expect("the example starts");
    assert!(finish(child).status.success());
    assert_eq!(file.as_file().metadata().expect("its size").len(), 3_000_000);
}

/// 64 MiB, of which no poll writes more than 2.
#[test]
fn a_file_is_written_in_turns_with_other_tasks() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let target = file.reopen().expect("a second handle");
    let output = finish(program(&["turns", "67108864"]).stdout(target).spawn().expect("the example starts"));
    assert!(output.status.success(), "{output:?}");
    assert_eq!(file.as_file().metadata().expect("its size").len(), 64 << 20);
    let turns: usize = String::from_utf8_lossy(&output.stderr).trim().parse().expect("a number");
    assert!(turns >= 32, "{turns}");
}

#[test]
fn a_stream_that_is_closed_swallows_and_gives_nothing() {
    // As the standard library's handles do.
    for (name, script) in [("input", "exec \"$0\" cat <&-"), ("output", "exec \"$0\" flood 10 >&-")] {
        let child = Command::new("sh").arg("-c").arg(script).arg(example()).spawn().expect("a shell");
        assert!(finish(child).status.success(), "{name}");
    }
}

#[test]
fn bad_arguments_are_named() {
    let output = finish(start(&["flood", "many"]));
    assert!(String::from_utf8_lossy(&output.stderr).contains("flood \"many\""), "{output:?}");
    let output = finish(start(&["dance"]));
    assert!(String::from_utf8_lossy(&output.stderr).contains("allowed are cat"), "{output:?}");
}

fn start(arguments: &[&str]) -> Child {
    program(arguments).stdout(Stdio::piped()).spawn().expect("the example starts")
}

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(example());
    command.args(arguments).stdin(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn example() -> std::path::PathBuf {
    let mut path = env::current_exe().expect("the test's own path");
    path.pop();
    path.set_file_name("examples");
    path.join("stdio")
}

/// Collects the output, and waits for the end of the process, which must come.
fn finish(child: Child) -> Output {
    let pid = child.id();
    let (sender, receiver) = channel();
    // `wait_with_output` would close the input, which some tests here must not do.
    thread::spawn(move || sender.send(collect(child)));
    let start = Instant::now();
    receiver.recv_timeout(DEADLINE).unwrap_or_else(|_| panic!("process {pid} still runs after {:?}", start.elapsed()))
}

fn collect(mut child: Child) -> Output {
    let input = child.stdin.take();
    let errors = child.stderr.take().map(|mut stderr| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            stderr.read_to_end(&mut bytes).expect("readable");
            bytes
        })
    });
    let mut stdout = Vec::new();
    if let Some(output) = &mut child.stdout {
        output.read_to_end(&mut stdout).expect("readable");
    }
    let status = child.wait().expect("its end");
    drop(input);
    Output { status, stdout, stderr: errors.map_or_else(Vec::new, |errors| errors.join().expect("collected")) }
}
