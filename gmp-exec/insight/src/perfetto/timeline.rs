//! From events to what is drawn.
//!
//! The events of one machine, with the takes of its processor in between, say at each moment which
//! processor it held and what it did. A poll is drawn on the track of the processor, as long as the
//! machine had that; where the machine was is drawn on its own track. What the rings have
//! overwritten is not guessed, with one exception: which processor a machine held at its first
//! event that is left follows from a later event. Nothing is drawn of the machine before that
//! event, or between the last event before a gap and the first one after it: another machine may
//! have had the processor meanwhile. If the take of a processor is overwritten, its machine has had
//! the processor at most until another machine got it, or is first seen with it.
//!
//! A recording may be cut into parts, each with a file. A slice that is under way at a cut ends
//! there, and goes on in the next part; [`Carried`] is what the next part must know of it.

use std::collections::{BTreeMap, HashMap};
use std::mem;

use super::acquisitions::Acquisitions;
use super::event::{Event, Timed};
use super::follower::{Follower, Whereabouts};
use super::item::{Item, Track, What};
use super::items::Items;
use super::snapshot::{Snapshot, Source};

/// What the next part of a recording must know of those before.
#[derive(Debug, Default)]
pub struct Carried {
    /// When the next part begins.
    pub(super) begin: u64,
    /// Where threads are.
    threads: BTreeMap<Track, Whereabouts>,
    /// Tasks that were woken and have not been polled: when, and the flow.
    pub(super) woken: HashMap<u64, (u64, u64)>,
    /// How many flows there are.
    pub(super) flows: u64,
}

/// Everything that is drawn, in the order of time.
pub(super) fn items(snapshot: &Snapshot<'_>) -> Vec<Item> {
    items_after(snapshot, &mut Carried::default(), false)
}

/// The same for a part of a recording.
pub(super) fn items_of_part(part: &Snapshot<'_>, carried: &mut Carried) -> Vec<Item> {
    let items = items_after(part, carried, true);
    carried.begin = part.taken_at;
    items
}

fn items_after(snapshot: &Snapshot<'_>, carried: &mut Carried, is_part: bool) -> Vec<Item> {
    let mut items = Items::default();
    let begin = if is_part { carried.begin } else { first_moment(snapshot) };
    if is_part {
        items.push(begin, Track::Others, What::PartBegins);
    }
    items.gone(begin, snapshot.gone);
    let mut threads = mem::take(&mut carried.threads);
    let of_snapshot = threads_of(snapshot);
    let acquisitions = Acquisitions::of(of_snapshot.iter().map(|(track, thread)| (*track, &thread.events[..])));
    for (track, thread) in of_snapshot {
        let mut follower = Follower::new(track, &mut items, &acquisitions);
        match (threads.remove(&track), thread.missing) {
            (Some(before), _) => follower.resume(begin, before),
            (None, Some(count)) => follower.begin_in_gap(begin, count),
            (None, None) if thread.events.is_empty() => continue,
            (None, None) => {}
        }
        follower.follow(&thread.events);
        let last = thread.events.last().map_or(begin, |last| last.at);
        let end = if thread.is_over { last } else { snapshot.taken_at };
        follower.pass_on_before(end);
        match (is_part, thread.is_over) {
            (true, true) => follower.end(end),
            (true, false) => drop(carried.threads.insert(track, follower.cut(end))),
            (false, true) => follower.end_gap(end),
            (false, false) => {}
        }
    }
    for ring in snapshot.rings.iter().filter(|ring| ring.source == Source::Others) {
        items.others(begin, ring);
    }
    // Polls under way last until then, although nothing has happened since they began.
    items.push(snapshot.taken_at, Track::Others, What::Snapshot);
    items.connect(carried, is_part);
    items.count_idle(snapshot.processors);
    items.count_tasks(snapshot);
    let mut items = items.items;
    // Stable: what one machine did at one moment stays in order.
    items.sort_by_key(|item| item.at);
    items
}

fn first_moment(snapshot: &Snapshot<'_>) -> u64 {
    let firsts = snapshot.rings.iter().filter_map(|ring| ring.events.first());
    firsts.map(|timed| timed.at).min().unwrap_or(snapshot.taken_at)
}

/// The events of one thread.
#[derive(Debug, Default)]
struct ThreadEvents {
    events: Vec<Timed>,
    /// As that of the ring.
    missing: Option<u64>,
    /// No more will come.
    is_over: bool,
}

/// The events of each thread that has a ring. Takes of a machine's processor are events of others,
/// and so is what was seen of a thread. That is given to all: it is about the thread that polls the
/// task.
fn threads_of(snapshot: &Snapshot<'_>) -> BTreeMap<Track, ThreadEvents> {
    let mut threads = BTreeMap::<Track, ThreadEvents>::new();
    for ring in &snapshot.rings {
        let track = match ring.source {
            Source::Machine(machine) => Track::Machine(machine),
            Source::BlockOn(number) => Track::BlockOn(number),
            Source::Closures(number) => Track::Closures(number),
            Source::Others => continue,
        };
        let thread = threads.entry(track).or_insert(ThreadEvents { is_over: true, ..ThreadEvents::default() });
        thread.events.extend(&ring.events);
        thread.missing = ring.missing.map(|count| count + thread.missing.unwrap_or(0)).or(thread.missing);
        thread.is_over &= !ring.has_writer;
    }
    for timed in snapshot.rings.iter().flat_map(|ring| &ring.events) {
        let Event::Take { machine, .. } = timed.event else { continue };
        let none = ThreadEvents { is_over: true, ..ThreadEvents::default() };
        threads.entry(Track::Machine(machine)).or_insert(none).events.push(*timed);
    }
    let sights = snapshot.rings.iter().flat_map(|ring| &ring.events);
    let sights: Vec<Timed> = sights.filter(|timed| matches!(timed.event, Event::Sight { .. })).copied().collect();
    for thread in threads.values_mut().filter(|thread| !thread.events.is_empty()) {
        thread.events.extend(&sights);
        thread.events.sort_by_key(|timed| timed.at);
    }
    threads
}

