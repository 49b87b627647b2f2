//! Long recordings: everything goes into numbered files, before the rings overwrite it.
//!
//! The thread "gmp-trace" empties the rings once a second, and whenever a thread calls because it
//! has filled a half of its ring. The gathered events become a file after [`PERIOD`], or sooner if
//! there are many. No other thread waits for "gmp-trace": events that a ring has overwritten before
//! it comes are lost, and the file says how many there were.
//!
//! A file ends at a moment, the cut, which is read before the rings are emptied for the last time.
//! Events after the cut stay for the next file. An event that a thread began to write before the
//! cut and finished after the rings were emptied is in the next file, at the moment of the cut.

use std::collections::BTreeMap;
use std::io;
use std::mem;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use gmp_insight::perfetto::{self, Carried, Gone};

use super::clock::{Reading, Scale};
use super::event::{Event, Kind, Left, PollEnd, TIME};
use super::files::{Files, say};
use super::recording::{Copy, Source};
use super::request::Request;
use super::rolled_files::RolledFiles;
use super::snapshot::{RingEvents, Snapshot, Timed};
use crate::sched::{Scheduler, SchedulerRef};
use crate::sync::Arc;

/// How often the rings are emptied at least.
const INTERVAL: Duration = Duration::from_secs(1);
/// A file has what happened in this time at most. A process that is killed has lost no more.
const PERIOD: Duration = Duration::from_secs(10);
/// A file has about so many events at most.
const MOST_EVENTS: usize = 1 << 18;
/// An event has about so many bytes in a file, and there is room for several files.
const BYTES_PER_EVENT: u64 = 64;
const LEAST_FILES: u64 = 4;

/// Serves requests until the runtime ends.
pub(super) fn serve(files: &Files, scheduler: &Arc<Scheduler>, requests: &Receiver<Request>, limit: u64) {
    let mut roll = Roll::new(files, limit);
    loop {
        let is_over = match requests.recv_timeout(INTERVAL) {
            Ok(Request::End) | Err(RecvTimeoutError::Disconnected) => true,
            Ok(_) | Err(RecvTimeoutError::Timeout) => false,
        };
        roll.gather();
        if is_over {
            return roll.end(scheduler);
        }
        if roll.is_file_due() {
            roll.write_until_now(scheduler);
        }
    }
}

struct Roll<'a> {
    files: &'a Files,
    rolled: RolledFiles,
    most_events: usize,
    /// Events that were read, and are in no file yet.
    gathered: BTreeMap<Source, Gathered>,
    /// When the file before was written.
    since: Instant,
    /// When the next file begins.
    begin: Reading,
    carried: Carried,
    /// Events of rings that are gone, and of which no file has told yet.
    missed: u64,
    /// Those that a file that can't be written would have had.
    unwritten: u64,
    /// All events that are missing.
    lost: u64,
    has_failed: bool,
}

/// The events of one ring.
#[derive(Debug, Default)]
struct Gathered {
    events: Vec<Event>,
    /// Events that are missing before the next one.
    lost: u64,
    /// The moment of the latest event that was read.
    latest: Option<u64>,
    /// The part before ended in a gap.
    is_in_gap: bool,
    has_writer: bool,
}

