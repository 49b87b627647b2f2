//! Following one thread through its events.

use std::mem;

use super::acquisitions::{Acquisitions, held_at_first};
use super::event::{Event, Left, Timed};
use super::item::{Slice, Track, What};
use super::items::Items;

/// Where a thread is.
#[derive(Clone, Debug, Default)]
pub(super) struct Whereabouts {
    /// Whether it is known. If not, `processor` is the last one that was known.
    is_known: bool,
    /// Events are missing since the last one.
    is_in_gap: bool,
    processor: Option<usize>,
    /// The poll under way.
    poll: Option<Slice>,
    /// Those inside it, of tasks of a `LocalSet`.
    locals: Vec<Slice>,
    sections: u32,
    asleep: Option<Slice>,
    /// The number of what was seen of the thread during the poll.
    sight: u16,
}

impl Whereabouts {
    fn known_processor(&self) -> Option<usize> {
        self.processor.filter(|_| self.is_known)
    }
}

/// Follows one machine through its events.
pub(super) struct Follower<'a> {
    items: &'a mut Items,
    acquisitions: &'a Acquisitions,
    /// That of the thread.
    home: Track,
    now: Whereabouts,
    /// The last moment at which the thread can have its processor: another one has it later.
    passed_on_at: Option<u64>,
    /// The processor on whose track the poll is drawn.
    drawn_on: Option<usize>,
    /// The slice on the machine's track.
    place: Option<Slice>,
    /// The items with which the slices of the poll begin: on the track of a processor, and on the
    /// machine's.
    begins: [Option<usize>; 2],
}

const ON_PROCESSOR: usize = 0;
const AT_HOME: usize = 1;

