//! Adds up what the events say, one after the other.

use std::collections::{BTreeMap, HashMap};

use super::crowds::LONG;
use super::event::{Begin, Event, Left, Name, SliceKind, Track, TrackKind, What};
use super::idle::Idle;
use super::polls::{Poll, Polls, Seen, Take};
use super::top::Top;
use super::whole::{Moment, Whole};

/// What the report needs. Polls, waits and sums are of the time that is whole.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The first moment, which is 0 in the report, as in Perfetto.
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) whole: Whole,
    /// Missing events by thread.
    pub(super) lost: BTreeMap<Name, u64>,
    /// How long nothing is known because files are missing.
    pub(super) between_files: u64,
    pub(super) polls: u64,
    pub(super) places: HashMap<Place, Row>,
    pub(super) longest: Top<Poll>,
    /// Polls that are [`LONG`].
    pub(super) long: Vec<Poll>,
    /// From a wake-up to its poll.
    pub(super) waits: Vec<u64>,
    pub(super) longest_wait: Top<(Name, u64)>,
    pub(super) takes: Takes,
    pub(super) sections: Sections,
    /// Steals, by the processor that had the task.
    pub(super) steals: BTreeMap<Name, u64>,
    pub(super) idle: Idle,
}

/// Where tasks were spawned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) name: Name,
    pub(super) is_local: bool,
    /// Closures that run on threads of their own.
    pub(super) is_closures: bool,
}

/// The polls of a place, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Row {
    pub(super) with_processor: u64,
    pub(super) without: u64,
    pub(super) asleep: u64,
    pub(super) polls: u64,
    pub(super) longest: u64,
}

#[derive(Debug, Default)]
pub(super) struct Takes {
    pub(super) count: u64,
    /// The thread was seen in a system call.
    pub(super) seen: u64,
    /// With the line that called that.
    pub(super) named: u64,
    pub(super) latest: Top<Take>,
}

#[derive(Debug, Default)]
pub(super) struct Sections {
    pub(super) count: u64,
    pub(super) total: u64,
    pub(super) longest: u64,
    open: HashMap<Track, Moment>,
}

/// Follows the events of all files.
#[derive(Debug, Default)]
pub(super) struct Telling {
    told: Told,
    polls: Polls,
    /// The moments of wake-ups whose polls have not begun.
    wakes: HashMap<u64, Moment>,
    has_begun: bool,
    is_new_file: bool,
    /// The file before had the events until then.
    known_until: u64,
    /// Events that this file lacks by thread, of which the file before may have some.
    perhaps_lost: HashMap<Name, u64>,
}

impl Telling {
    /// The next event is another file's.
    pub(super) fn file_begins(&mut self) {
        self.is_new_file = true;
    }

    pub(super) fn add(&mut self, event: &Event) {
        if !self.has_begun || std::mem::take(&mut self.is_new_file) {
            self.begin_file(event.at);
        }
        // A file that was written while the recording went on may have a part of the file before.
        let is_known = event.at < self.known_until;
        if !is_known {
            self.advance(event.at);
        }
        match event.what {
            What::Lost(count) => self.lost(event.track.title, count, is_known),
            What::Complete => {
                self.told.whole.end_gap(event.track.title);
                let lost = self.perhaps_lost.remove(&event.track.title).filter(|_| !is_known);
                lost.into_iter().for_each(|count| self.told.lost_in_all(event.track.title, count));
            }
            _ if is_known => {}
            _ => self.follow(event),
        }
    }

    fn lost(&mut self, track: Name, count: u64, is_known: bool) {
        self.told.whole.begin_gap(track);
        if is_known {
            self.perhaps_lost.insert(track, count);
        } else {
            *self.told.lost.entry(track).or_default() += count;
        }
    }

    fn begin_file(&mut self, at: u64) {
        self.is_new_file = false;
        let now = self.told.whole.now();
        if !std::mem::replace(&mut self.has_begun, true) {
            self.told.begin = at;
            self.told.whole.skip_to(at);
        } else if at > now.at {
            self.finish_polls();
            self.told.between_files += at - now.at;
            self.told.whole.skip_to(at);
        } else if at < now.at {
            self.told.whole.forget_gaps();
        }
        if at != now.at {
            // Files of one moment number their wake-ups by themselves.
            self.wakes.clear();
        }
        self.known_until = now.at;
    }

