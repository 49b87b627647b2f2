//! Known events have a known report.

use super::event::{Begin, Event, Left, Name, Names, SliceKind, Track, TrackKind, What};
use super::report::Report;
use super::tell::Telling;

const MS: u64 = 1_000_000;

/// The events of a recording, in the order of time.
#[derive(Default)]
struct Script {
    names: Names,
    telling: Telling,
}

impl Script {
    fn name(&mut self, text: &str) -> Name {
        self.names.name(text.to_owned())
    }

    /// At a moment in milliseconds.
    fn event(&mut self, at: u64, track: &str, what: What) {
        let track = Track { title: self.name(track), kind: TrackKind::of(track) };
        self.telling.add(&Event { at: at * MS, track, what });
    }

    fn slice(&mut self, at: u64, track: &str, name: &str, task: u64, change: impl FnOnce(&mut Begin)) {
        let mut begin = Begin {
            kind: SliceKind::Poll,
            name: self.name(name),
            task: Some(task),
            flow: None,
            is_resumed: false,
            asleep_in: None,
            called: None,
        };
        change(&mut begin);
        self.event(at, track, What::Begin(begin));
    }

    fn begin(&mut self, at: u64, track: &str, name: &str, task: u64) {
        self.slice(at, track, name, task, |_| {});
    }

    fn end(&mut self, at: u64, track: &str, left: Left) {
        self.event(at, track, What::End(left));
    }

    fn poll(&mut self, from: u64, to: u64, track: &str, name: &str, task: u64) {
        self.begin(from, track, name, task);
        self.end(to, track, Left::Over);
    }

    /// The thread of this track loses the processor, and goes on with its poll.
    fn take(&mut self, at: u64, processor: &str, track: &str, sleeps: bool) {
        let what = if sleeps { "sleeps" } else { "computes" };
        let name = self.name(&format!("{processor} taken: the thread {what}"));
        self.event(at, track, What::Take { name, sleeps });
        self.end(at, processor, Left::GoesOn);
    }

    fn snapshot(&mut self, at: u64) {
        let name = self.name("snapshot");
        self.event(at, "other threads", What::Other(name));
    }

    fn report(self) -> String {
        Report { told: self.telling.finish(), names: &self.names, processors: 2 }.text()
    }
}