impl<'a> Follower<'a> {
    pub(super) fn new(home: Track, items: &'a mut Items, acquisitions: &'a Acquisitions) -> Follower<'a> {
        Follower {
            items,
            acquisitions,
            home,
            now: Whereabouts::default(),
            passed_on_at: None,
            drawn_on: None,
            place: None,
            begins: [None; 2],
        }
    }

    /// So many events are missing before the first one.
    pub(super) fn begin_in_gap(&mut self, at: u64, missing: u64) {
        self.now.is_in_gap = true;
        self.items.push(at, self.home, What::Lost(missing));
    }

    /// Goes on where the part before was cut.
    pub(super) fn resume(&mut self, at: u64, before: Whereabouts) {
        if before.is_in_gap {
            self.begin_in_gap(at, 0);
        }
        self.set_processor(at, before.processor);
        self.now = before;
        if let (Some(poll), Some(processor)) = (self.now.poll, self.now.known_processor()) {
            self.drawn_on = Some(processor);
            self.push_slice(at, ON_PROCESSOR, poll, true);
        }
        self.place = self.place_now();
        if let Some(place) = self.place {
            self.push_slice(at, AT_HOME, place, true);
        }
        for slice in self.now.locals.clone() {
            self.push_local(at, slice, true);
        }
    }

    fn push_slice(&mut self, at: u64, which: usize, slice: Slice, is_resumed: bool) {
        let is_of_poll = matches!(slice, Slice::Poll { .. } | Slice::Section { .. });
        let sight = if is_of_poll { self.now.sight } else { 0 };
        self.begins[which] = is_of_poll.then_some(self.items.items.len());
        let track = if which == AT_HOME { self.home } else { self.track() };
        self.items.push(at, track, What::Begin { slice, flow: None, sight, is_resumed });
    }

    /// The thread was seen in a poll of this task.
    fn see(&mut self, task: u64, number: u16) {
        if !matches!(self.now.poll, Some(Slice::Poll { task: polled, .. }) if polled == task) {
            return;
        }
        self.now.sight = number;
        for index in self.begins.into_iter().flatten() {
            if let What::Begin { sight, .. } = &mut self.items.items[index].what {
                *sight = number;
            }
        }
    }

    pub(super) fn cut(mut self, at: u64) -> Whereabouts {
        self.close(at, What::Cut);
        self.now
    }

    /// The thread has ended.
    pub(super) fn end(mut self, at: u64) {
        self.close(at, What::End { left: None });
        self.end_gap(at);
    }

    /// No event is missing after this moment.
    pub(super) fn end_gap(&mut self, at: u64) {
        if mem::take(&mut self.now.is_in_gap) {
            self.items.push(at, self.home, What::Complete);
        }
    }

    fn close(&mut self, at: u64, how: What) {
        for _ in 0..self.now.locals.len() {
            self.items.push(at, self.track(), how);
        }
        if let Some(processor) = self.drawn_on.take() {
            self.items.push(at, Track::Processor(processor), how);
        }
        if self.place.take().is_some() {
            self.items.push(at, self.home, how);
        }
    }

    pub(super) fn follow(&mut self, events: &[Timed]) {
        for (index, timed) in events.iter().enumerate() {
            self.pass_on_before(timed.at);
            if !self.now.is_known && is_of_thread(timed.event) {
                self.now.is_known = true;
                self.set_processor(timed.at, held_at_first(&events[index..]));
            }
            self.step(timed);
            self.draw_place(timed.at);
            if shows_poll(timed.event) {
                self.end_gap(timed.at);
            }
        }
    }

    fn step(&mut self, timed: &Timed) {
        let at = timed.at;
        match timed.event {
            Event::Lost(_) => self.lose_events(timed),
            Event::Sight { task, sight } => self.see(task, sight),
            Event::LocalBegin { task, place } => self.begin_local(at, Slice::Local { task, place }),
            Event::LocalEnd { task, left } => self.end_local(at, task, left),
            Event::PollBegin { task, place, is_root } => self.begin_poll(at, Slice::Poll { task, place, is_root }),
            Event::PollEnd { task, left, is_root, .. } => self.end_poll(at, task, left, is_root),
            Event::SectionBegin => self.now.sections += 1,
            Event::SectionEnd => self.now.sections = self.now.sections.saturating_sub(1),
            Event::Park { in_netpoll } => {
                self.now.asleep = Some(if in_netpoll { Slice::InNetpoll } else { Slice::Parked });
            }
            Event::Unpark { .. } => self.now.asleep = None,
            Event::Acquire(processor) => self.set_processor(at, Some(processor)),
            Event::Release(_) => self.set_processor(at, None),
            Event::Take { machine, processor, computes } => self.lose(at, machine, processor, computes),
            _ => self.items.instant(timed, self.track()),
        }
    }

    /// The track of what the machine does.
    fn track(&self) -> Track {
        self.drawn_on.map_or(self.home, Track::Processor)
    }

    fn begin_poll(&mut self, at: u64, poll: Slice) {
        self.now.poll = Some(poll);
        // Sections end with their poll.
        (self.now.sections, self.now.sight) = (0, 0);
        if let Some(processor) = self.now.known_processor() {
            self.drawn_on = Some(processor);
            self.push_slice(at, ON_PROCESSOR, poll, false);
        }
    }

    fn end_poll(&mut self, at: u64, task: u64, left: Left, is_root: bool) {
        let track = self.track();
        self.undraw_poll(at, Some(left));
        self.undraw_place_of_poll(at, left);
        match left {
            Left::Done if is_root => {}
            Left::Done => self.items.lives.push((at, -1)),
            Left::Woken => self.items.push(at, track, What::Wake { task, place: None, flow: None }),
            Left::Waiting => {}
        }
        self.now.poll = None;
        self.now.sections = 0;
        self.begins = [None; 2];
    }

    /// Without the beginning of the poll around it nothing is drawn.
    fn begin_local(&mut self, at: u64, slice: Slice) {
        if self.now.poll.is_some() {
            self.now.locals.push(slice);
            self.push_local(at, slice, false);
        }
    }

    fn push_local(&mut self, at: u64, slice: Slice, is_resumed: bool) {
        self.items.push(at, self.track(), What::Begin { slice, flow: None, sight: 0, is_resumed });
    }

    fn end_local(&mut self, at: u64, task: u64, left: Left) {
        if matches!(self.now.locals.last(), Some(Slice::Local { task: open, .. }) if *open == task) {
            self.now.locals.pop();
            self.items.push(at, self.track(), What::End { left: Some(left) });
        }
        if left == Left::Woken {
            self.items.push(at, self.track(), What::Wake { task, place: None, flow: None });
        }
    }

    /// The slice around those of a `LocalSet` ends: they are over, or something is missing.
    fn end_locals(&mut self, at: u64) {
        for _ in mem::take(&mut self.now.locals) {
            self.items.push(at, self.track(), What::End { left: None });
        }
    }

    /// Nothing is known of what the thread did between this moment and its next event.
    fn lose_events(&mut self, timed: &Timed) {
        self.end_locals(timed.at);
        self.close(timed.at, What::Interrupted);
        self.begins = [None; 2];
        // The processor counts as busy until it is known whether the machine still has it.
        self.now = Whereabouts { processor: self.now.processor, is_in_gap: true, ..Whereabouts::default() };
        self.items.instant(timed, self.home);
    }

    /// The poll is over, or goes on without the processor.
    fn undraw_poll(&mut self, at: u64, left: Option<Left>) {
        if self.drawn_on.is_some() {
            self.end_locals(at);
        }
        if let Some(processor) = self.drawn_on.take() {
            self.items.push(at, Track::Processor(processor), What::End { left });
        }
    }

    /// A poll that goes on without a processor is drawn where the machine is.
    fn undraw_place_of_poll(&mut self, at: u64, left: Left) {
        if self.place.take_if(|place| matches!(place, Slice::Poll { .. })).is_some() {
            self.end_locals(at);
            self.items.push(at, self.home, What::End { left: Some(left) });
        }
    }

    fn set_processor(&mut self, at: u64, processor: Option<usize>) {
        if processor.is_none() {
            self.undraw_poll(at, None);
        }
        let change = i64::from(processor.is_some()) - i64::from(self.now.processor.is_some());
        if change != 0 {
            self.items.holds.push((at, change));
        }
        self.now.processor = processor;
        self.passed_on_at = processor.and_then(|processor| self.acquisitions.last_moment(self.home, processor, at));
    }

    /// The thread loses its processor at the latest when another thread has it. The take that says so
    /// may be overwritten.
    pub(super) fn pass_on_before(&mut self, end: u64) {
        if let Some(at) = self.passed_on_at.take_if(|at| *at < end) {
            self.set_processor(at, None);
            self.draw_place(at);
        }
    }

    /// This machine's processor was taken, or this machine has taken another's.
    fn lose(&mut self, at: u64, machine: usize, processor: usize, computes: bool) {
        let had_processor = !self.now.is_known || self.now.processor == Some(processor);
        if Track::Machine(machine) == self.home && had_processor {
            self.items.push(at, self.home, What::Take { processor, computes });
            self.set_processor(at, None);
        }
    }

    /// Draws where the machine is, if that has changed.
    fn draw_place(&mut self, at: u64) {
        let place = self.place_now();
        if place == self.place {
            return;
        }
        if self.drawn_on.is_none() {
            self.end_locals(at);
        }
        if self.place.is_some() {
            self.items.push(at, self.home, What::End { left: None });
        }
        if let Some(slice) = place {
            self.push_slice(at, AT_HOME, slice, false);
        }
        self.place = place;
    }

    fn place_now(&self) -> Option<Slice> {
        if !self.now.is_known {
            return None;
        }
        let Whereabouts { processor, poll, sections, asleep, .. } = self.now;
        asleep.or(match (poll, processor) {
            (Some(Slice::Poll { task, place, .. }), _) if sections > 0 => Some(Slice::Section { task, place }),
            (Some(poll), None) => Some(poll),
            (_, Some(processor)) => Some(Slice::Holds(processor)),
            (None, None) => None,
        })
    }
}