impl<'a> Roll<'a> {
    fn new(files: &'a Files, limit: u64) -> Roll<'a> {
        let most = usize::try_from(limit / LEAST_FILES / BYTES_PER_EVENT).unwrap_or(usize::MAX);
        Roll {
            files,
            rolled: RolledFiles::new(&files.settings.file, limit),
            most_events: most.min(MOST_EVENTS),
            gathered: BTreeMap::new(),
            since: Instant::now(),
            begin: Reading::default(),
            carried: Carried::default(),
            missed: 0,
            unwritten: 0,
            lost: 0,
            has_failed: false,
        }
    }

    /// Empties the rings.
    fn gather(&mut self) {
        let (copies, missed) = self.files.recording.take_new();
        self.gathered.values_mut().for_each(|gathered| gathered.has_writer = false);
        for copy in copies {
            self.lost += copy.copied.overwritten;
            self.gathered.entry(copy.source).or_default().add(&copy);
        }
        self.missed += missed;
        self.lost += missed;
    }

    fn is_file_due(&self) -> bool {
        let events = self.events();
        events >= self.most_events || (events > 0 && self.since.elapsed() >= PERIOD)
    }

    fn events(&self) -> usize {
        self.gathered.values().map(|gathered| gathered.events.len()).sum()
    }

    fn write_until_now(&mut self, scheduler: &Arc<Scheduler>) {
        let now = self.files.recording.reading();
        self.gather();
        self.write_until(scheduler, now);
    }

    /// The last file has everything.
    fn end(mut self, scheduler: &Arc<Scheduler>) {
        if self.events() > 0 {
            let now = self.files.recording.reading();
            self.write_until(scheduler, now);
        }
        let lost = match self.lost {
            0 => String::new(),
            lost => format!("; {lost} events are missing"),
        };
        if let Some((first, last)) = self.rolled.range() {
            say(&format!("the runtime ends: its recording is in {} to {}{lost}", first.display(), last.display()));
        }
    }

    /// In several files, if much was gathered.
    fn write_until(&mut self, scheduler: &Arc<Scheduler>, now: Reading) {
        while self.begin != now {
            self.write(scheduler, self.next_cut(now));
        }
    }

    /// When the next file ends: not so late that the file has far too many events.
    fn next_cut(&self, now: Reading) -> Reading {
        let events = self.events();
        let most = self.gathered.values().map(|gathered| &gathered.events).max_by_key(|events| events.len());
        match most.filter(|_| events > 2 * self.most_events) {
            Some(most) => {
                let last = &most[(most.len() as f64 * self.most_events as f64 / events as f64) as usize];
                Scale::between(self.begin, now).reading_at(last.ticks, TIME)
            }
            None => now,
        }
    }

    /// Writes what happened until the cut.
    fn write(&mut self, scheduler: &Arc<Scheduler>, cut: Reading) {
        let scale = Scale::between(self.begin, cut);
        let rings: Vec<RingEvents> =
            self.gathered.iter_mut().map(|(source, gathered)| gathered.take_part(*source, scale)).collect();
        self.gathered.retain(|_, gathered| gathered.has_writer || !gathered.events.is_empty());
        let scheduler = SchedulerRef::new(scheduler.clone());
        let mut part = Snapshot::with(&self.files.recording, &scheduler, rings, scale, self.lost);
        part.tasks = self.tasks_before_the_rest(part.tasks);
        // Those that were missed may have come at any moment of the part.
        let until = if self.missed > 0 { part.taken_at } else { 0 };
        part.gone = Gone { events: mem::take(&mut self.missed) + mem::take(&mut self.unwritten), until };
        let mut bytes = Vec::new();
        let encoded = perfetto::write_part(&part.to_draw(), &mut self.carried, &mut bytes);
        if let Err(error) = encoded.and_then(|()| self.rolled.add(&bytes)) {
            self.fail(&part, &error);
        }
        (self.begin, self.since) = (cut, Instant::now());
    }

    /// How many tasks there were at the cut, if there are so many after it.
    fn tasks_before_the_rest(&self, tasks: usize) -> usize {
        let rest = self.gathered.values().flat_map(|gathered| &gathered.events);
        let change: i64 = rest.map(|event| change_of_tasks(*event)).sum();
        usize::try_from(tasks as i64 - change).unwrap_or(0)
    }

    /// What a file that can't be written would have had is missing.
    fn fail(&mut self, part: &Snapshot, error: &io::Error) {
        let lost = part.len() as u64;
        self.unwritten += lost + part.gone.events;
        self.lost += lost;
        if !mem::replace(&mut self.has_failed, true) {
            say(&format!("can't write a part of {}: {error}", self.files.settings.file.display()));
        }
    }
}

/// How many tasks more there are after the event.
fn change_of_tasks(event: Event) -> i64 {
    let end = || PollEnd::unpack(event.small);
    match event.kind {
        Kind::Spawn => 1,
        Kind::PollEnd if end().left == Left::Done && !end().is_root => -1,
        _ => 0,
    }
}

impl Gathered {
    fn add(&mut self, copy: &Copy) {
        self.has_writer |= copy.has_writer;
        self.lost += copy.copied.overwritten;
        let mut events = copy.copied.events.iter().filter_map(|words| Event::unpack(*words)).peekable();
        if let Some(first) = events.peek().filter(|_| self.lost > 0) {
            let (ticks, subject) = (self.latest.unwrap_or(first.ticks), mem::take(&mut self.lost));
            self.events.push(Event { kind: Kind::Lost, ticks, subject, small: 0 });
        }
        self.events.extend(events);
        self.latest = self.events.last().map(|last| last.ticks).or(self.latest);
    }