#[cfg(test)]
mod tests {
    use super::super::event::Left;
    use super::super::snapshot::{Gone, Names, Place, Ring, Sight};
    use super::*;

    #[derive(Debug)]
    struct NoNames;

    impl Names for NoNames {
        fn place(&self, _: u16) -> Option<Place> {
            None
        }

        fn mark(&self, _: u16) -> Option<&'static str> {
            None
        }

        fn sight(&self, _: u16) -> Option<Sight> {
            None
        }
    }

    fn snapshot(rings: Vec<Ring>) -> Snapshot<'static> {
        let gone = Gone::default();
        Snapshot { names: &NoNames, rings, processors: 2, name: None, tasks: 2, taken_at: 100, recording: 1, gone }
    }

    fn ring(source: Source, missing: Option<u64>, events: &[(u64, Event)]) -> Ring {
        let events = events.iter().map(|&(at, event)| Timed { at, event }).collect();
        Ring { source, events, missing, has_writer: true }
    }

    fn begin(task: u64) -> Event {
        Event::PollBegin { task, place: 0, is_root: false }
    }

    fn end(task: u64) -> Event {
        Event::PollEnd { task, left: Left::Waiting, processor: Some(1), is_root: false }
    }

    /// The rings of a machine that has a processor and polls, of the next machine that gets it, and of
    /// the other threads: the take in between is overwritten.
    fn without_take(first: &[(u64, Event)]) -> Vec<Ring> {
        let next = [(50, Event::Acquire(1)), (60, begin(2)), (70, end(2))];
        vec![
            ring(Source::Machine(0), None, first),
            ring(Source::Machine(1), None, &next),
            ring(Source::Others, Some(5), &[]),
        ]
    }

    /// When polls begin on the track of processor 1, and when they end.
    fn drawn(items: &[Item]) -> Vec<(u64, bool)> {
        let of_track = items.iter().filter(|item| item.track == Track::Processor(1));
        of_track.map(|item| (item.at, matches!(item.what, What::Begin { .. }))).collect()
    }

    #[test]
    fn a_poll_leaves_its_track_when_another_machine_gets_the_processor() {
        let under_way = [(10, Event::Acquire(1)), (20, begin(1))];
        let over = [&under_way[..], &[(90, end(1))]].concat();
        for first in [&under_way[..], &over, &over[1..]] {
            let items = items(&snapshot(without_take(first)));
            assert_eq!(drawn(&items), [(20, true), (49, false), (60, true), (70, false)], "{first:?}");
            assert!(items.iter().all(|item| !matches!(item.what, What::Take { .. })), "{first:?}");
        }
    }

    /// Its ring has been overwritten since.
    #[test]
    fn a_poll_leaves_its_track_when_another_machine_is_first_seen_with_the_processor() {
        let first = [(10, Event::Acquire(1)), (20, begin(1)), (90, end(1))];
        let next = [(55, end(3)), (60, begin(2)), (70, end(2))];
        for (first, next) in [(0, 1), (1, 0)]
            .map(|(a, b)| (ring(Source::Machine(a), None, &first), ring(Source::Machine(b), Some(7), &next)))
        {
            let items = items(&snapshot(vec![first, next]));
            assert_eq!(drawn(&items), [(20, true), (59, false), (60, true), (70, false)]);
        }
    }

    /// The end of a poll names the processor with which that began, and the machine may have lost it.
    #[test]
    fn a_poll_that_has_lost_its_processor_takes_it_from_no_other_machine() {
        let first = [(65, end(1)), (80, Event::Acquire(0))];
        let next = [(50, Event::Acquire(1)), (60, begin(2)), (70, end(2))];
        let rings = vec![ring(Source::Machine(0), Some(7), &first), ring(Source::Machine(1), None, &next)];
        assert_eq!(drawn(&items(&snapshot(rings))), [(60, true), (70, false)]);
    }

    #[test]
    fn a_poll_that_goes_on_since_the_part_before_leaves_its_track_too() {
        let mut carried = Carried::default();
        let first = ring(Source::Machine(0), None, &[(10, Event::Acquire(1)), (20, begin(1))]);
        let part = Snapshot { taken_at: 40, ..snapshot(vec![first]) };
        assert_eq!(drawn(&items_of_part(&part, &mut carried)), [(20, true), (40, false)]);
        let second = items_of_part(&snapshot(without_take(&[])), &mut carried);
        assert_eq!(drawn(&second), [(40, true), (49, false), (60, true), (70, false)]);
    }
}
