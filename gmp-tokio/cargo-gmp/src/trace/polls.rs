//! Whole polls. A poll that loses its processor is several slices of the file: on the track of the
//! processor, and then on that of the thread, where its blocking sections are slices, too.

use std::collections::HashMap;

use super::event::{Begin, Event, Left, Name, SliceKind, Track, TrackKind, What};
use super::whole::Moment;

/// A poll, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Poll {
    /// Where the task was spawned.
    pub(super) name: Name,
    pub(super) task: Option<u64>,
    pub(super) is_local: bool,
    /// Where it began.
    pub(super) track: Track,
    pub(super) begin: Moment,
    pub(super) end: Moment,
    /// How much of it was without a processor.
    pub(super) without: u64,
    /// Its thread was seen asleep, or lost its processor because it slept.
    pub(super) has_slept: bool,
    pub(super) is_over: bool,
    /// The whole time in it, by what the thread had.
    pub(super) counted: Counted,
}

/// Nanoseconds of the time that is whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) with_processor: u64,
    /// Not seen asleep.
    pub(super) without: u64,
    /// Without a processor, after the thread was seen asleep.
    pub(super) asleep: u64,
}

impl Poll {
    pub(super) fn length(&self) -> u64 {
        self.end.at - self.begin.at
    }
}

/// A processor that was taken from a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Take {
    pub(super) at: u64,
    pub(super) track: Track,
    /// Which processor, and what the thread did.
    pub(super) name: Name,
    sleeps: bool,
    /// No thread had a gap then.
    pub(super) is_whole: bool,
    pub(super) lost_by: Option<Loser>,
}

/// The poll that has lost its processor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loser {
    /// Where its task was spawned.
    pub(super) name: Name,
    /// How long it had held the processor.
    pub(super) after: u64,
    pub(super) asleep_in: Option<Name>,
    pub(super) called: Option<Name>,
}

/// What following an event has shown.
pub(super) enum Seen {
    Poll(Poll),
    Take(Take),
}

/// A slice that has not ended.
#[derive(Clone, Copy, Debug)]
struct Open {
    kind: SliceKind,
    task: Option<u64>,
    begin: Moment,
    is_asleep: bool,
    /// The poll that the slice is a part of, unless the part on a processor is open.
    poll: Option<Poll>,
}

/// A poll that goes on, and whose next slice has not begun.
#[derive(Clone, Copy, Debug)]
struct Between {
    poll: Poll,
    /// On the track of the thread, a blocking section of the poll has begun before.
    section: Option<Track>,
}

/// Follows all tracks.
#[derive(Debug, Default)]
pub(super) struct Polls {
    open: HashMap<Track, Vec<Open>>,
    between: Vec<Between>,
    /// Slices that the end of a file has cut.
    cut: HashMap<Track, Vec<Open>>,
    takes: HashMap<Track, Take>,
    running: Running,
}

/// How many slices of polls are open.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Running {
    pub(super) with_processor: usize,
    pub(super) without: usize,
}

impl Polls {
    pub(super) fn running(&self) -> Running {
        self.running
    }

    /// The slices of polls that are open and have no processor: where the task was spawned, and
    /// whether the thread was seen asleep.
    pub(super) fn without_processor(&self) -> impl Iterator<Item = (Name, TrackKind, bool)> {
        let open = self.open.iter().flat_map(|(track, open)| open.iter().map(|open| (track.kind, open)));
        let open = open.filter(|(kind, open)| is_without(*kind, open.kind));
        open.filter_map(|(kind, open)| open.poll.map(|poll| (poll.name, kind, open.is_asleep)))
    }

    /// Polls whose next slice should have begun by now.
    pub(super) fn flush(&mut self, now: Moment, see: &mut impl FnMut(Seen)) {
        self.between.retain(|between| {
            let waits = between.section.is_some() || between.poll.end.at == now.at;
            if !waits {
                see(Seen::Poll(Poll { is_over: true, ..between.poll }));
            }
            waits
        });
    }

