//! A process that was started with no setting records itself for one that asks, as `cargo gmp trace PID`
//! does.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::time::{Duration, Instant};
use std::{env, fs};

use super::asked::{Asker, ask};
use super::program::Program;
use crate::support::{Watchdog, wait_until};
use crate::trace::{Decoded, decode};

/// What the program records in a second, of each runtime.
fn record(program: &Program) -> Vec<Decoded> {
    let _watchdog = Watchdog::new();
    let mut asker = Asker::start(program, "1t1", Stdio::piped());
    let mut answer = BufReader::new(asker.0.stdout.take().unwrap());
    let mut line = || {
        let mut line = String::new();
        answer.read_line(&mut line).unwrap();
        line
    };
    assert_eq!(line(), "gmp 1\n");
    let count = line().strip_suffix(" recordings\n").unwrap().parse().unwrap();
    let recordings = (0..count).map(|_| decode(&recording(&mut answer))).collect();
    let mut end = [1];
    answer.read_exact(&mut end).unwrap();
    assert_eq!(end, [0]);
    recordings
}

fn recording(answer: &mut impl Read) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        let mut length = [0; 4];
        answer.read_exact(&mut length).unwrap();
        let length = u64::from(u32::from_le_bytes(length));
        assert_eq!(answer.take(length).read_to_end(&mut all).unwrap() as u64, length);
        if length == 0 {
            return all;
        }
    }
}

#[test]
fn a_process_records_itself_for_an_asker_again_and_again() {
    let program = Program::start("yields", "");
    for _ in 0..2 {
        let [recorded] = &record(&program)[..] else { panic!("the program has one runtime") };
        // The program polls 100 times and then sleeps for 0.2 ms.
        assert!(recorded.polls().count() > 1_000, "{}", recorded.polls().count());
        let [begin, end] =
            [recorded.polls().map(|poll| poll.begin).min(), recorded.polls().filter_map(|poll| poll.end).max()];
        let seconds = (end.unwrap() - begin.unwrap()) as f64 / 1e9;
        // Fast polls overwrite those of the first half, and a busy computer is late.
        assert!((0.05..30.0).contains(&seconds), "{seconds} s");
    }
    assert!(ask(&program, "").contains("1 task"), "the program goes on");
    let (_, text) = program.killed();
    assert_eq!(text, "", "nothing is printed");
}

#[test]
fn each_runtime_is_recorded_also_one_that_does_nothing() {
    let program = Program::start("waits", "");
    let recorded = record(&program);
    assert_eq!(recorded.iter().map(|recorded| recorded.polls().count()).collect::<Vec<_>>(), [0, 0]);
    program.kill();
}

/// What the program has asked for goes on, and the asker gets what there is of it.
#[test]
fn a_process_that_records_anyway_goes_on() {
    let path = env::temp_dir().join(format!("gmp-recording-{}.pftrace", std::process::id()));
    let setting = format!("{},on-sigquit", path.display());
    let program =
        Program::start_with("--default-signal=QUIT", "yields", &[("GMP_TRACE", &setting), ("GMP_DEBUG", "sigquit=1")]);
    assert!(record(&program)[0].polls().count() > 1_000);
    program.signal();
    wait_until(|| fs::metadata(&path).is_ok_and(|file| file.len() > 0));
    assert!(record(&program)[0].polls().count() > 1_000);
    program.kill();
    fs::remove_file(path).unwrap();
}

/// A recording takes a second, and others are answered meanwhile.
#[test]
fn others_are_answered_during_a_recording() {
    let program = Program::start("waits", "");
    let mut asker = Asker::start(&program, "1t60", Stdio::piped());
    let mut greeting = String::new();
    BufReader::new(asker.0.stdout.as_mut().unwrap()).read_line(&mut greeting).unwrap();
    assert_eq!(greeting, "gmp 1\n");
    // The asker asks again and again all the time.
    assert!(ask(&program, "").contains("5 tasks"));
    // The recording ends with its asker, and not when its time is over.
    let start = Instant::now();
    drop(asker);
    assert_eq!(record(&program).len(), 2);
    assert!(start.elapsed() < Duration::from_secs(45));
    program.kill();
}