/// The lines after this one, up to an empty line.
fn below(report: &str, title: &str) -> Vec<String> {
    let lines = report.lines().skip_while(|line| !line.starts_with(title)).skip(1);
    lines.take_while(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// As of a process that waits for requests.
#[test]
fn a_recording_without_polls_says_so() {
    let mut script = Script::default();
    script.snapshot(100);
    assert_eq!(script.report(), "no poll has begun or ended while this was recorded\n");
}

#[test]
fn a_known_trace_has_a_known_report() {
    let mut script = Script::default();
    script.begin(0, "P0", "a.rs:1", 7);
    script.take(10, "P0", "M1", true);
    let [call, line] = ["clock_nanosleep", "called at a.rs:7"].map(|text| script.name(text));
    script.slice(10, "M1", "a.rs:1", 7, |rest| (rest.asleep_in, rest.called) = (Some(call), Some(line)));
    script.event(19, "M1", What::Wake(Some(1)));
    script.slice(20, "P1", "b.rs:2", 8, |begin| begin.flow = Some(1));
    script.end(25, "P1", Left::Over);
    script.end(60, "M1", Left::Over);
    script.snapshot(100);
    let expected = "\
100 ms on 2 processors, 2 polls

busiest places (share of all processors; time with a processor; without one; asleep without one; polls; longest poll)
    5.0 %    10.0 ms       0 ns    50.0 ms         1    60.0 ms  a.rs:1
    2.5 %    5.00 ms       0 ns       0 ns         1    5.00 ms  b.rs:2

longest polls (when; how long; of that without a processor; where the task was spawned)
  at      0 ns    60.0 ms    50.0 ms  task 7, a.rs:1, P0
  at   20.0 ms    5.00 ms       0 ns  task 8, b.rs:2, P1

from a wake-up to its poll (1 of them)
  p50 1.00 ms   p90 1.00 ms   p99 1.00 ms   p99.9 1.00 ms
  longest 1.00 ms: b.rs:2, from 19.0 ms to 20.0 ms

processors taken from a thread that held them for too long: 1
  1 of them seen in a system call, 1 with the line that called it
  at   10.0 ms  after   10.0 ms  M1 P0 taken: the thread sleeps, task spawned at a.rs:1, asleep in clock_nanosleep, called at a.rs:7

nothing ran: 40 % of the time (40.0 ms)

only threads without a processor were in polls: 45 % of the time (45.0 ms)
    45.0 ms  a.rs:1, seen asleep

tasks that were ready although no processor ran another one
  task 8, b.rs:2: from   19.0 ms to   20.0 ms, 1.00 ms
";
    assert_eq!(script.report(), expected);
}

/// Two handlers wait for the lock that a third task holds, once with a processor and once without.
/// Not each thread that has lost its processor is looked at.
#[test]
fn time_without_a_processor_may_be_work_or_sleep() {
    let mut script = Script::default();
    script.begin(0, "P0", "a.rs:1", 7);
    script.take(10, "P0", "M1", false);
    script.begin(10, "M1", "a.rs:1", 7);
    script.end(60, "M1", Left::Over);
    script.snapshot(100);
    let rows = below(&script.report(), "busiest places");
    assert_eq!(rows, ["  ≤30.0 %    10.0 ms    50.0 ms       0 ns         1    60.0 ms  a.rs:1"]);
}

#[test]
fn those_who_wait_for_a_lock_are_told_with_the_task_that_ended_when_they_did() {
    let mut script = Script::default();
    script.begin(10, "P0", "lock.rs:1", 1);
    script.begin(11, "P1", "wait.rs:2", 2);
    script.take(12, "P1", "M2", true);
    script.begin(12, "M2", "wait.rs:2", 2);
    let call = script.name("futex");
    script.slice(13, "P1", "wait.rs:2", 3, |begin| begin.asleep_in = Some(call));
    for track in ["P0", "M2", "P1"] {
        script.end(20, track, Left::Over);
    }
    script.poll(40, 45, "P1", "wait.rs:2", 4);
    script.poll(60, 70, "P0", "other.rs:3", 5);
    // Two polls that compute and end together wait for nothing.
    for (processor, thread, task) in [("P0", "M3", 6), ("P1", "M4", 7)] {
        script.begin(71, processor, "busy.rs:4", task);
        script.take(71, processor, thread, false);
        script.begin(71, thread, "busy.rs:4", task);
    }
    ["M3", "M4"].into_iter().for_each(|thread| script.end(80, thread, Left::Over));
    let report = script.report();
    let expected = "
polls that slept and ended together, as those do that wait for one lock: 1
  at   10.0 ms  2 of wait.rs:2 ended within 0 ns, after up to 9.00 ms; so did task 1, lock.rs:1, P0, after 10.0 ms
  1 of 1 together with a poll of lock.rs:1 that did not sleep
";
    assert!(report.contains(expected), "{report}");
}

/// A quiet thread has its old events. The poll that a task's first wake-up has led to is missing.
#[test]
fn of_the_time_in_which_events_are_missing_nothing_is_said() {
    let mut script = Script::default();
    script.event(0, "M1", What::Lost(900));
    script.event(0, "M2", What::Lost(80));
    script.event(1, "M3", What::Wake(Some(1)));
    script.poll(2, 3, "P0", "quiet.rs:1", 5);
    script.slice(40, "P0", "busy.rs:2", 6, |begin| begin.flow = Some(1));
    script.event(40, "M1", What::Complete);
    script.event(41, "M3", What::Wake(Some(2)));
    script.event(50, "M2", What::Complete);
    script.event(51, "M3", What::Wake(Some(3)));
    script.end(55, "P0", Left::Over);
    script.slice(55, "P0", "busy.rs:2", 7, |begin| begin.flow = Some(2));
    script.end(56, "P0", Left::Over);
    script.slice(56, "P0", "busy.rs:2", 8, |begin| begin.flow = Some(3));
    script.end(60, "P0", Left::Over);
    let report = script.report();
    let head = "\
60.0 ms on 2 processors, 3 polls
980 events are missing (M1 900, M2 80)
all that follows is about the 10.0 ms from 50.0 ms on, of which all threads' events are there
more memory keeps more events: start the program with GMP_TRACE=FILE,size=64MiB
";
    assert!(report.starts_with(head), "{report}");
    let row = "   50.0 %    10.0 ms       0 ns       0 ns         3    15.0 ms  busy.rs:2";
    assert_eq!(below(&report, "busiest places"), [row], "{report}");
    assert!(report.contains("longest 5.00 ms: busy.rs:2, from 51.0 ms to 56.0 ms"), "{report}");
    assert!(!report.contains("nothing ran"), "{report}");
}

/// The second file's rings have overwritten what the first has, for one thread more than that.
#[test]
fn what_another_file_has_is_not_missing() {
    let mut script = Script::default();
    script.poll(0, 20, "P0", "a.rs:1", 1);
    script.snapshot(20);
    script.telling.file_begins();
    script.event(1, "M1", What::Lost(7));
    script.event(1, "M2", What::Lost(9));
    script.event(15, "M1", What::Complete);
    script.event(25, "M2", What::Complete);
    script.poll(26, 30, "P0", "a.rs:1", 2);
    let report = script.report();
    assert!(
        report.contains("\n9 events are missing (M2 9)\nall that follows is about the 25.0 ms of which"),
        "{report}"
    );
}

#[test]
fn a_file_that_begins_in_a_gap_does_not_know_how_much_is_missing() {
    let mut script = Script::default();
    script.event(0, "M1", What::Lost(0));
    script.event(5, "M1", What::Complete);
    script.snapshot(20);
    let report = script.report();
    assert!(
        report.contains("\nevents are missing (M1)\nall that follows is about the 15.0 ms from 5.00 ms on"),
        "{report}"
    );
}

#[test]
fn without_any_time_of_which_all_events_are_there_nothing_is_said() {
    let mut script = Script::default();
    script.event(0, "M1", What::Lost(9));
    script.poll(2, 3, "P0", "quiet.rs:1", 5);
    let report = script.report();
    assert!(report.contains("at no time, all threads' events are there"), "{report}");
    assert!(!report.contains("quiet.rs"), "{report}");
}

/// A blocking section begins with a processor, which is taken meanwhile, and the poll goes on.
#[test]
fn a_poll_with_a_blocking_section_is_one_poll() {
    let mut script = Script::default();
    let section = |begin: &mut Begin| begin.kind = SliceKind::Section;
    script.begin(0, "P0", "a.rs:1", 7);
    script.slice(1, "M1", "blocking section", 7, section);
    script.take(3, "P0", "M1", true);
    script.end(6, "M1", Left::GoesOn);
    script.begin(6, "M1", "a.rs:1", 7);
    script.end(10, "M1", Left::Over);
    let report = script.report();
    assert!(report.starts_with("10.0 ms on 2 processors, 1 poll\n"), "{report}");
    assert_eq!(below(&report, "longest polls"), ["  at      0 ns    10.0 ms    7.00 ms  task 7, a.rs:1, P0"]);
    assert!(report.contains("at   3.00 ms  after   3.00 ms  M1 P0 taken: the thread sleeps, task spawned at a.rs:1\n"));
    assert!(report.contains("blocking sections: 1, 5.00 ms in all, the longest 5.00 ms"), "{report}");
}

/// The longest polls of two files, of which the second begins then.
fn longest_of_two(second_begins: u64, is_resumed: bool) -> Vec<String> {
    let mut script = Script::default();
    script.begin(1, "P0", "a.rs:1", 7);
    script.end(5, "P0", Left::Cut);
    script.telling.file_begins();
    script.slice(second_begins, "P0", "a.rs:1", 7, |begin| begin.is_resumed = is_resumed);
    script.end(9, "P0", Left::Over);
    below(&script.report(), "longest polls")
}

#[test]
fn a_slice_that_a_file_has_cut_goes_on_in_the_next() {
    assert_eq!(longest_of_two(5, true), ["  at      0 ns    8.00 ms       0 ns  task 7, a.rs:1, P0"]);
    let cut = "  at      0 ns    4.00 ms       0 ns  task 7, a.rs:1, P0 (not over)";
    let later = "  at   5.00 ms    3.00 ms       0 ns  task 7, a.rs:1, P0";
    assert_eq!(longest_of_two(6, true), [cut, later], "the next file is missing");
    let at_once = "  at   4.00 ms    4.00 ms       0 ns  task 7, a.rs:1, P0";
    let mut both = longest_of_two(5, false);
    both.sort();
    assert_eq!(both, [cut, at_once]);
}

#[test]
fn between_two_files_nothing_is_known() {
    let mut script = Script::default();
    script.poll(0, 2, "P0", "a.rs:1", 1);
    script.telling.file_begins();
    script.poll(52, 54, "P0", "a.rs:1", 2);
    let report = script.report();
    assert!(report.starts_with("54.0 ms on 2 processors, 2 polls\nnothing is known of 50.0 ms between the files\n"));
    assert_eq!(
        below(&report, "busiest places"),
        ["   50.0 %    4.00 ms       0 ns       0 ns         2    2.00 ms  a.rs:1"]
    );
    assert!(!report.contains("nothing ran"), "{report}");
}

/// The second was written later, with a part of the first.
#[test]
fn what_two_files_have_counts_once() {
    let mut script = Script::default();
    script.poll(0, 2, "P0", "a.rs:1", 1);
    script.begin(3, "P0", "a.rs:1", 2);
    script.snapshot(4);
    script.telling.file_begins();
    script.poll(1, 2, "P0", "a.rs:1", 1);
    script.begin(3, "P0", "a.rs:1", 2);
    script.end(5, "P0", Left::Over);
    script.poll(6, 7, "P0", "a.rs:1", 3);
    let report = script.report();
    assert!(report.starts_with("7.00 ms on 2 processors, 3 polls\n"), "{report}");
}