    pub(super) fn follow(&mut self, event: &Event, now: Moment, see: &mut impl FnMut(Seen)) {
        match event.what {
            What::Begin(begin) => self.begin(event.track, begin, now, see),
            What::End(left) => self.end(event.track, left, now, see),
            What::Take { name, sleeps } => {
                let (at, track, is_whole) = (now.at, event.track, now.is_whole);
                let take = Take { at, track, name, sleeps, is_whole, lost_by: None };
                if let Some(before) = self.takes.insert(event.track, take) {
                    see(Seen::Take(before));
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, track: Track, begin: Begin, now: Moment, see: &mut impl FnMut(Seen)) {
        self.end_stale(track, begin.kind, now, see);
        let mut open =
            Open { kind: begin.kind, task: begin.task, begin: now, is_asleep: begin.asleep_in.is_some(), poll: None };
        if let Some(cut) = self.cut_at(track, begin, now, see) {
            open = Open { begin: now, ..cut };
        } else {
            open.poll = match begin.kind {
                SliceKind::Poll | SliceKind::Local => Some(self.next_of(begin.task, now).unwrap_or(Poll {
                    name: begin.name,
                    task: begin.task,
                    is_local: begin.kind == SliceKind::Local,
                    track,
                    begin: now,
                    end: now,
                    without: 0,
                    has_slept: false,
                    is_over: false,
                    counted: Counted::default(),
                })),
                SliceKind::Section => self.next_of(begin.task, now),
                SliceKind::Other => None,
            };
            if let (Some(poll), Some(mut take)) = (open.poll, self.takes.remove(&track)) {
                if take.at == now.at {
                    open.is_asleep |= take.sleeps;
                    take.lost_by = Some(Loser::of(&poll, begin));
                }
                see(Seen::Take(take));
            }
        }
        if let Some(poll) = &mut open.poll {
            poll.has_slept |= open.is_asleep;
        }
        self.count(track, open.kind, |count| count + 1);
        self.open.entry(track).or_default().push(open);
    }

    /// The slice that the end of the file before has cut, if this is the rest.
    fn cut_at(&mut self, track: Track, rest: Begin, now: Moment, see: &mut impl FnMut(Seen)) -> Option<Open> {
        let cut = self.cut.get_mut(&track)?.pop()?;
        if rest.is_resumed && cut.begin.at == now.at {
            return Some(cut);
        }
        cut.poll.into_iter().for_each(|poll| see(Seen::Poll(poll)));
        None
    }

    /// Another slice begins, and the end of the one before is missing.
    fn end_stale(&mut self, track: Track, kind: SliceKind, now: Moment, see: &mut impl FnMut(Seen)) {
        while kind != SliceKind::Local && self.open.get(&track).is_some_and(|open| !open.is_empty()) {
            self.end(track, Left::Lost, now, see);
        }
    }

    /// The poll of this task that goes on now.
    fn next_of(&mut self, task: Option<u64>, now: Moment) -> Option<Poll> {
        let index = self.between.iter().position(|between| between.poll.task == task)?;
        let Between { mut poll, .. } = self.between.swap_remove(index);
        // In a section that has begun with a processor and went on without.
        poll.without += now.at - poll.end.at;
        poll.counted.without += poll.end.whole_until(now);
        poll.end = now;
        Some(poll)
    }

    fn end(&mut self, track: Track, left: Left, now: Moment, see: &mut impl FnMut(Seen)) {
        let Some(mut open) = self.open.get_mut(&track).and_then(Vec::pop) else { return };
        self.count(track, open.kind, |count| count.saturating_sub(1));
        if let Some(poll) = &mut open.poll {
            poll.go_on(track.kind, open.is_asleep, open.begin, now);
        }
        match (left, open.poll) {
            (Left::Cut, _) => self.cut.entry(track).or_default().push(Open { begin: now, ..open }),
            (Left::Over, Some(poll)) => see(Seen::Poll(Poll { is_over: true, ..poll })),
            (Left::Lost, Some(poll)) => see(Seen::Poll(poll)),
            (Left::GoesOn, Some(poll)) if poll.is_local => see(Seen::Poll(Poll { is_over: true, ..poll })),
            (Left::GoesOn, Some(poll)) => self.goes_on(poll, see),
            (_, None) if open.kind == SliceKind::Section => self.section_ends(track, now),
            (_, None) => {}
        }
    }

    fn goes_on(&mut self, poll: Poll, see: &mut impl FnMut(Seen)) {
        let section = self.section_of(poll.task);
        if let Some(mut take) = section.and_then(|track| self.takes.remove(&track)) {
            if take.at == poll.end.at {
                let after = poll.length();
                take.lost_by = Some(Loser { name: poll.name, after, asleep_in: None, called: None });
            }
            see(Seen::Take(take));
        }
        self.between.push(Between { poll, section });
    }

    /// The track on which a blocking section of this task is open.
    fn section_of(&self, task: Option<u64>) -> Option<Track> {
        let is_section = |open: &Open| open.kind == SliceKind::Section && open.task == task && open.poll.is_none();
        self.open.iter().find(|(_, open)| open.iter().any(is_section)).map(|(track, _)| *track)
    }

    fn section_ends(&mut self, track: Track, now: Moment) {
        for between in self.between.iter_mut().filter(|between| between.section == Some(track)) {
            between.poll.without += now.at - between.poll.end.at;
            between.poll.counted.without += between.poll.end.whole_until(now);
            (between.poll.end, between.section) = (now, None);
        }
    }

    fn count(&mut self, track: Track, kind: SliceKind, change: impl Fn(usize) -> usize) {
        let count = match kind {
            SliceKind::Poll if track.kind == TrackKind::Processor => &mut self.running.with_processor,
            _ if is_without(track.kind, kind) => &mut self.running.without,
            _ => return,
        };
        *count = change(*count);
    }

    /// No more events come, or none of the time until the next ones is known.
    pub(super) fn finish(&mut self, now: Moment, see: &mut impl FnMut(Seen)) {
        let cut = std::mem::take(&mut self.cut).into_values().flatten().filter_map(|cut| cut.poll);
        cut.for_each(|poll| see(Seen::Poll(poll)));
        for (track, slices) in std::mem::take(&mut self.open) {
            for open in slices {
                let Some(mut poll) = open.poll else { continue };
                poll.go_on(track.kind, open.is_asleep, open.begin, now);
                see(Seen::Poll(poll));
            }
        }
        std::mem::take(&mut self.between).into_iter().for_each(|between| see(Seen::Poll(between.poll)));
        std::mem::take(&mut self.takes).into_values().for_each(|take| see(Seen::Take(take)));
        self.running = Running::default();
    }
}

impl Poll {
    fn go_on(&mut self, track: TrackKind, is_asleep: bool, from: Moment, to: Moment) {
        let whole = from.whole_until(to);
        self.end = to;
        if track == TrackKind::Processor {
            self.counted.with_processor += whole;
            return;
        }
        self.without += to.at - from.at;
        if is_asleep {
            self.counted.asleep += whole;
        } else {
            self.counted.without += whole;
        }
    }
}

impl Loser {
    fn of(poll: &Poll, rest: Begin) -> Loser {
        Loser { name: poll.name, after: poll.length(), asleep_in: rest.asleep_in, called: rest.called }
    }
}

fn is_without(track: TrackKind, slice: SliceKind) -> bool {
    track != TrackKind::Processor && matches!(slice, SliceKind::Poll | SliceKind::Section)
}
