//! Records, added up by where the task was spawned and what its polls did.

use std::collections::{BTreeMap, HashMap};
use std::panic::Location;
use std::time::{Duration, Instant};

use super::SHORT;
use super::events::Events;
use super::frame::BlockedStack;
use super::look::{Call, Look};
use super::record::{Begun, Ended};
use super::report::{BlockedCall, BlockedCause, BlockedEntry, BlockedReport};
use crate::sync::Arc;
use crate::task::Id;

/// This many polls of a place are all looked at;
const FIRST_LOOKS: u64 = 8;
/// after them, one poll in this time.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// Different system calls that are kept per place.
const MOST_CALLS: usize = 8;
/// Different stacks that are kept per place: more, because the report merges stacks that differ
/// only outside of the task.
const MOST_STACKS: usize = 16;
/// The longest time in which a place that keeps blocking prints nothing.
const PRINT_INTERVAL: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(super) struct Aggregate {
    places: BTreeMap<Key, Place>,
    /// The last poll that was recorded of each machine, by the machine's address.
    polls: HashMap<usize, Poll>,
    events: Events,
}

type Key = (&'static Location<'static>, BlockedCause);

#[derive(Debug)]
struct Place {
    entry: BlockedEntry,
    /// Polls that are over, whose cause does not change any more.
    ended: u64,
    looks: u64,
    looked_at: Option<Instant>,
    printed_at: Option<Instant>,
    is_due: bool,
}

#[derive(Debug)]
struct Poll {
    begun: Begun,
    /// Since when the poll was recorded, and as what.
    first: (Instant, BlockedCause),
    /// It has lasted for so long that it counts.
    is_counted: bool,
    /// How much of it is in the sum.
    length: Duration,
    has_ended: bool,
    look: Look,
    /// There are events about it. The number is its number among the polls of its place.
    announced: Option<u64>,
}

impl Aggregate {
    /// Whether the thread of this poll is worth a look, which takes about 50 µs, and 300 µs with
    /// its stack.
    pub(super) fn wants_look(&mut self, begun: &Begun) -> bool {
        let place = self.place(begun);
        let is_new = place.looks < FIRST_LOOKS;
        let is_due = place.looked_at.is_none_or(|at| begun.since.saturating_duration_since(at) >= LOOK_INTERVAL);
        if is_new || is_due {
            place.looks += 1;
            place.looked_at = Some(begun.since);
        }
        is_new || is_due
    }

    /// A poll is stuck. A second record of it, because its processor was taken after all, is not
    /// counted. A poll that does something else from a later moment on counts once more.
    pub(super) fn begin(&mut self, begun: Begun, look: Look) {
        let machine = begun.address();
        let changed = self.polls.get(&machine).filter(|poll| poll.is_changed_by(&begun)).map(|poll| poll.first);
        if changed.is_some() {
            self.finish(machine, begun.since);
            self.announce_end(machine);
            self.polls.remove(&machine);
        }
        let known = self.polls.get_mut(&machine).filter(|poll| poll.begun.turn == begun.turn);
        if let Some(poll) = known {
            if poll.begun.cause == BlockedCause::Starved && begun.cause != BlockedCause::Starved {
                return self.replace_cause(machine, begun.cause, look);
            }
            if poll.look.call.is_none() && poll.look.stack.is_none() {
                poll.look = look;
                self.recount(machine);
            }
            return;
        }
        if self.polls.get(&machine).is_some_and(|poll| !poll.has_ended) {
            // The end of that poll was not recorded. It was over before this poll began.
            self.finish(machine, begun.since);
        }
        self.announce_end(machine);
        let first = changed.unwrap_or((begun.since, begun.cause));
        self.polls.insert(machine, Poll::new(begun, first, look));
    }

    /// A poll is over. Its end is sometimes recorded twice, and the later record is right.
    pub(super) fn end(&mut self, ended: Ended) {
        if self.polls.get(&ended.machine).is_some_and(|poll| poll.begun.turn == ended.turn) {
            self.finish(ended.machine, ended.at);
        }
    }

