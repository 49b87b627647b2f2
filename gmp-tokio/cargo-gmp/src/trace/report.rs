//! What a trace says, in words: where the time went, what was long, and when nothing ran.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::file::{Instant, Slice, Trace};
use super::polls::{self, Crowd, Poll};

/// Entries in each list.
const MOST: usize = 10;
/// Shorter times in which nothing ran are not worth a line, in nanoseconds.
const PAUSE: u64 = 1_000_000;

pub(super) fn report(trace: &Trace) -> String {
    let mut text = String::new();
    let length = trace.end - trace.begin;
    let polls = trace.slices.iter().filter(|slice| slice.is_poll).count();
    let _ = writeln!(text, "{} on {} processors, {polls} polls", time(length), trace.processors);
    let processors = (length * trace.processors as u64).max(1);
    lost(trace, &mut text);
    busiest(trace, processors, &mut text);
    let polls = polls::polls(trace);
    longest(trace, &polls, &mut text);
    crowds(trace, &polls, &mut text);
    latency(trace, &mut text);
    takes(trace, &mut text);
    sections(trace, &mut text);
    steals(trace, &mut text);
    pauses(trace, &mut text);
    text
}

fn lost(trace: &Trace, text: &mut String) {
    if trace.lost > 0 {
        let _ = writeln!(text, "{} events are missing: they came too fast to be written", trace.lost);
    }
}

fn busiest(trace: &Trace, processors: u64, text: &mut String) {
    let mut places = BTreeMap::<(&str, bool), (u64, u64, u64, u64)>::new();
    for poll in trace.slices.iter().filter(|slice| slice.is_poll || slice.is_local) {
        let (on, without, count, longest) = places.entry((&poll.name, poll.is_local)).or_default();
        *longest = poll.length().max(*longest);
        if poll.is_on_processor() {
            *on += poll.length();
            *count += 1;
        } else {
            *without += poll.length();
        }
    }
    let mut places: Vec<_> = places.into_iter().collect();
    places.sort_by_key(|(_, (on, without, ..))| std::cmp::Reverse(on + without));
    let _ = writeln!(
        text,
        "\nbusiest places (share of all processors; time; polls; longest stretch; time without a processor)"
    );
    for ((name, is_local), (on, without, count, longest)) in places.into_iter().take(MOST) {
        let name = if is_local { format!("{name}, inside the poll of its LocalSet") } else { name.to_owned() };
        let share = on as f64 * 100.0 / processors as f64;
        let _ = writeln!(
            text,
            "  {share:>5.1} %  {:>9}  {count:>8}  {:>9}  {:>9}  {name}",
            time(on),
            time(longest),
            time(without)
        );
    }
}

