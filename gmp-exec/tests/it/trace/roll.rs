//! `GMP_TRACE=FILE,roll=SIZE`: files that follow each other.

use std::fs;
use std::path::{Path, PathBuf};

use gmp_exec::runtime::Runtime;
use gmp_exec::task::yield_now;
use gmp_exec::trace::mark;

use super::decoder::{Decoded, decode};
use super::files::Ran;
use crate::support::wait_until;

/// In each round: more events than the files of `roll=8MiB` have.
const ROUND: usize = 12_000;
const ROUNDS: usize = 4;

/// All files of the folder, the oldest first.
fn paths(ran: &Ran) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(&ran.folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn whole(ran: &Ran) -> Decoded {
    let files: Vec<_> = paths(ran).into_iter().map(|path| fs::read(path).unwrap()).collect();
    files.iter().for_each(|file| drop(decode(file)));
    decode(&files.concat())
}

#[test]
fn old_files_are_deleted_and_the_others_follow_each_other() {
    let ran = Ran::of("rolls for long", ",roll=4MiB,size=256KiB");
    assert!(ran.said("gmp: the runtime ends: its recording is in "), "{}", ran.text);
    let (names, sizes): (Vec<_>, Vec<_>) = (paths(&ran).into_iter())
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path.metadata().unwrap().len()))
        .unzip();
    assert!(sizes.iter().sum::<u64>() <= 4 << 20, "{sizes:?}");
    let number = |name: &str| name["t-".len()..][..6].parse::<usize>().unwrap();
    let first = number(&names[0]);
    assert!(first > 1 && names.len() >= 3, "{names:?}");
    let expected: Vec<_> = (first..first + names.len()).map(|number| format!("t-{number:06}.pftrace")).collect();
    assert_eq!(names, expected);
    let trace = whole(&ran);
    assert!(trace.polls().count() > 10_000);
    let lost: u64 =
        trace.instants.iter().filter(|instant| instant.name == "events lost").map(|i| i.count.unwrap()).sum();
    assert_eq!(lost > 0, ran.said(" events are missing"), "{lost} lost: {}", ran.text);
}

/// Nothing is overwritten, because the program waits for each file.
#[test]
fn nothing_is_missing_between_two_files() {
    let ran = Ran::of("rolls slowly", ",roll=8MiB,size=1MiB");
    assert!(ran.files >= ROUNDS && !ran.said("missing"), "{} files: {}", ran.files, ran.text);
    let trace = whole(&ran);
    assert_eq!(trace.count("events lost"), 0);
    assert_eq!(trace.count("in a round"), ROUND * ROUNDS);
    let left: Vec<_> = trace.flow_ends.keys().filter(|flow| !trace.flow_begins.contains_key(flow)).collect();
    assert!(left.is_empty(), "polls without a wake-up: {left:?}");
    let ended = trace.slices.iter().filter(|slice| slice.left.as_deref() == Some("done")).count();
    assert!(ended >= ROUNDS, "{ended} tasks have ended");
    assert_eq!(trace.counters["tasks"].iter().map(|(_, tasks)| *tasks).max(), Some(2));
    blocked_poll_is_whole(&trace);
}

/// Each piece of the poll begins where the one before ends.
fn blocked_poll_is_whole(trace: &Decoded) {
    let task = trace.instants.iter().find(|instant| instant.name == "blocks").unwrap().task;
    let mut pieces: Vec<_> =
        trace.slices.iter().filter(|slice| slice.task == task && slice.category == "poll").collect();
    pieces.sort_by_key(|piece| piece.begin);
    assert!(pieces.iter().filter(|piece| piece.left.as_deref() == Some("cut")).count() >= 2, "{pieces:?}");
    for two in pieces.windows(2) {
        assert_eq!(two[0].end, Some(two[1].begin), "{pieces:?}");
    }
}

/// In a child.
pub(super) fn rolls(runtime: &Runtime) {
    let tasks: Vec<_> = (0..4).map(|_| runtime.spawn(yields(60_000))).collect();
    tasks.into_iter().for_each(|task| runtime.block_on(task).unwrap());
}

/// Until the first file is deleted.
pub(super) fn rolls_for_long(runtime: &Runtime, file: &Path) {
    let first = file.with_file_name("t-000001.pftrace");
    wait_for_files(file, 1);
    while first.exists() {
        rolls(runtime);
    }
}

async fn yields(times: usize) {
    for _ in 0..times {
        yield_now().await;
    }
}

/// In a child. Rounds of work, each until there is one more file, beside a task that blocks until
/// there are two.
pub(super) fn rolls_slowly(runtime: &Runtime, file: &Path) {
    let blocked = {
        let file = file.to_owned();
        runtime.spawn(async move {
            mark("blocks");
            wait_for_files(&file, 3);
        })
    };
    for round in 1..=ROUNDS {
        let task = runtime.spawn(async {
            for _ in 0..ROUND {
                mark("in a round");
                yield_now().await;
            }
        });
        runtime.block_on(task).unwrap();
        wait_for_files(file, round);
    }
    runtime.block_on(blocked).unwrap();
}

fn wait_for_files(file: &Path, count: usize) {
    wait_until(|| fs::read_dir(file.parent().unwrap()).unwrap().count() >= count);
}