/// Whether the thread itself has written such an event, after which it is known where the thread
/// is.
fn is_of_thread(event: Event) -> bool {
    !matches!(event, Event::Lost(_) | Event::Take { .. } | Event::Sight { .. })
}

/// Whether it is known after such an event which poll is under way, whatever came before.
fn shows_poll(event: Event) -> bool {
    matches!(event, Event::PollBegin { .. } | Event::PollEnd { .. } | Event::Park { .. } | Event::Unpark { .. })
}

#[cfg(test)]
mod tests {
    use super::super::item::Item;
    use super::*;

    fn timed(at: u64, event: Event) -> Timed {
        Timed { at, event }
    }

    fn poll(at: u64) -> Timed {
        timed(at, Event::PollBegin { task: 1, place: 0, is_root: false })
    }

    fn end_of_poll(at: u64, processor: usize) -> Timed {
        timed(at, Event::PollEnd { task: 1, left: Left::Waiting, processor: Some(processor), is_root: false })
    }

    /// When slices begin on the track of that processor, and when they end.
    fn drawn(events: &[Timed], processor: usize) -> Vec<(u64, bool)> {
        let mut items = Items::default();
        Follower::new(Track::Machine(0), &mut items, &Acquisitions::default()).follow(events);
        let of_track = items.items.iter().filter(|item| item.track == Track::Processor(processor));
        of_track.map(|item| (item.at, matches!(item.what, What::Begin { .. }))).collect()
    }