    /// The events until the end of the scale. The others stay.
    fn take_part(&mut self, source: Source, scale: Scale) -> RingEvents {
        let later = self.events.iter().position(|event| scale.is_later(event.ticks, TIME));
        let rest = self.events.split_off(later.unwrap_or(self.events.len()));
        let events = mem::replace(&mut self.events, rest);
        let ends_in_gap = events.last().map_or(self.is_in_gap, |last| last.kind == Kind::Lost);
        RingEvents {
            source,
            events: events.into_iter().map(|event| Timed::of(event, scale)).collect(),
            missing: mem::replace(&mut self.is_in_gap, ends_in_gap).then_some(0),
            has_writer: self.has_writer || !self.events.is_empty(),
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::trace::recording::{Owner, Recording};

    fn kinds(part: &RingEvents) -> Vec<(Kind, u64)> {
        part.events.iter().map(|timed| (timed.event.kind, timed.event.subject)).collect()
    }

    #[test]
    fn what_comes_after_the_cut_stays_for_the_next_part() {
        let recording = Recording::new(1 << 20, None);
        let mut writer = recording.join(Owner::Machine(0));
        let mut gathered = Gathered::default();
        writer.record_at(writer.ticks(), Kind::Mark, 1, 0);
        let cut = recording.reading();
        while !Scale::between(Reading::default(), cut).is_later(writer.ticks(), TIME) {}
        writer.record_at(writer.ticks(), Kind::Mark, 2, 0);
        gathered.add(&recording.take_new().0[0]);
        let source = (Some(Owner::Machine(0)), 1);
        let first = gathered.take_part(source, Scale::between(Reading::default(), cut));
        assert_eq!((kinds(&first), first.has_writer), (vec![(Kind::Mark, 1)], true));
        let second = gathered.take_part(source, Scale::between(cut, recording.reading()));
        assert_eq!(kinds(&second), [(Kind::Mark, 2)]);
        assert!(first.events[0].at <= cut.nanoseconds && second.events[0].at >= cut.nanoseconds);
    }

    #[test]
    fn a_part_that_begins_in_a_gap_is_cut() {
        let recording = Recording::new(1 << 20, None);
        let writer = recording.join(Owner::Machine(0));
        let event = |kind, ticks| Event { kind, ticks, subject: 5, small: 0 };
        let early = writer.ticks();
        let cut = recording.reading();
        while !Scale::between(Reading::default(), cut).is_later(writer.ticks(), TIME) {}
        let events = vec![event(Kind::Lost, early), event(Kind::Mark, writer.ticks())];
        let mut gathered = Gathered { events, ..Gathered::default() };
        let mut take_part = |from, to| gathered.take_part((Some(Owner::Machine(0)), 1), Scale::between(from, to));
        let (first, second) = (take_part(Reading::default(), cut), take_part(cut, recording.reading()));
        assert_eq!((kinds(&first), first.missing), (vec![(Kind::Lost, 5)], None));
        assert_eq!((kinds(&second), second.missing), (vec![(Kind::Mark, 5)], Some(0)));
    }

    #[test]
    fn what_was_overwritten_is_counted_before_the_rest() {
        let recording = Recording::new(4 << 10, None);
        let mut writer = recording.join(Owner::Machine(0));
        let mut gathered = Gathered::default();
        (0..300).for_each(|number| writer.record_at(writer.ticks(), Kind::Mark, number, 0));
        gathered.add(&recording.take_new().0[0]);
        let scale = Scale::between(Reading::default(), recording.reading());
        let part = gathered.take_part((Some(Owner::Machine(0)), 1), scale);
        // The ring has 256 events, and the reader loses one more.
        assert_eq!(kinds(&part)[..2], [(Kind::Lost, 45), (Kind::Mark, 45)]);
        assert_eq!(part.events.len(), 256);
    }
}