    pub(super) fn whole(&mut self, begun: Begun, at: Instant) {
        let (machine, turn) = (begun.address(), begun.turn);
        match self.polls.get(&machine).filter(|poll| poll.begun.turn == turn) {
            Some(known) => self.add_beginning(&begun, known.first),
            None => self.begin(begun, Look::default()),
        }
        self.end(Ended { machine, turn, at });
    }

    /// sysmon has recorded a poll only from a later moment on, when the poll began to compute.
    fn add_beginning(&mut self, begun: &Begun, (until, cause): (Instant, BlockedCause)) {
        let length = until.saturating_duration_since(begun.since);
        if length < SHORT {
            return;
        }
        let entry = &mut self.place(begun).entry;
        entry.count += u64::from(cause != begun.cause);
        entry.total += length;
        entry.longest = entry.longest.max(length);
    }

    /// Counts the polls that have become long since, and finishes those that are over. Whether
    /// there are polls that are still short.
    pub(super) fn look_again(&mut self, now: Instant) -> bool {
        let machines: Vec<usize> = self.polls.keys().copied().collect();
        for machine in machines {
            let poll = &self.polls[&machine];
            let is_long = now.saturating_duration_since(poll.begun.since) >= SHORT;
            if poll.begun.is_followed() {
                if !poll.has_ended {
                    self.finish(machine, now);
                }
                self.announce_end(machine);
                self.polls.remove(&machine);
            } else if is_long && !poll.has_ended && !poll.is_counted {
                self.count(machine);
            } else if poll.has_ended && !poll.begun.is_under_way() {
                self.announce_end(machine);
                self.forget_if_gone(machine);
            }
        }
        self.polls.values().any(|poll| if poll.has_ended { poll.announced.is_some() } else { !poll.is_counted })
    }

    /// The events since the last call.
    pub(super) fn take_events(&mut self) -> Events {
        std::mem::take(&mut self.events)
    }

