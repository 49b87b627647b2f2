//! What was added up, in words: where the time went, what was long, and when nothing ran.

use std::cmp::Reverse;
use std::fmt::Write;

use super::crowds::{self, Crowd};
use super::event::{Name, Names, TrackKind};
use super::idle::Late;
use super::polls::{Poll, Take};
use super::tell::{Place, Row, Told};
use super::top::MOST;
use crate::counted::counted;

pub(super) struct Report<'a> {
    pub(super) told: Told,
    pub(super) names: &'a Names,
    /// How many the runtime has.
    pub(super) processors: usize,
}

impl Report<'_> {
    pub(super) fn text(mut self) -> String {
        let mut text = String::new();
        let (length, polls) = (time(self.told.end - self.told.begin), self.told.polls);
        if polls == 0 && self.told.places.is_empty() && self.told.lost.is_empty() {
            return "no poll has begun or ended while this was recorded\n".to_owned();
        }
        let _ =
            writeln!(text, "{length} on {}, {}", counted(self.processors as u64, "processor"), counted(polls, "poll"));
        self.missing(&mut text);
        if self.told.whole.total() > 0 || self.told.lost.is_empty() {
            self.busiest(&mut text);
            self.longest(&mut text);
            self.crowds(&mut text);
            self.latency(&mut text);
            self.takes(&mut text);
            self.sections(&mut text);
            self.steals(&mut text);
            self.pauses(&mut text);
        }
        text
    }

    /// Which events are not there, and what that means for the rest.
    fn missing(&self, text: &mut String) {
        let told = &self.told;
        if told.between_files > 0 {
            let _ = writeln!(text, "nothing is known of {} between the files", time(told.between_files));
        }
        if told.lost.is_empty() {
            return;
        }
        let total: u64 = told.lost.values().sum();
        let mut threads: Vec<(Name, u64)> = told.lost.iter().map(|(name, count)| (*name, *count)).collect();
        threads.sort_by_key(|(name, count)| (Reverse(*count), *name));
        let mut list: Vec<String> =
            threads.iter().take(MOST).map(|(name, count)| with_events(self.text_of(*name), *count)).collect();
        list.extend(threads.len().checked_sub(MOST + 1).map(|more| format!("{} more threads", more + 1)));
        let total = if total == 0 { String::new() } else { format!("{total} ") };
        let _ = writeln!(text, "{total}events are missing ({})", list.join(", "));
        let whole = time(told.whole.total());
        let _ = match (told.whole.total(), told.whole.only_stretch()) {
            (0, _) => writeln!(text, "at no time, all threads' events are there, so nothing else can be said"),
            (_, Some(since)) => writeln!(
                text,
                "all that follows is about the {whole} from {} on, of which all threads' events are there",
                self.at(since)
            ),
            _ => writeln!(text, "all that follows is about the {whole} of which all threads' events are there"),
        };
        let _ = writeln!(text, "more memory keeps more events: start the program with GMP_TRACE=FILE,size=64MiB");
    }

    fn busiest(&self, text: &mut String) {
        let processors = (self.told.whole.total() * self.processors as u64).max(1);
        let mut places: Vec<(&Place, &Row)> = self.told.places.iter().collect();
        let total = |row: &Row| row.with_processor + row.without + row.asleep;
        places.sort_by_key(|(place, row)| (Reverse(total(row)), place.name, place.is_local));
        let _ = writeln!(
            text,
            "\nbusiest places (share of all processors; time with a processor; without one; asleep without one; polls; \
             longest poll)"
        );
        for (place, row) in places.into_iter().take(MOST) {
            let share = match place.is_closures {
                // The time is not only work.
                true => "-".to_owned(),
                false => {
                    let share = (row.with_processor + row.without) as f64 * 100.0 / processors as f64;
                    // Not each thread without a processor is looked at, so it may have slept.
                    format!("{}{share:.1} %", if row.without > 0 { "≤" } else { "" })
                }
            };
            let [with, without, asleep, longest] = [row.with_processor, row.without, row.asleep, row.longest].map(time);
            let (polls, name) = (row.polls, self.place(*place));
            let _ =
                writeln!(text, "  {share:>7}  {with:>9}  {without:>9}  {asleep:>9}  {polls:>8}  {longest:>9}  {name}");
        }
    }

    fn place(&self, place: Place) -> String {
        let name = self.text_of(place.name);
        match place {
            Place { is_local: true, .. } => format!("{name}, inside the poll of its LocalSet"),
            Place { is_closures: true, .. } => format!("{name}, closures"),
            _ => name.to_owned(),
        }
    }

    fn longest(&mut self, text: &mut String) {
        let _ =
            writeln!(text, "\nlongest polls (when; how long; of that without a processor; where the task was spawned)");
        let polls: Vec<Poll> = self.told.longest.list().map(|(_, poll)| *poll).collect();
        for poll in polls {
            let (at, length, without) = (self.at(poll.begin.at), time(poll.length()), time(poll.without));
            let open = if poll.is_over { "" } else { " (not over)" };
            let _ = writeln!(text, "  at {at:>9}  {length:>9}  {without:>9}  {}{open}", self.on_track(&poll));
        }
    }

    fn on_track(&self, poll: &Poll) -> String {
        format!("{}, {}", self.subject(poll.task, poll.name), self.text_of(poll.track.title))
    }

    fn subject(&self, task: Option<u64>, name: Name) -> String {
        let task = task.map_or_else(String::new, |task| format!("task {task}, "));
        format!("{task}{}", self.text_of(name))
    }

    fn crowds(&self, text: &mut String) {
        let crowds = crowds::crowds(&self.told.long);
        if crowds.is_empty() {
            return;
        }
        let _ = writeln!(
            text,
            "\npolls that slept and ended together, as those do that wait for one lock: {}",
            crowds.len()
        );
        for crowd in crowds.iter().take(MOST) {
            let _ = writeln!(text, "  {}", self.crowd(crowd));
        }
        let mut companions: Vec<&str> =
            crowds.iter().filter_map(|crowd| crowd.beside).map(|beside| self.text_of(beside.name)).collect();
        companions.sort_unstable();
        for same in companions.chunk_by(|a, b| a == b) {
            let (count, name) = (same.len(), same[0]);
            let _ = writeln!(text, "  {count} of {} together with a poll of {name} that did not sleep", crowds.len());
        }
    }

    fn crowd(&self, Crowd { polls, beside }: &Crowd) -> String {
        let [first, .., last] = &polls[..] else { return String::new() };
        let longest = polls.iter().map(Poll::length).max().unwrap_or_default();
        let (at, within) = (self.at(first.end.at), time(last.end.at - first.end.at));
        let ended_too = |poll: &Poll| format!("; so did {}, after {}", self.on_track(poll), time(poll.length()));
        let beside = beside.as_ref().map_or_else(String::new, ended_too);
        let (count, name, longest) = (polls.len(), self.text_of(first.name), time(longest));
        format!("at {at:>9}  {count} of {name} ended within {within}, after up to {longest}{beside}")
    }

    fn latency(&mut self, text: &mut String) {
        let waits = &mut self.told.waits;
        waits.sort_unstable();
        let Some((longest, (name, begin))) = self.told.longest_wait.list().next() else { return };
        let (name, begin) = (*name, *begin);
        let at = |share: f64| time(waits[((waits.len() - 1) as f64 * share) as usize]);
        let _ = writeln!(text, "\nfrom a wake-up to its poll ({} of them)", waits.len());
        let _ = writeln!(text, "  p50 {}   p90 {}   p99 {}   p99.9 {}", at(0.5), at(0.9), at(0.99), at(0.999));
        let (from, to) = (self.at(begin - longest), self.at(begin));
        let _ = writeln!(text, "  longest {}: {}, from {from} to {to}", time(longest), self.text_of(name));
    }

    /// The processors that were taken latest come first.
    fn takes(&mut self, text: &mut String) {
        let takes = &mut self.told.takes;
        if takes.count == 0 {
            return;
        }
        let _ = writeln!(text, "\nprocessors taken from a thread that held them for too long: {}", takes.count);
        let (seen, named) = (takes.seen, takes.named);
        let _ = writeln!(text, "  {seen} of them seen in a system call, {named} with the line that called it");
        let takes: Vec<Take> = takes.latest.list().map(|(_, take)| *take).collect();
        for take in takes {
            let after = take.lost_by.map_or_else(String::new, |loser| time(loser.after));
            let (at, track, name) = (self.at(take.at), self.text_of(take.track.title), self.text_of(take.name));
            let _ = writeln!(text, "  at {at:>9}  after {after:>9}  {track} {name}{}", self.loser(&take));
        }
    }

    /// The place says where the task comes from, not where the thread is.
    fn loser(&self, take: &Take) -> String {
        let Some(loser) = take.lost_by else { return String::new() };
        let place = match self.text_of(loser.name) {
            place if place.starts_with("block_on ") => format!(", in {place}"),
            place => format!(", task spawned at {place}"),
        };
        let asleep = loser.asleep_in.map(|call| format!(", asleep in {}", self.text_of(call)));
        let called = loser.called.map(|line| format!(", {}", self.text_of(line)));
        [Some(place), asleep, called].into_iter().flatten().collect()
    }

    fn sections(&self, text: &mut String) {
        let sections = &self.told.sections;
        if sections.count > 0 {
            let (count, total, longest) = (sections.count, time(sections.total), time(sections.longest));
            let _ = writeln!(text, "\nblocking sections: {count}, {total} in all, the longest {longest}");
        }
    }

    fn steals(&self, text: &mut String) {
        let steals = &self.told.steals;
        if !steals.is_empty() {
            let mut list: Vec<String> =
                steals.iter().map(|(victim, count)| format!("{} {count}", self.text_of(*victim))).collect();
            list.sort();
            let _ = writeln!(text, "\nsteals: {} ({})", steals.values().sum::<u64>(), list.join(", "));
        }
    }

    /// The times in which no processor ran a task.
    fn pauses(&mut self, text: &mut String) {
        let whole = self.told.whole.total().max(1);
        let share = |part: u64| format!("{} % of the time ({})", part * 100 / whole, time(part));
        if self.told.idle.nothing > 0 {
            let _ = writeln!(text, "\nnothing ran: {}", share(self.told.idle.nothing));
        }
        if self.told.idle.without_processor > 0 {
            let share = share(self.told.idle.without_processor);
            let _ = writeln!(text, "\nonly threads without a processor were in polls: {share}");
            self.without_processor(text);
        }
        let late: Vec<(u64, Late)> = self.told.idle.late.list().map(|(wait, late)| (wait, *late)).collect();
        if !late.is_empty() {
            let _ = writeln!(text, "\ntasks that were ready although no processor ran another one");
        }
        for (wait, Late { name, task, at }) in late {
            let (from, to) = (self.at(at - wait), self.at(at));
            let _ = writeln!(text, "  {}: from {from:>9} to {to:>9}, {}", self.subject(task, name), time(wait));
        }
    }

    fn without_processor(&self, text: &mut String) {
        let mut places: Vec<_> = self.told.idle.places.iter().collect();
        places.sort_by_key(|((name, ..), length)| (Reverse(**length), *name));
        for ((name, kind, is_asleep), length) in places.into_iter().take(MOST) {
            let how = match (kind, is_asleep) {
                (TrackKind::Closures, _) => ", closures",
                (_, true) => ", seen asleep",
                (_, false) => "",
            };
            let _ = writeln!(text, "  {:>9}  {}{how}", time(*length), self.text_of(*name));
        }
    }

    fn text_of(&self, name: Name) -> &str {
        self.names.text(name)
    }

    fn at(&self, moment: u64) -> String {
        time(moment.saturating_sub(self.told.begin))
    }
}

/// 0: how many is said in an earlier file.
fn with_events(thread: &str, events: u64) -> String {
    if events == 0 { thread.to_owned() } else { format!("{thread} {events}") }
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
    use super::time;

    #[test]
    fn times_have_three_digits() {
        let times = [0, 999, 1_000, 12_340, 999_900, 1_500_000, 250_000_000, 2_000_000_000].map(time);
        assert_eq!(times, ["0 ns", "999 ns", "1.00 µs", "12.3 µs", "1000 µs", "1.50 ms", "250 ms", "2.00 s"]);
    }
}