    /// The machine is polling a task. The missing events may say that the processor went to another
    /// machine, came back, and was taken.
    #[test]
    fn nothing_is_drawn_in_a_gap() {
        let events = [
            timed(10, Event::Acquire(3)),
            poll(20),
            timed(20, Event::Lost(5)),
            timed(30, Event::Take { machine: 0, processor: 3, computes: false }),
            poll(50),
            end_of_poll(60, 3),
        ];
        assert_eq!(drawn(&events, 3), [(20, true), (20, false), (50, true), (60, false)]);
    }

    #[test]
    fn the_processor_at_the_first_event_follows_from_a_later_one() {
        let events = [poll(20), end_of_poll(30, 2), poll(40)];
        assert_eq!(drawn(&events, 2), [(20, true), (30, false), (40, true)]);
        assert_eq!(drawn(&events[..1], 2), []);
    }

    #[test]
    fn an_event_behind_a_gap_says_nothing_of_the_time_before() {
        let events = [poll(20), timed(20, Event::Lost(5)), end_of_poll(30, 2)];
        assert_eq!(drawn(&events, 2), []);
    }

    /// Of a poll that has begun and goes on nothing else is known.
    #[test]
    fn a_poll_of_a_thread_without_other_events_is_drawn() {
        let mut items = Items::default();
        let root = timed(20, Event::PollBegin { task: 1, place: 0, is_root: true });
        Follower::new(Track::BlockOn(1), &mut items, &Acquisitions::default()).follow(&[root]);
        let begins = |item: &Item| matches!(item.what, What::Begin { .. });
        assert!(items.items.iter().any(|item| item.track == Track::BlockOn(1) && begins(item)));
    }

    #[test]
    fn a_processor_is_not_idle_in_a_gap() {
        let mut items = Items::default();
        let events = [timed(10, Event::Acquire(3)), timed(20, Event::Lost(5)), timed(50, Event::Release(3))];
        Follower::new(Track::Machine(0), &mut items, &Acquisitions::default()).follow(&events);
        assert_eq!(items.holds, [(10, 1), (50, -1)]);
    }

    #[test]
    fn a_machine_whose_other_events_are_missing_still_loses_its_processor() {
        let mut items = Items::default();
        let take = timed(30, Event::Take { machine: 7, processor: 3, computes: true });
        Follower::new(Track::Machine(7), &mut items, &Acquisitions::default()).follow(&[take]);
        let drawn: Vec<_> = items.items.iter().map(|item| (item.at, item.track, item.what)).collect();
        assert_eq!(drawn, [(30, Track::Machine(7), What::Take { processor: 3, computes: true })]);
    }
}