    /// The places to be printed now: at first sight, after 2, 4, 8, ... polls, and once a minute.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<BlockedEntry> {
        let mut due = Vec::new();
        for place in self.places.values_mut().filter(|place| place.is_due) {
            place.is_due = false;
            place.printed_at = Some(now);
            due.push(place.entry.clone());
        }
        for poll in self.polls.values().filter(|poll| poll.is_counted && !poll.has_ended) {
            let key = key(&poll.begun);
            due.iter_mut()
                .filter(|entry| (entry.location, entry.cause) == key)
                .for_each(|entry| poll.add_to(entry, now));
        }
        due
    }

    /// The report as of now, with polls that are under way, and the place with the longest sum
    /// first.
    pub(super) fn report(&self, now: Instant, dropped: u64) -> BlockedReport {
        let places = self.places.iter().filter(|(_, place)| place.entry.count > 0);
        let mut entries: BTreeMap<Key, BlockedEntry> = places.map(|(key, place)| (*key, place.entry.clone())).collect();
        for poll in self.polls.values().filter(|poll| poll.is_counted && !poll.has_ended) {
            entries.entry(key(&poll.begun)).and_modify(|entry| poll.add_to(entry, now));
        }
        let mut entries: Vec<BlockedEntry> = entries.into_values().collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.total));
        BlockedReport { entries, dropped }
    }

    /// The polls with this cause that are over: how many, and their sum.
    #[cfg(feature = "insight")]
    pub(super) fn totals(&self, cause: BlockedCause) -> (u64, Duration) {
        let places = self.places.values().filter(|place| place.entry.cause == cause);
        places.fold((0, Duration::ZERO), |(count, sum), place| (count + place.ended, sum + place.entry.total))
    }

    /// For the end of the runtime, when no more ends are recorded: finishes the polls that are
    /// over. Whether there are others.
    pub(super) fn finish_those_over(&mut self, now: Instant) -> bool {
        let open = self.polls.iter().filter(|(_, poll)| !poll.has_ended);
        let (under_way, over): (Vec<_>, Vec<_>) = open.partition(|(_, poll)| poll.begun.is_under_way());
        let is_any_left = !under_way.is_empty();
        let over: Vec<usize> = over.into_iter().map(|(machine, _)| *machine).collect();
        for machine in over {
            self.finish(machine, now);
            self.announce_end(machine);
        }
        is_any_left
    }

    /// The polls that are not over, and when they began, for the dump of tasks.
    pub(super) fn under_way(&self) -> Vec<(Id, Instant)> {
        let polls = self.polls.values().filter(|poll| !poll.has_ended && poll.begun.is_under_way());
        polls.map(|poll| (poll.begun.task, poll.begun.since)).collect()
    }

    /// The thread of this machine may have ended: only the record keeps the machine then.
    fn forget_if_gone(&mut self, machine: usize) {
        let is_gone = |poll: &Poll| Arc::strong_count(&poll.begun.machine) == 1;
        if self.polls.get(&machine).is_some_and(is_gone) {
            self.polls.remove(&machine);
        }
    }

    fn place(&mut self, begun: &Begun) -> &mut Place {
        self.places.entry(key(begun)).or_insert_with(|| Place::of(begun))
    }

    /// The poll of this machine is over, if it was not yet.
    fn finish(&mut self, machine: usize, at: Instant) {
        let Some(poll) = self.polls.get_mut(&machine) else { return };
        let length = at.saturating_duration_since(poll.begun.since);
        poll.has_ended = true;
        let more = length.saturating_sub(poll.length);
        if length < SHORT || more.is_zero() {
            return;
        }
        let is_first = poll.length.is_zero();
        poll.length = length;
        self.count(machine);
        let key = key(&self.polls[&machine].begun);
        if let Some(place) = self.places.get_mut(&key) {
            place.ended += u64::from(is_first);
            place.entry.total += more;
            place.entry.longest = place.entry.longest.max(length);
        }
    }

    /// Counts the poll of this machine, if it was not yet.
    fn count(&mut self, machine: usize) {
        let Some(poll) = self.polls.get_mut(&machine).filter(|poll| !poll.is_counted) else { return };
        poll.is_counted = true;
        let (begun, look) = (poll.begun.clone(), poll.look.clone());
        let place = self.place(&begun);
        place.entry.count += 1;
        place.entry.last = begun.since;
        place.entry.task = begun.task;
        place.entry.name.clone_from(&begun.name);
        let count = place.entry.count;
        let is_due = count.is_power_of_two()
            || place.printed_at.is_none_or(|at| begun.since.saturating_duration_since(at) >= PRINT_INTERVAL);
        place.is_due |= is_due;
        place.add(look);
        if is_due {
            self.announce(machine, count);
        }
    }

    /// An event about a poll that has been counted just now. If it is over already, the event of
    /// its end is the only one.
    fn announce(&mut self, machine: usize, count: u64) {
        let Some(poll) = self.polls.get_mut(&machine) else { return };
        poll.announced = Some(count);
        if !poll.has_ended {
            self.events.found(&poll.begun, &poll.look, count);
        }
    }

    /// The poll of this machine is over for sure.
    fn announce_end(&mut self, machine: usize) {
        let Some(poll) = self.polls.get_mut(&machine) else { return };
        if let Some(count) = poll.announced.take() {
            self.events.over(&poll.begun, &poll.look, count, poll.length);
        }
    }

    /// A poll that got no core at first has gone on, and blocks or computes.
    fn replace_cause(&mut self, machine: usize, cause: BlockedCause, look: Look) {
        let Some(poll) = self.polls.get_mut(&machine) else { return };
        let (before, is_counted) = (poll.begun.clone(), std::mem::take(&mut poll.is_counted));
        poll.begun.cause = cause;
        poll.look = look;
        poll.announced = None;
        let place = self.place(&before);
        place.entry.count -= u64::from(is_counted);
        place.is_due &= place.entry.count > 0;
    }

    /// The thread was looked at after the poll was counted.
    fn recount(&mut self, machine: usize) {
        let Some(poll) = self.polls.get(&machine).filter(|poll| poll.is_counted) else { return };
        let (key, look) = (key(&poll.begun), poll.look.clone());
        if let Some(place) = self.places.get_mut(&key) {
            place.add(look);
        }
    }
}