fn longest(trace: &Trace, polls: &[Poll<'_>], text: &mut String) {
    let mut polls = polls.to_vec();
    polls.sort_by_key(|poll| (std::cmp::Reverse(poll.length), poll.first.begin));
    let _ = writeln!(text, "\nlongest polls (when; how long; of that without a processor)");
    for Poll { first, length, without, .. } in polls.into_iter().take(MOST) {
        let at = time(first.begin - trace.begin);
        let open = if first.has_ended && !first.is_cut { "" } else { " (not over)" };
        let (length, without) = (time(length), time(without));
        let _ = writeln!(text, "  at {at:>9}  {length:>9}  {without:>9}  {}, {}{open}", subject(first), first.track);
    }
}

fn subject(poll: &Slice) -> String {
    let task = poll.task.map_or_else(String::new, |task| format!("task {task}, "));
    format!("{task}{}", poll.name)
}

fn crowds(trace: &Trace, polls: &[Poll<'_>], text: &mut String) {
    let crowds = polls::crowds(polls);
    if crowds.is_empty() {
        return;
    }
    let _ =
        writeln!(text, "\npolls that slept and ended together, as those do that wait for one lock: {}", crowds.len());
    let mut companions = BTreeMap::<&str, usize>::new();
    for (index, crowd) in crowds.iter().enumerate() {
        if let Some(beside) = crowd.beside {
            *companions.entry(&beside.first.name).or_default() += 1;
        }
        if index < MOST {
            let _ = writeln!(text, "  {}", crowd_line(trace, crowd));
        }
    }
    for (name, count) in companions {
        let _ = writeln!(text, "  {count} of {} together with a poll of {name} that did not sleep", crowds.len());
    }
}

fn crowd_line(trace: &Trace, Crowd { polls, beside }: &Crowd<'_>) -> String {
    let [first, .., last] = &polls[..] else { return String::new() };
    let longest = polls.iter().map(|poll| poll.length).max().unwrap_or_default();
    let (at, within) = (time(first.end() - trace.begin), time(last.end() - first.end()));
    let ended_too =
        |poll: Poll<'_>| format!("; so did {}, {}, after {}", subject(poll.first), poll.first.track, time(poll.length));
    let beside = beside.map_or_else(String::new, ended_too);
    let (count, name, longest) = (polls.len(), &first.first.name, time(longest));
    format!("at {at:>9}  {count} of {name} ended within {within}, after up to {longest}{beside}")
}

fn latency(trace: &Trace, text: &mut String) {
    let mut waits: Vec<(u64, &Slice)> = (trace.polls_of.iter())
        .filter_map(|(flow, index)| {
            let poll = &trace.slices[*index];
            Some((poll.begin.saturating_sub(*trace.wakes.get(flow)?), poll))
        })
        .collect();
    waits.sort_by_key(|(wait, poll)| (*wait, poll.begin));
    let Some((longest, poll)) = waits.last() else { return };
    let at = |share: f64| time(waits[((waits.len() - 1) as f64 * share) as usize].0);
    let _ = writeln!(text, "\nfrom a wake-up to its poll ({} of them)", waits.len());
    let _ = writeln!(text, "  p50 {}   p90 {}   p99 {}   p99.9 {}", at(0.5), at(0.9), at(0.99), at(0.999));
    let begin = poll.begin - trace.begin;
    let _ = writeln!(
        text,
        "  longest {}: {}, from {} to {}",
        time(*longest),
        poll.name,
        time(begin - longest),
        time(begin)
    );
}

/// The processors that were taken latest come first.
fn takes(trace: &Trace, text: &mut String) {
    let is_take = |instant: &&Instant| instant.name.contains(" taken: ");
    let mut takes: Vec<Take<'_>> = trace.instants.iter().filter(is_take).map(|take| Take::of(trace, take)).collect();
    if takes.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nprocessors taken from a thread that held them for too long: {}", takes.len());
    let seen = takes.iter().filter(|take| take.rest.is_some_and(|poll| poll.asleep_in.is_some())).count();
    let named = takes.iter().filter(|take| take.rest.is_some_and(|poll| poll.called.is_some())).count();
    let _ = writeln!(text, "  {seen} of them seen in a system call, {named} with the line that called it");
    takes.sort_by_key(|take| (std::cmp::Reverse(take.after), take.instant.at));
    for take in takes.iter().take(MOST) {
        let (at, after) = (time(take.instant.at - trace.begin), take.after.map_or_else(String::new, time));
        let during = take.rest.map_or_else(String::new, |poll| format!(", in {}{}", poll.name, asleep(poll)));
        let _ = writeln!(text, "  at {at:>9}  after {after:>9}  {} {}{during}", take.instant.track, take.instant.name);
    }
}

struct Take<'a> {
    instant: &'a Instant,
    /// The rest of the poll, without the processor.
    rest: Option<&'a Slice>,
    /// How long the poll had held the processor.
    after: Option<u64>,
}

impl<'a> Take<'a> {
    fn of(trace: &'a Trace, instant: &'a Instant) -> Take<'a> {
        let is_rest = |slice: &&Slice| slice.track == instant.track && slice.is_poll && slice.begin >= instant.at;
        let rest = trace.slices.iter().find(is_rest);
        let is_first = |slice: &&Slice| {
            rest.is_some_and(|rest| slice.goes_on && (slice.task, slice.end) == (rest.task, rest.begin))
        };
        Take { instant, rest, after: trace.slices.iter().find(is_first).map(Slice::length) }
    }
}

/// What was seen of the thread of a poll.
fn asleep(poll: &Slice) -> String {
    let parts = [poll.asleep_in.as_ref().map(|call| format!("asleep in {call}")), poll.called.clone()];
    parts.into_iter().flatten().map(|part| format!(", {part}")).collect()
}

fn sections(trace: &Trace, text: &mut String) {
    let sections: Vec<_> = trace.slices.iter().filter(|slice| slice.name == "blocking section").collect();
    let total: u64 = sections.iter().map(|slice| slice.length()).sum();
    let Some(longest) = sections.iter().map(|slice| slice.length()).max() else { return };
    let _ = writeln!(
        text,
        "\nblocking sections: {}, {} in all, the longest {}",
        sections.len(),
        time(total),
        time(longest)
    );
}

