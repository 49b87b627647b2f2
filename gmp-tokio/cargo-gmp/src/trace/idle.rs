//! The times in which nothing ran, and those in which only threads without a processor were in
//! polls.

use std::collections::HashMap;

use super::event::{Name, TrackKind};
use super::polls::{Polls, Running};
use super::top::Top;
use super::whole::Moment;

/// Shorter times in which nothing ran are not worth a line, in nanoseconds.
pub(super) const PAUSE: u64 = 1_000_000;

#[derive(Debug, Default)]
pub(super) struct Idle {
    /// No poll was under way, in nanoseconds.
    pub(super) nothing: u64,
    /// Polls were under way, all without a processor.
    pub(super) without_processor: u64,
    /// The latter by the place of the poll, whose thread it is, and whether the thread was seen asleep.
    pub(super) places: HashMap<(Name, TrackKind, bool), u64>,
    /// Polls that began late, although no processor ran another one: when.
    pub(super) late: Top<Late>,
    /// Since when nothing runs.
    nothing_since: Option<Moment>,
    /// Since when no processor runs a poll.
    no_processor_since: Option<Moment>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Late {
    pub(super) name: Name,
    pub(super) task: Option<u64>,
    pub(super) at: u64,
}

impl Idle {
    /// So much whole time has passed since the event before.
    pub(super) fn pass(&mut self, whole: u64, polls: &Polls) {
        let Running { with_processor, without } = polls.running();
        if whole > 0 && with_processor == 0 && without > 0 {
            self.without_processor += whole;
            for place in polls.without_processor() {
                *self.places.entry(place).or_default() += whole;
            }
        }
    }

    /// A poll of a task that was woken at that moment begins on a processor.
    pub(super) fn begin(&mut self, woken: Moment, now: Moment, name: Name, task: Option<u64>) {
        let Some(since) = self.no_processor_since else { return };
        let since = if since.at > woken.at { since } else { woken };
        let wait = since.all_until(now).filter(|wait| *wait >= PAUSE);
        wait.into_iter().for_each(|wait| self.late.add(wait, now.at, Late { name, task, at: now.at }));
    }

    /// An event has changed what runs.
    pub(super) fn look(&mut self, running: Running, now: Moment) {
        let Running { with_processor, without } = running;
        if with_processor == 0 {
            self.no_processor_since.get_or_insert(now);
        } else {
            self.no_processor_since = None;
        }
        if with_processor + without == 0 {
            self.nothing_since.get_or_insert(now);
        } else {
            self.end(now);
        }
    }

    /// The time in which nothing runs ends.
    pub(super) fn end(&mut self, now: Moment) {
        let length = self.nothing_since.take().map_or(0, |since| since.whole_until(now));
        self.nothing += if length > PAUSE { length } else { 0 };
    }
}
