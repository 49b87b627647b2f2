//! What a trace says, in words: where the time went, what was long, and when nothing ran.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use super::file::{Slice, Trace};

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
    busiest(trace, processors, &mut text);
    longest(trace, &mut text);
    latency(trace, &mut text);
    takes(trace, &mut text);
    sections(trace, &mut text);
    steals(trace, &mut text);
    pauses(trace, &mut text);
    text
}

fn busiest(trace: &Trace, processors: u64, text: &mut String) {
    let mut places = BTreeMap::<&str, (u64, u64, u64)>::new();
    for poll in trace.slices.iter().filter(|slice| slice.is_poll) {
        let (on, without, count) = places.entry(&poll.name).or_default();
        if poll.is_on_processor() {
            *on += poll.length();
            *count += 1;
        } else {
            *without += poll.length();
        }
    }
    let mut places: Vec<_> = places.into_iter().collect();
    places.sort_by_key(|(_, (on, without, _))| std::cmp::Reverse(on + without));
    let _ = writeln!(text, "\nbusiest places (share of all processors; time; polls; time without a processor)");
    for (name, (on, without, count)) in places.into_iter().take(MOST) {
        let share = on as f64 * 100.0 / processors as f64;
        let _ = writeln!(text, "  {share:>5.1} %  {:>9}  {count:>8}  {:>9}  {name}", time(on), time(without));
    }
}

/// A poll that goes on without its processor is two slices, which are added up here.
fn longest(trace: &Trace, text: &mut String) {
    let (on, without): (Vec<&Slice>, Vec<&Slice>) =
        trace.slices.iter().filter(|slice| slice.is_poll).partition(|poll| poll.is_on_processor());
    // A poll goes on at the moment at which it loses its processor.
    let mut rests: HashMap<_, &Slice> = without.into_iter().map(|rest| ((rest.task, rest.begin), rest)).collect();
    let mut polls: Vec<(u64, &Slice, u64)> = Vec::new();
    for poll in on {
        let rest = if poll.goes_on { rests.remove(&(poll.task, poll.end)).map_or(0, Slice::length) } else { 0 };
        polls.push((poll.length() + rest, poll, rest));
    }
    polls.extend(rests.into_values().map(|poll| (poll.length(), poll, poll.length())));
    polls.sort_by_key(|(length, poll, _)| (std::cmp::Reverse(*length), poll.begin));
    let _ = writeln!(text, "\nlongest polls (when; how long; of that without a processor)");
    for (length, poll, rest) in polls.into_iter().take(MOST) {
        let at = time(poll.begin - trace.begin);
        let task = poll.task.map_or_else(String::new, |task| format!("task {task}, "));
        let open = if poll.has_ended { "" } else { " (not over)" };
        let (length, rest) = (time(length), time(rest));
        let _ = writeln!(text, "  at {at:>9}  {length:>9}  {rest:>9}  {task}{}, {}{open}", poll.name, poll.track);
    }
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

fn takes(trace: &Trace, text: &mut String) {
    let takes: Vec<_> = trace.instants.iter().filter(|instant| instant.name.contains(" taken: ")).collect();
    if takes.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nprocessors taken from a thread that held them for too long: {}", takes.len());
    for take in takes.iter().take(MOST) {
        let at = time(take.at - trace.begin);
        let during =
            trace.slices.iter().find(|slice| slice.track == take.track && slice.is_poll && slice.begin >= take.at);
        let during = during.map_or_else(String::new, |poll| format!(", in {}", poll.name));
        let _ = writeln!(text, "  at {at:>9}  {} {}{during}", take.track, take.name);
    }
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

/// The times in which no task ran anywhere, and those in which polls held their threads but no
/// processor.
fn pauses(trace: &Trace, text: &mut String) {
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
    pauses.sort_by_key(|(from, to)| std::cmp::Reverse(to - from));
    if pauses.is_empty() {
        return;
    }
    let total: u64 = pauses.iter().map(|(from, to)| to - from).sum();
    let _ = writeln!(text, "\nnothing ran on any processor: {} in all", time(total));
    for (from, to) in pauses.into_iter().take(MOST) {
        let (begin, end) = (time(from - trace.begin), time(to - trace.begin));
        let _ = writeln!(text, "  from {begin:>9} to {end:>9}: {}", time(to - from));
    }
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
    use crate::trace::file::Instant;

    fn slice(track: &str, name: &str, task: u64, begin: u64, end: u64, goes_on: bool) -> Slice {
        let (track, name) = (track.to_owned(), name.to_owned());
        Slice { track, is_poll: true, name, task: Some(task), begin, end, has_ended: true, goes_on }
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
        trace.wakes.insert(1, 19 * ms);
        trace.polls_of.insert(1, 2);
        let expected = "\
100 ms on 2 processors, 3 polls

busiest places (share of all processors; time; polls; time without a processor)
    5.0 %    10.0 ms         1    50.0 ms  a.rs:1
    2.5 %    5.00 ms         1       0 ns  b.rs:2

longest polls (when; how long; of that without a processor)
  at      0 ns    60.0 ms    50.0 ms  task 7, a.rs:1, P0
  at   20.0 ms    5.00 ms       0 ns  task 8, b.rs:2, P1

from a wake-up to its poll (1 of them)
  p50 1.00 ms   p90 1.00 ms   p99 1.00 ms   p99.9 1.00 ms
  longest 1.00 ms: b.rs:2, from 19.0 ms to 20.0 ms

processors taken from a thread that held them for too long: 1
  at   10.0 ms  M1 P0 taken: the thread sleeps, in a.rs:1

nothing ran on any processor: 85.0 ms in all
  from   25.0 ms to    100 ms: 75.0 ms
  from   10.0 ms to   20.0 ms: 10.0 ms
";
        assert_eq!(report(&trace), expected);
    }

    #[test]
    fn times_have_three_digits() {
        let times = [0, 999, 1_000, 12_340, 999_900, 1_500_000, 250_000_000, 2_000_000_000].map(time);
        assert_eq!(times, ["0 ns", "999 ns", "1.00 µs", "12.3 µs", "1000 µs", "1.50 ms", "250 ms", "2.00 s"]);
    }
}