fn steals(trace: &Trace, text: &mut String) {
    let mut victims = BTreeMap::<&str, u64>::new();
    for instant in &trace.instants {
        if let Some(victim) = instant.name.strip_prefix("stolen from ") {
            *victims.entry(victim).or_default() += 1;
        }
    }
    if victims.is_empty() {
        return;
    }
    let list: Vec<String> = victims.iter().map(|(victim, count)| format!("{victim} {count}")).collect();
    let _ = writeln!(text, "\nsteals: {} ({})", victims.values().sum::<u64>(), list.join(", "));
}

/// The times in which no task ran anywhere, and those among them in which a task was ready.
fn pauses(trace: &Trace, text: &mut String) {
    let pauses = times_without_polls(trace);
    if pauses.is_empty() {
        return;
    }
    let total: u64 = pauses.iter().map(|(from, to)| to - from).sum();
    let share = total * 100 / (trace.end - trace.begin).max(1);
    let _ = writeln!(text, "\nnothing ran on any processor: {share} % of the time ({})", time(total));
    let mut late: Vec<(u64, &Slice)> = Vec::new();
    for (flow, index) in &trace.polls_of {
        let (poll, Some(wake)) = (&trace.slices[*index], trace.wakes.get(flow)) else { continue };
        // A task that was woken in the pause or before, and whose poll ended the pause.
        let pause = pauses.binary_search_by_key(&poll.begin, |(_, to)| *to).ok();
        late.extend(pause.map(|pause| (poll.begin - pauses[pause].0.max(*wake), poll)));
    }
    late.retain(|(wait, _)| *wait >= PAUSE);
    late.sort_by_key(|(wait, poll)| (std::cmp::Reverse(*wait), poll.begin));
    for (wait, poll) in late.into_iter().take(MOST) {
        let (from, to) = (time(poll.begin - wait - trace.begin), time(poll.begin - trace.begin));
        let _ = writeln!(text, "  although {} was ready: from {from:>9} to {to:>9}, {}", subject(poll), time(wait));
    }
}

/// In the order of time, without those in which events are missing.
fn times_without_polls(trace: &Trace) -> Vec<(u64, u64)> {
    let mut polls: Vec<&Slice> = trace.slices.iter().filter(|slice| slice.is_poll && slice.is_on_processor()).collect();
    polls.sort_by_key(|poll| poll.begin);
    let mut pauses = Vec::new();
    let mut over = trace.begin;
    for poll in polls {
        if poll.begin > over + PAUSE {
            pauses.push((over, poll.begin));
        }
        over = over.max(poll.end);
    }
    if trace.end > over + PAUSE {
        pauses.push((over, trace.end));
    }
    pauses.retain(|(from, to)| !trace.gaps.iter().any(|gap| (from..=to).contains(&gap)));
    pauses
}