    fn advance(&mut self, at: u64) {
        let before = self.told.whole.now();
        self.told.whole.advance(at);
        let now = self.told.whole.now();
        if now.at > before.at {
            self.told.idle.pass(before.whole_until(now), &self.polls);
            let told = &mut self.told;
            self.polls.flush(now, &mut |seen| told.see(seen));
        }
    }

    fn follow(&mut self, event: &Event) {
        let now = self.told.whole.now();
        match event.what {
            What::Wake(Some(flow)) => drop(self.wakes.insert(flow, now)),
            What::Steal(victim) if now.is_whole => *self.told.steals.entry(victim).or_default() += 1,
            What::Begin(begin) => self.begin(event.track, begin, now),
            What::End(left) => self.told.sections.end(event.track, left, now),
            _ => {}
        }
        let told = &mut self.told;
        self.polls.follow(event, now, &mut |seen| told.see(seen));
        told.idle.look(self.polls.running(), now);
    }

    fn begin(&mut self, track: Track, begin: Begin, now: Moment) {
        if begin.kind == SliceKind::Section {
            self.told.sections.open.insert(track, now);
        }
        let Some(woken) = begin.flow.and_then(|flow| self.wakes.remove(&flow)) else { return };
        if let Some(wait) = woken.all_until(now) {
            self.told.waits.push(wait);
            self.told.longest_wait.add(wait, now.at, (begin.name, now.at));
        }
        if track.kind == TrackKind::Processor {
            self.told.idle.begin(woken, now, begin.name, begin.task);
        }
    }

    fn finish_polls(&mut self) {
        let now = self.told.whole.now();
        let told = &mut self.told;
        self.polls.finish(now, &mut |seen| told.see(seen));
        told.idle.end(now);
        told.sections.open.clear();
    }

    /// No more events come.
    pub(super) fn finish(mut self) -> Told {
        self.finish_polls();
        let lost = std::mem::take(&mut self.perhaps_lost);
        lost.into_iter().for_each(|(track, count)| self.told.lost_in_all(track, count));
        self.told.end = self.told.whole.now().at;
        self.told
    }
}

impl Told {
    /// A later file counts what the thread has lost since the recording has started.
    fn lost_in_all(&mut self, track: Name, count: u64) {
        let lost = self.lost.entry(track).or_default();
        *lost = count.max(*lost);
    }

    fn see(&mut self, seen: Seen) {
        match seen {
            Seen::Poll(poll) if poll.begin.is_whole || poll.end.is_whole => self.poll(poll),
            Seen::Take(take) if take.is_whole => self.take(take),
            _ => {}
        }
    }

    fn poll(&mut self, poll: Poll) {
        let place =
            Place { name: poll.name, is_local: poll.is_local, is_closures: poll.track.kind == TrackKind::Closures };
        let row = self.places.entry(place).or_default();
        row.with_processor += poll.counted.with_processor;
        row.without += poll.counted.without;
        row.asleep += poll.counted.asleep;
        row.polls += 1;
        row.longest = row.longest.max(poll.length());
        self.polls += u64::from(!poll.is_local);
        self.longest.add(poll.length(), poll.begin.at, poll);
        if poll.length() >= LONG {
            self.long.push(poll);
        }
    }

    fn take(&mut self, take: Take) {
        let loser = take.lost_by;
        self.takes.count += 1;
        self.takes.seen += u64::from(loser.is_some_and(|loser| loser.asleep_in.is_some()));
        self.takes.named += u64::from(loser.is_some_and(|loser| loser.called.is_some()));
        self.takes.latest.add(loser.map_or(0, |loser| loser.after), take.at, take);
    }
}

impl Sections {
    fn end(&mut self, track: Track, left: Left, now: Moment) {
        if left == Left::Cut {
            return;
        }
        let Some(begin) = self.open.remove(&track) else { return };
        if begin.is_whole || now.is_whole {
            let length = now.at - begin.at;
            self.count += 1;
            self.total += length;
            self.longest = self.longest.max(length);
        }
    }
}