fn key(begun: &Begun) -> Key {
    (begun.location, begun.cause)
}

impl Poll {
    fn new(begun: Begun, first: (Instant, BlockedCause), look: Look) -> Poll {
        let length = Duration::ZERO;
        Poll { begun, first, is_counted: false, length, has_ended: false, look, announced: None }
    }

    /// Whether it is the same poll, which has another cause since a moment after its beginning. A
    /// poll that got no core has been judged too early, and is judged anew as a whole.
    fn is_changed_by(&self, begun: &Begun) -> bool {
        let causes = [self.begun.cause, begun.cause];
        let is_another = causes[0] != causes[1] && !causes.contains(&BlockedCause::Starved);
        self.begun.turn == begun.turn && is_another && self.begun.since < begun.since
    }

    /// Adds the length of a poll that is under way.
    fn add_to(&self, entry: &mut BlockedEntry, now: Instant) {
        let length = now.saturating_duration_since(self.begun.since);
        entry.under_way += 1;
        entry.total += length;
        entry.longest = entry.longest.max(length);
    }
}

impl Place {
    fn of(begun: &Begun) -> Place {
        let entry = BlockedEntry {
            location: begun.location,
            is_root: begun.is_root,
            cause: begun.cause,
            count: 0,
            under_way: 0,
            total: Duration::ZERO,
            longest: Duration::ZERO,
            last: begun.since,
            task: begun.task,
            name: begun.name.clone(),
            calls: Vec::new(),
            stacks: Vec::new(),
            no_stack: None,
        };
        Place { entry, ended: 0, looks: 0, looked_at: None, printed_at: None, is_due: false }
    }

    fn add(&mut self, look: Look) {
        look.call.iter().for_each(|call| self.add_call(call));
        match look.stack {
            Some(Ok(frames)) => self
                .add_stack(BlockedStack { call: look.call.as_ref().map(BlockedCall::of), ..BlockedStack::of(frames) }),
            Some(Err(reason)) => self.entry.no_stack = Some(reason),
            None => {}
        }
    }

    fn add_call(&mut self, call: &Call) {
        let calls = &mut self.entry.calls;
        if let Some(known) = calls.iter_mut().find(|known| known.number == call.call.number) {
            known.count += 1;
            known.descriptor = call.call.descriptor;
            known.target.clone_from(&call.target);
        } else if calls.len() < MOST_CALLS {
            calls.push(BlockedCall::of(call));
        }
    }