/// Three digits and a unit.
fn time(nanoseconds: u64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let value = nanoseconds as f64;
    match units.into_iter().find(|(unit, _)| value >= *unit) {
        Some((unit, name)) => {
            let value = value / unit;
            let decimals = if value >= 100.0 {
                0
            } else if value >= 10.0 {
                1
            } else {
                2
            };
            format!("{value:.decimals$} {name}")
        }
        None => format!("{nanoseconds} ns"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(track: &str, name: &str, task: u64, begin: u64, end: u64, goes_on: bool) -> Slice {
        let (track, name) = (track.to_owned(), name.to_owned());
        Slice {
            track,
            is_poll: true,
            is_local: false,
            name,
            task: Some(task),
            begin,
            end,
            has_ended: true,
            goes_on,
            is_cut: false,
            asleep_in: None,
            called: None,
        }
    }

    #[test]
    fn a_known_trace_has_a_known_report() {
        let ms = 1_000_000;
        let mut trace = Trace { begin: 0, end: 100 * ms, processors: 2, ..Trace::default() };
        trace.slices = vec![
            slice("P0", "a.rs:1", 7, 0, 10 * ms, true),
            slice("M1", "a.rs:1", 7, 10 * ms, 60 * ms, false),
            slice("P1", "b.rs:2", 8, 20 * ms, 25 * ms, false),
        ];
        trace.instants =
            vec![Instant { track: "M1".to_owned(), name: "P0 taken: the thread sleeps".to_owned(), at: 10 * ms }];
        trace.slices[1].asleep_in = Some("clock_nanosleep".to_owned());
        trace.slices[1].called = Some("called at a.rs:7".to_owned());
        trace.wakes.insert(1, 19 * ms);
        trace.polls_of.insert(1, 2);
        let expected = "\
100 ms on 2 processors, 3 polls

busiest places (share of all processors; time; polls; longest stretch; time without a processor)
    5.0 %    10.0 ms         1    50.0 ms    50.0 ms  a.rs:1
    2.5 %    5.00 ms         1    5.00 ms       0 ns  b.rs:2

longest polls (when; how long; of that without a processor)
  at      0 ns    60.0 ms    50.0 ms  task 7, a.rs:1, P0
  at   20.0 ms    5.00 ms       0 ns  task 8, b.rs:2, P1

from a wake-up to its poll (1 of them)
  p50 1.00 ms   p90 1.00 ms   p99 1.00 ms   p99.9 1.00 ms
  longest 1.00 ms: b.rs:2, from 19.0 ms to 20.0 ms

processors taken from a thread that held them for too long: 1
  1 of them seen in a system call, 1 with the line that called it
  at   10.0 ms  after   10.0 ms  M1 P0 taken: the thread sleeps, in a.rs:1, asleep in clock_nanosleep, called at a.rs:7

nothing ran on any processor: 85 % of the time (85.0 ms)
  although task 8, b.rs:2 was ready: from   19.0 ms to   20.0 ms, 1.00 ms
";
        assert_eq!(report(&trace), expected);
    }

    #[test]
    fn nothing_is_said_of_a_time_in_which_events_are_missing() {
        let slices = vec![slice("P0", "a.rs:1", 1, 0, 10, false), slice("P0", "a.rs:1", 2, 60, 90, false)];
        let ms = |slice: Slice| Slice { begin: slice.begin * 1_000_000, end: slice.end * 1_000_000, ..slice };
        let slices = slices.into_iter().map(ms).collect();
        let mut trace = Trace { end: 90_000_000, slices, ..Trace::default() };
        assert_eq!(times_without_polls(&trace), [(10_000_000, 60_000_000)]);
        trace.gaps.push(10_000_000);
        assert_eq!(times_without_polls(&trace), []);
    }

    /// Two handlers wait for the lock that a third task holds, once with a processor and once
    /// without.
    #[test]
    fn those_who_wait_for_a_lock_are_told_with_the_task_that_ended_when_they_did() {
        let ms = 1_000_000;
        let mut trace = Trace { begin: 0, end: 100 * ms, processors: 2, ..Trace::default() };
        trace.slices = vec![
            slice("P0", "lock.rs:1", 1, 10 * ms, 20 * ms, false),
            slice("P1", "wait.rs:2", 2, 11 * ms, 12 * ms, true),
            slice("M2", "wait.rs:2", 2, 12 * ms, 20 * ms, false),
            slice("P1", "wait.rs:2", 3, 13 * ms, 20 * ms + 500_000, false),
            slice("P1", "wait.rs:2", 4, 40 * ms, 45 * ms, false),
            slice("P0", "other.rs:3", 5, 60 * ms, 70 * ms, false),
        ];
        trace.slices[3].asleep_in = Some("futex".to_owned());
        let taken = |track: &str, why: &str, at| Instant {
            track: track.to_owned(),
            name: format!("P1 taken: the thread {why}"),
            at,
        };
        trace.instants =
            vec![taken("M2", "sleeps", 12 * ms), taken("M3", "computes", 71 * ms), taken("M4", "computes", 72 * ms)];
        // Two polls that compute and end together wait for nothing.
        trace.slices.push(slice("P1", "busy.rs:4", 6, 70 * ms, 71 * ms, true));
        trace.slices.push(slice("M3", "busy.rs:4", 6, 71 * ms, 80 * ms, false));
        trace.slices.push(slice("P0", "busy.rs:4", 7, 71 * ms, 72 * ms, true));
        trace.slices.push(slice("M4", "busy.rs:4", 7, 72 * ms, 80 * ms, false));
        let report = report(&trace);
        let expected = "
polls that slept and ended together, as those do that wait for one lock: 1
  at   20.0 ms  2 of wait.rs:2 ended within 500 µs, after up to 9.00 ms; so did task 1, lock.rs:1, P0, after 10.0 ms
  1 of 1 together with a poll of lock.rs:1 that did not sleep
";
        assert!(report.contains(expected), "{report}");
    }

    #[test]
    fn times_have_three_digits() {
        let times = [0, 999, 1_000, 12_340, 999_900, 1_500_000, 250_000_000, 2_000_000_000].map(time);
        assert_eq!(times, ["0 ns", "999 ns", "1.00 µs", "12.3 µs", "1000 µs", "1.50 ms", "250 ms", "2.00 s"]);
    }
}
