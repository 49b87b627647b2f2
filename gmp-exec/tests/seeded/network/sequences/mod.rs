//! Random sequences of calls: sockets under a seed answer as the kernel's do.

mod internet;
mod sequence;
mod unix;

use std::env;
use std::time::{Duration, Instant};

use crate::child::run_with;

/// Performs the sequence of that number, and returns a line for each call. The kernel learns what the
/// sockets under a seed have answered, as the weather decides how many bytes a read gets.
type Perform = fn(number: u64, seeded: &[String]) -> Vec<String>;

/// How often the kernel is asked, and for how long at the first difference.
const TRIES: usize = 5;
const PATIENCE: Duration = Duration::from_secs(10);

const SEQUENCES: u64 = 4_000;
/// Longer ones, some of which wait.
const SEQUENCES_OF_UNIX: u64 = 2_000;

pub(crate) fn internet() {
    print(SEQUENCES, internet::perform);
}

pub(crate) fn unix() {
    print(SEQUENCES_OF_UNIX, unix::perform);
}

pub(crate) fn unix_with_short_reads() {
    print(SEQUENCES_OF_UNIX, unix::perform_with_short_reads);
}

fn print(count: u64, perform: Perform) {
    let first = env::var("SEQUENCES_FROM").map_or(0, |from| from.parse().unwrap());
    for number in first..first + count {
        println!("sequence {number}");
        perform(number, &[]).iter().for_each(|line| println!("{line}"));
    }
}

#[test]
fn the_simulated_network_answers_as_the_kernel_does() {
    compare("internet_sequences", "calm", SEQUENCES, internet::perform);
}

#[test]
fn unix_sockets_answer_as_the_kernel_does() {
    compare("unix_sequences", "calm", SEQUENCES_OF_UNIX, unix::perform);
}

/// As if the rest had arrived after each short read.
#[test]
fn unix_sockets_with_short_reads_answer_as_the_kernel_does() {
    compare("unix_sequences_with_short_reads", "calm,short=50%", SEQUENCES_OF_UNIX, unix::perform_with_short_reads);
}

fn compare(scenario: &str, weather: &str, count: u64, perform: Perform) {
    let from = env::var("SEQUENCES_FROM").unwrap_or_else(|_| "0".to_owned());
    let run = run_with(scenario, 1, &[("GMP_SEED_NET", weather), ("SEQUENCES_FROM", &from)]);
    assert_eq!((run.field("end"), run.status), ("ok", Some(0)), "{}", run.stderr);
    let texts = run.stdout.split("sequence ").skip(1);
    let (mut compared, mut differences) = (0, Vec::new());
    for text in texts {
        let mut lines = text.lines().take_while(|line| !line.is_empty() && !line.starts_with("test "));
        let number = lines.next().unwrap().parse().unwrap();
        let seeded: Vec<_> = lines.map(str::to_owned).collect();
        if let Some(kernel) = difference(&seeded, differences.is_empty(), || perform(number, &seeded)) {
            differences.push(format!("sequence {number}:\n{}", side_by_side(&kernel, &seeded)));
        }
        compared += 1;
    }
    assert_eq!(compared, count);
    differences.sort_by_key(String::len);
    let few: Vec<_> = differences.iter().take(4).map(String::as_str).collect();
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), few.join("\n"));
}

/// What the kernel answers, if it never answers as the sockets under a seed did. The kernel delivers on
/// another thread now and then, when it is busy. And while another test starts a process, that process has
/// copies of all sockets, so the names of closed sockets stay in use.
fn difference(seeded: &[String], is_first: bool, perform: impl Fn() -> Vec<String>) -> Option<Vec<String>> {
    let (since, mut tries) = (Instant::now(), 0);
    loop {
        let kernel = perform();
        if kernel == seeded {
            return None;
        }
        tries += 1;
        if tries >= TRIES && (!is_first || since.elapsed() > PATIENCE) {
            return Some(kernel);
        }
    }
}

fn side_by_side(kernel: &[String], seeded: &[String]) -> String {
    let first = kernel.iter().zip(seeded).position(|(one, other)| one != other).unwrap_or(0);
    let same = kernel[..first].join("\n");
    format!("{same}\nkernel: {:?}\nseeded: {:?}", kernel.get(first), seeded.get(first))
}