    fn add_stack(&mut self, stack: BlockedStack) {
        let stacks = &mut self.entry.stacks;
        if let Some(known) = stacks.iter_mut().find(|known| known.is_in_call_of(&stack) && known.frames == stack.frames)
        {
            known.count += 1;
        } else if stacks.len() < MOST_STACKS {
            stacks.push(stack);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::sched::state::machine::Machine;
    use crate::sched::state::machine::ownership::Region;

    fn begun(machine: &Arc<Machine>, turn: u64, since: Instant) -> Begun {
        let (task, location) = (Id::next(), Location::caller());
        Begun {
            machine: machine.clone(),
            turn,
            task,
            name: None,
            location,
            is_root: false,
            cause: BlockedCause::Blocked,
            since,
        }
    }

    fn ended(machine: &Arc<Machine>, turn: u64, at: Instant) -> Ended {
        Ended { at, ..Ended::now(machine, turn) }
    }

    fn only(aggregate: &Aggregate, now: Instant) -> BlockedEntry {
        let report = aggregate.report(now, 0);
        assert_eq!(report.entries.len(), 1);
        report.entries[0].clone()
    }

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn lengths_are_added_up() {
        let (mut aggregate, machine, start) = (Aggregate::default(), Machine::new(1), Instant::now());
        for (turn, ms) in [(1, 3), (2, 7), (3, 5)] {
            // Between two of them the machine does something else.
            let since = start + MS * 100 * turn as u32;
            aggregate.begin(begun(&machine, turn, since), Look::default());
            aggregate.end(ended(&machine, turn, since + MS * ms));
        }
        let entry = only(&aggregate, start);
        assert_eq!((entry.count, entry.total, entry.longest, entry.under_way), (3, MS * 15, MS * 7, 0));
    }

    #[test]
    fn a_poll_whose_end_was_not_recorded_is_over_when_the_next_one_begins() {
        let (mut aggregate, machine, start) = (Aggregate::default(), Machine::new(1), Instant::now());
        aggregate.begin(begun(&machine, 1, start), Look::default());
        aggregate.begin(begun(&machine, 2, start + MS * 4), Look::default());
        aggregate.end(ended(&machine, 2, start + MS * 6));
        let entry = only(&aggregate, start);
        assert_eq!((entry.count, entry.total, entry.longest), (2, MS * 6, MS * 4));
    }

    fn of(aggregate: &Aggregate, cause: BlockedCause) -> (u64, u64, Duration) {
        let report = aggregate.report(Instant::now(), 0);
        let entry = report.entries.into_iter().find(|entry| entry.cause == cause).unwrap();
        (entry.count, entry.under_way, entry.total)
    }

    #[test]
    fn each_part_of_a_poll_that_sleeps_and_then_computes_belongs_to_its_cause() {
        let (mut aggregate, machine, start) = (Aggregate::default(), Machine::new(1), Instant::now());
        let slept = begun(&machine, 1, start);
        let computes = |since| Begun { cause: BlockedCause::Computing, since, ..slept.clone() };
        aggregate.begin(slept.clone(), Look::default());
        // Another judgement of the whole poll changes nothing.
        aggregate.begin(computes(start), Look::default());
        aggregate.begin(computes(start + MS * 30), Look::default());
        assert_eq!(of(&aggregate, BlockedCause::Blocked), (1, 0, MS * 30));
        aggregate.end(ended(&machine, 1, start + MS * 50));
        assert_eq!(of(&aggregate, BlockedCause::Blocked), (1, 0, MS * 30));
        assert_eq!(of(&aggregate, BlockedCause::Computing), (1, 0, MS * 20));
    }

    #[test]
    fn the_beginning_of_a_hogs_poll_is_added_when_it_is_over() {
        let (mut aggregate, machine, start) = (Aggregate::default(), Machine::new(1), Instant::now());
        let whole = begun(&machine, 1, start);
        let computes = Begun { cause: BlockedCause::Computing, since: start + MS * 30, ..whole.clone() };
        aggregate.begin(computes, Look::default());
        aggregate.whole(whole, start + MS * 50);
        assert_eq!(of(&aggregate, BlockedCause::Blocked), (1, 0, MS * 30));
        assert_eq!(of(&aggregate, BlockedCause::Computing), (1, 0, MS * 20));
    }

    #[test]
    fn a_poll_that_is_recorded_twice_counts_once() {
        let (mut aggregate, machine, start) = (Aggregate::default(), Machine::new(1), Instant::now());
        aggregate.begin(begun(&machine, 1, start), Look::default());
        aggregate.begin(begun(&machine, 1, start + MS), Look::default());
        aggregate.end(ended(&machine, 1, start + MS * 2));
        aggregate.end(ended(&machine, 1, start + MS * 4));
        let entry = only(&aggregate, start);
        assert_eq!((entry.count, entry.total), (1, MS * 4));
    }

    #[test]
    fn a_poll_that_got_no_core_and_blocks_afterwards_counts_once_as_blocked() {
        let (mut aggregate, machine, start) = (Aggregate::default(), Machine::new(1), Instant::now());
        machine.ownership.begin(Region::Poll);
        let blocked = begun(&machine, machine.ownership.turn(), start);
        let starved = Begun { cause: BlockedCause::Starved, ..blocked.clone() };
        aggregate.begin(starved.clone(), Look::default());
        aggregate.look_again(start + MS * 5);
        assert_eq!(only(&aggregate, start + MS * 5).cause, BlockedCause::Starved);
        aggregate.begin(blocked, Look::default());
        aggregate.begin(starved, Look::default());
        aggregate.look_again(start + MS * 6);
        aggregate.end(ended(&machine, machine.ownership.turn(), start + MS * 7));
        let entry = only(&aggregate, start + MS * 8);
        assert_eq!((entry.cause, entry.count, entry.total), (BlockedCause::Blocked, 1, MS * 7));
        assert_eq!(aggregate.take_due(start).len(), 1);
    }

    #[test]
    fn a_short_poll_does_not_count() {
        let (mut aggregate, machine, start) = (Aggregate::default(), Machine::new(1), Instant::now());
        machine.ownership.begin(Region::Poll);
        aggregate.begin(begun(&machine, 1, start), Look::default());
        assert!(aggregate.look_again(start + MS / 2), "it may become long");
        aggregate.end(ended(&machine, 1, start + MS / 2));
        assert!(!aggregate.look_again(start + MS * 2));
        assert!(aggregate.report(start + MS * 2, 0).entries.is_empty());
    }

    #[test]
    fn an_end_of_another_poll_changes_nothing() {
        let (mut aggregate, machine, start) = (Aggregate::default(), Machine::new(1), Instant::now());
        machine.ownership.begin(Region::Poll);
        aggregate.begin(begun(&machine, machine.ownership.turn(), start), Look::default());
        aggregate.end(ended(&machine, 99, start + MS * 5));
        aggregate.look_again(start + MS * 5);
        let entry = only(&aggregate, start + MS * 9);
        assert_eq!((entry.count, entry.under_way, entry.total), (1, 1, MS * 9));
    }

    #[test]
    fn a_poll_is_over_when_its_machine_is_in_another_one() {
        let (mut aggregate, machine, start) = (Aggregate::default(), Machine::new(1), Instant::now());
        aggregate.begin(begun(&machine, 77, start), Look::default());
        aggregate.look_again(start + MS * 5);
        let entry = only(&aggregate, start + MS * 9);
        assert_eq!((entry.count, entry.under_way, entry.total), (1, 0, MS * 5));
        assert!(aggregate.polls.is_empty());
    }

    #[test]
    fn a_thousand_polls_of_a_place_are_printed_ten_times() {
        let (mut aggregate, machine, start) = (Aggregate::default(), Machine::new(1), Instant::now());
        let mut lines = 0;
        for turn in 1..=1_000 {
            aggregate.whole(begun(&machine, turn, start), start + MS * 2);
            lines += aggregate.take_due(start).len();
        }
        assert_eq!(lines, 10);
        aggregate.whole(begun(&machine, 1_001, start + PRINT_INTERVAL), start + PRINT_INTERVAL + MS);
        assert_eq!(aggregate.take_due(start).len(), 1, "once a minute");
    }

    #[test]
    fn a_few_polls_are_looked_at_and_then_one_now_and_then() {
        let (mut aggregate, machine, start) = (Aggregate::default(), Machine::new(1), Instant::now());
        let wanted = (0..100).filter(|_| aggregate.wants_look(&begun(&machine, 1, start))).count();
        assert_eq!(wanted as u64, FIRST_LOOKS);
        assert!(aggregate.wants_look(&begun(&machine, 1, start + LOOK_INTERVAL)));
        assert!(!aggregate.wants_look(&begun(&machine, 1, start + LOOK_INTERVAL)));
    }
}
