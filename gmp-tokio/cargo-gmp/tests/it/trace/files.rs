//! Files that are not whole, or do not belong together, and the command's habits.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use gmp_exec::task::yield_now;
use gmp_exec::trace::Recorder;

use super::told::{command, tell};
use super::{child, multi, rest};
use crate::support::{fails, succeeds, text};

/// A recording of so many polls, of one task.
pub(super) fn record(path: &Path, polls: usize) {
    let runtime = multi(2);
    let recorder = Recorder::start(runtime.handle()).unwrap();
    let task = runtime.spawn(async move {
        for _ in 1..polls {
            yield_now().await;
        }
    });
    runtime.block_on(task).unwrap();
    rest(&runtime, 2);
    recorder.stop().write_perfetto(fs::File::create(path).unwrap()).unwrap();
}

fn recorded(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    record(&path, 1_000);
    path
}

#[test]
fn two_recordings_are_refused_also_if_they_are_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| recorded(folder.path(), name));
    let error = fails(&mut command(&[&a, &b]), 1);
    let [a_name, b_name] = [&a, &b].map(|path| path.display().to_string());
    assert_eq!(
        error,
        format!(
            "error: {a_name} and {b_name} are two recordings, both of process {}: ask for each by itself\n",
            std::process::id()
        )
    );
    let both = folder.path().join("both");
    fs::write(&both, [fs::read(&a).unwrap(), fs::read(&b).unwrap()].concat()).unwrap();
    let error = fails(&mut command(&[&both]), 1);
    assert!(error.ends_with("both: this file has two recordings: ask for each by itself\n"), "{error}");
    tell(&[&a, &a]);
}

/// A file that an earlier run has left is not one of them.
#[test]
fn the_files_of_other_runtimes_of_the_process_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["a.x", "a-runtime2.x"].map(|name| recorded(folder.path(), name));
    child("short", &folder.path().join("a-runtime3.x"));
    for (file, other) in [(&first, &second), (&second, &first)] {
        let others = format!("\nother runtimes of the process: {}\n", other.display());
        assert!(tell(&[file]).text.ends_with(&others), "{}", tell(&[file]).text);
    }
}

#[test]
fn recordings_of_two_processes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a", "b"].map(|name| folder.path().join(name));
    let children = paths.each_ref().map(|path| child("short", path));
    let error = fails(&mut command(&paths), 1);
    assert!(error.contains(&format!("of the processes {} and {}: ask for each", children[0], children[1])), "{error}");
}

#[test]
fn what_is_left_of_a_file_that_is_cut_off_or_damaged_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let whole = recorded(folder.path(), "whole");
    let bytes = fs::read(&whole).unwrap();
    let polls = |text: &str| {
        let line = text.lines().find(|line| line.ends_with(" polls")).unwrap();
        line.rsplit(' ').nth(1).unwrap().parse::<usize>().unwrap()
    };
    let all = polls(&tell(&[&whole]).text);
    let part = folder.path().join("part");
    let half = bytes.len() / 2;
    let mut damaged = bytes.clone();
    damaged[half..half + 200].fill(0xff);
    for (name, bytes) in [("is cut off", &bytes[..half]), ("is damaged", &damaged)] {
        fs::write(&part, bytes).unwrap();
        let text = tell(&[&part]).text;
        let (first, _) = text.split_once('\n').unwrap();
        let (before, after) = first.split_once(&format!(" {name} at byte ")).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(before, part.display().to_string());
        let (at, rest) = after.split_once(" of ").unwrap();
        assert_eq!(rest, format!("{}; this is what it has before", bytes.len()));
        assert!((half - 1_000..half + 200).contains(&at.parse().unwrap()), "{text}");
        assert!((all / 4..all * 3 / 4).contains(&polls(&text)), "{} of {all}: {text}", polls(&text));
    }
}

/// Also if the last packet is whole.
#[test]
fn a_file_that_is_cut_off_anywhere_is_told_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = fs::read(recorded(folder.path(), "whole")).unwrap();
    let part = folder.path().join("part");
    for end in bytes.len() / 2..bytes.len() / 2 + 80 {
        fs::write(&part, &bytes[..end]).unwrap();
        let text = tell(&[&part]).text;
        assert!(text.starts_with(&format!("{} is cut off at byte ", part.display())), "{text}");
    }
}

#[test]
fn what_is_no_recording_is_refused_in_plain_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let name = path.display().to_string();
    for (bytes, expected) in [
        (&b"{\"traceEvents\":[]}"[..], "is not a recording of gmp's"),
        (b"", "is not a recording of gmp's"),
        (b"\x7fELF\x02\x01\x01", "is not a recording of gmp's"),
        (b"\x0a\x7f", "is not a recording of gmp's"),
        (b"\x0a\x02\x50\x01", "has no events that can be read"),
    ] {
        fs::write(&path, bytes).unwrap();
        assert_eq!(fails(&mut command(&[&path]), 1), format!("error: {name} {expected}\n"));
    }
    let missing = fails(&mut command(&[folder.path().join("missing")]), 1);
    assert!(missing.contains("missing: No such file"), "{missing}");
    let is_folder = fails(&mut command(&[folder.path()]), 1);
    assert!(is_folder.contains("Is a directory"), "{is_folder}");
}

#[test]
fn the_command_line_has_help_and_wrong_ones_are_told_apart_from_bad_files() {
    for option in ["--help", "-h"] {
        assert!(succeeds(&mut command(&[option])).contains("Usage: cargo gmp trace <FILE>..."));
    }
    let usage = "usage: cargo gmp trace <FILE>..., or trace [--for <TIME>] [--output <FILE>] <PID>\n";
    let none: [&str; 0] = [];
    assert_eq!(fails(&mut command(&none), 2), format!("error: no file, and no process; {usage}"));
    assert_eq!(fails(&mut command(&["--jsn"]), 2), format!("error: unknown option \"--jsn\"; {usage}"));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command(&[recorded(folder.path(), "a")]).stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(128 + 13), String::new()));
}
