//! From events to what is drawn: slices, instants and numbers, each on a track.
//!
//! The events of one machine, with the takes of its processor in between, say at each moment which
//! processor it held and what it did. A poll is drawn on the track of the processor, as long as the
//! machine had that; where the machine was is drawn on its own track. What the rings have
//! overwritten is not guessed, with one exception: which processor a machine held at first follows
//! from a later event.
//!
//! A recording may be cut into parts, each with a file. A slice that is under way at a cut ends
//! there, and goes on in the next part; [`Carried`] is what the next part must know of it.

use std::collections::{BTreeMap, HashMap};
use std::mem;

use super::super::event::{Event, Kind, Left, PollEnd, Taken};
use super::super::recording::Owner;
use super::super::snapshot::{Snapshot, Timed};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Track {
    Processor(usize),
    Machine(usize),
    /// Threads in `block_on`, numbered.
    BlockOn(usize),
    /// Threads that run blocking closures, numbered.
    Closures(usize),
    /// Threads that are none of these.
    Others,
    IdleProcessors,
    Tasks,
    GlobalQueue,
    Queue(usize),
}

/// What a slice says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slice {
    /// On the track of a processor, or of a machine that polls without one.
    Poll {
        task: u64,
        place: u16,
        is_root: bool,
    },
    /// Of a task of a `LocalSet`, inside a poll.
    Local {
        task: u64,
        place: u16,
    },
    /// The machine has this processor.
    Holds(usize),
    /// The machine is in a blocking section of a task.
    Section {
        task: u64,
        place: u16,
    },
    /// The machine sleeps.
    Parked,
    InNetpoll,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The flow is that of the wake-up which has led to the poll.
    Begin {
        slice: Slice,
        flow: Option<u64>,
        /// The number of what was seen of the thread while it slept in this poll; 0: nothing.
        sight: u16,
        /// The slice has gone on since the part before.
        is_resumed: bool,
    },
    End {
        left: Option<Left>,
    },
    /// The slice goes on in the next part.
    Cut,
    /// The flow leads to the poll.
    Wake {
        task: u64,
        place: Option<u16>,
        flow: Option<u64>,
    },
    Steal {
        task: u64,
        victim: usize,
    },
    Take {
        processor: usize,
        computes: bool,
    },
    Timers(u16),
    Ready(u16),
    Mark {
        task: u64,
        name: u16,
    },
    /// So many events are missing before this moment.
    Lost(u64),
    /// The snapshot was taken.
    Snapshot,
    Number(u64),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    /// Nanoseconds.
    pub(super) at: u64,
    pub(super) track: Track,
    pub(super) what: What,
}

/// What the next part must know of those before.
#[derive(Debug, Default)]
pub(in crate::trace) struct Carried {
    /// When the next part begins.
    begin: u64,
    /// Where threads are.
    threads: BTreeMap<Track, Whereabouts>,
    /// Tasks that were woken and have not been polled: when, and the flow.
    woken: HashMap<u64, (u64, u64)>,
    /// How many flows there are.
    flows: u64,
}

/// A task that was woken is polled within this time, in nanoseconds, or the poll has no flow: the
/// task may have been cancelled.
const LONGEST_WAIT: u64 = 60_000_000_000;

/// Where a thread is.
#[derive(Clone, Debug, Default)]
struct Whereabouts {
    processor: Option<usize>,
    /// The poll under way.
    poll: Option<Slice>,
    /// Those inside it, of tasks of a `LocalSet`.
    locals: Vec<Slice>,
    sections: u32,
    asleep: Option<Slice>,
    /// What was seen of the thread during the poll.
    sight: u16,
}

/// Everything that is drawn, in the order of time.
pub(super) fn items(snapshot: &Snapshot) -> Vec<Item> {
    items_after(snapshot, &mut Carried::default(), false)
}

/// The same for a part of a recording.
pub(super) fn items_of_part(part: &Snapshot, carried: &mut Carried) -> Vec<Item> {
    let items = items_after(part, carried, true);
    carried.begin = part.taken_at;
    items
}

fn items_after(snapshot: &Snapshot, carried: &mut Carried, is_part: bool) -> Vec<Item> {
    let mut items = Items::default();
    let mut threads = mem::take(&mut carried.threads);
    for (track, thread) in threads_of(snapshot) {
        let mut follower = Follower::new(track, &mut items);
        match threads.remove(&track) {
            Some(before) => follower.resume(carried.begin, before),
            None if thread.events.is_empty() => continue,
            None => follower.begin(&thread.events),
        }
        follower.follow(&thread.events);
        if is_part && thread.is_over {
            follower.end(thread.events.last().map_or(carried.begin, |last| last.at));
        } else if is_part {
            carried.threads.insert(track, follower.cut(snapshot.taken_at));
        }
    }
    for timed in snapshot.rings.iter().filter(|ring| ring.source.0.is_none()).flat_map(|ring| &ring.events) {
        items.instant(timed, Track::Others);
    }
    if !is_part {
        // Polls under way last until then, although nothing has happened since they began.
        items.push(snapshot.taken_at, Track::Others, What::Snapshot);
    }
    items.connect(carried, is_part);
    items.count_idle(snapshot.processors);
    items.count_tasks(snapshot);
    let mut items = items.items;
    // Stable: what one machine did at one moment stays in order.
    items.sort_by_key(|item| item.at);
    items
}

/// The events of one thread.
#[derive(Debug)]
struct ThreadEvents {
    events: Vec<Timed>,
    /// No more will come.
    is_over: bool,
}

/// The events of each thread that has a ring. Takes of a machine's processor are events of others,
/// and so is what was seen of a thread. That is given to all: it is about the thread that polls the
/// task.
fn threads_of(snapshot: &Snapshot) -> BTreeMap<Track, ThreadEvents> {
    let mut threads = BTreeMap::<Track, ThreadEvents>::new();
    for ring in &snapshot.rings {
        let track = match ring.source {
            (Some(Owner::Machine(machine)), _) => Track::Machine(machine),
            (Some(Owner::BlockOn), number) => Track::BlockOn(number),
            (Some(Owner::Closures), number) => Track::Closures(number),
            (None, _) => continue,
        };
        let thread = threads.entry(track).or_insert(ThreadEvents { events: Vec::new(), is_over: true });
        thread.events.extend(&ring.events);
        thread.is_over &= !ring.has_writer;
    }
    let takes = snapshot.rings.iter().flat_map(|ring| &ring.events).filter(|timed| timed.event.kind == Kind::Take);
    for take in takes {
        let machine = Track::Machine(take.event.subject as usize);
        let none = ThreadEvents { events: Vec::new(), is_over: true };
        threads.entry(machine).or_insert(none).events.push(*take);
    }
    let sights = snapshot.rings.iter().flat_map(|ring| &ring.events);
    let sights: Vec<Timed> = sights.filter(|timed| timed.event.kind == Kind::Sight).copied().collect();
    for thread in threads.values_mut().filter(|thread| !thread.events.is_empty()) {
        thread.events.extend(&sights);
        thread.events.sort_by_key(|timed| timed.at);
    }
    threads
}

#[derive(Debug, Default)]
struct Items {
    items: Vec<Item>,
    /// When a machine got a processor (1), or let go of one (-1).
    holds: Vec<(u64, i64)>,
    /// When a task was spawned (1), or was over (-1).
    lives: Vec<(u64, i64)>,
}

impl Items {
    fn push(&mut self, at: u64, track: Track, what: What) {
        self.items.push(Item { at, track, what });
    }

    /// Events that don't change where a machine is.
    fn instant(&mut self, timed: &Timed, track: Track) {
        let (at, event) = (timed.at, timed.event);
        let (subject, small) = (event.subject, event.small);
        let what = match event.kind {
            Kind::Wake => What::Wake { task: subject, place: (small > 0).then_some(small), flow: None },
            Kind::Spawn => {
                self.lives.push((at, 1));
                What::Wake { task: subject, place: Some(small), flow: None }
            }
            Kind::Steal => What::Steal { task: subject, victim: usize::from(small) },
            Kind::Timers => What::Timers(small),
            Kind::Ready => What::Ready(small),
            Kind::Mark => What::Mark { task: subject, name: small },
            Kind::Lost => What::Lost(subject),
            Kind::Queues => {
                self.push(at, Track::GlobalQueue, What::Number(subject >> 24));
                let own = subject & ((1 << 24) - 1);
                return self.push(at, Track::Queue(usize::from(small)), What::Number(own));
            }
            _ => return,
        };
        self.push(at, track, what);
    }

    /// Connects each wake-up to the poll that came of it. A task that was woken is not woken again
    /// until it is polled, so the two follow each other. In a part, the poll of the last wake-ups
    /// may be in the next part.
    fn connect(&mut self, carried: &mut Carried, is_part: bool) {
        let mut order: Vec<usize> = (0..self.items.len()).collect();
        order.sort_by_key(|index| self.items[*index].at);
        let mut woken = HashMap::<u64, usize>::new();
        for index in order {
            match self.items[index].what {
                What::Wake { task, .. } => {
                    carried.woken.remove(&task);
                    woken.insert(task, index);
                }
                What::Begin {
                    slice: Slice::Poll { task, .. } | Slice::Local { task, .. }, is_resumed: false, ..
                } => {
                    if let Some(wake) = woken.remove(&task) {
                        carried.flows += 1;
                        self.set_flow(wake, carried.flows);
                        self.set_flow(index, carried.flows);
                    } else if let Some((_, flow)) = carried.woken.remove(&task) {
                        self.set_flow(index, flow);
                    }
                }
                _ => {}
            }
        }
        if is_part {
            self.begin_flows(carried, woken);
        }
    }

    fn begin_flows(&mut self, carried: &mut Carried, woken: HashMap<u64, usize>) {
        let oldest = carried.begin.saturating_sub(LONGEST_WAIT);
        carried.woken.retain(|_, (at, _)| *at >= oldest);
        for (task, index) in woken {
            carried.flows += 1;
            self.set_flow(index, carried.flows);
            carried.woken.insert(task, (self.items[index].at, carried.flows));
        }
    }

    fn set_flow(&mut self, index: usize, number: u64) {
        if let What::Wake { flow, .. } | What::Begin { flow, .. } = &mut self.items[index].what {
            *flow = Some(number);
        }
    }

    fn count_idle(&mut self, processors: usize) {
        let mut holds = mem::take(&mut self.holds);
        holds.sort_by_key(|(at, _)| *at);
        let mut busy = 0;
        for (at, change) in holds {
            busy += change;
            let idle = (processors as i64 - busy).max(0);
            self.push(at, Track::IdleProcessors, What::Number(idle as u64));
        }
    }

    /// Counts back from the number of tasks at the end, as far as no ring has lost events.
    fn count_tasks(&mut self, snapshot: &Snapshot) {
        let cut = snapshot.rings.iter().filter(|ring| ring.is_cut).filter_map(|ring| ring.events.first());
        let events = snapshot.rings.iter().flat_map(|ring| &ring.events);
        let lost = events.filter(|timed| timed.event.kind == Kind::Lost);
        let since = cut.chain(lost).map(|timed| timed.at).max().unwrap_or(0);
        let mut lives = mem::take(&mut self.lives);
        lives.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        let mut tasks = snapshot.tasks as i64;
        for (at, change) in lives.into_iter().take_while(|(at, _)| *at >= since) {
            self.push(at, Track::Tasks, What::Number(tasks.max(0) as u64));
            tasks -= change;
        }
    }
}

/// Follows one machine through its events.
struct Follower<'a> {
    items: &'a mut Items,
    /// That of the thread.
    home: Track,
    now: Whereabouts,
    /// The processor on whose track the poll is drawn.
    drawn_on: Option<usize>,
    /// What is drawn on the machine's track.
    place: Option<Slice>,
    /// The items with which the slices of the poll begin: on the track of a processor, and on the
    /// machine's.
    begins: [Option<usize>; 2],
}

const ON_PROCESSOR: usize = 0;
const AT_HOME: usize = 1;

impl<'a> Follower<'a> {
    fn new(home: Track, items: &'a mut Items) -> Follower<'a> {
        Follower { items, home, now: Whereabouts::default(), drawn_on: None, place: None, begins: [None; 2] }
    }

    fn begin(&mut self, events: &[Timed]) {
        if let Some(first) = events.first() {
            self.set_processor(first.at, held_at_first(events));
        }
    }

    /// Goes on where the part before was cut.
    fn resume(&mut self, at: u64, before: Whereabouts) {
        self.set_processor(at, before.processor);
        self.now = before;
        if let (Some(poll), Some(processor)) = (self.now.poll, self.now.processor) {
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

    fn cut(mut self, at: u64) -> Whereabouts {
        self.close(at, What::Cut);
        self.now
    }

    /// The thread has ended.
    fn end(mut self, at: u64) {
        self.close(at, What::End { left: None });
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

    fn follow(&mut self, events: &[Timed]) {
        for (timed, later) in events.iter().zip(1..) {
            self.step(timed, &events[later..]);
            self.draw_place(timed.at);
        }
    }

    fn step(&mut self, timed: &Timed, later: &[Timed]) {
        let (at, event) = (timed.at, timed.event);
        match event.kind {
            Kind::Lost => self.lose_events(timed, later),
            Kind::Sight => self.see(event.subject, event.small),
            Kind::LocalBegin => self.begin_local(at, event),
            Kind::LocalEnd => self.end_local(at, event.subject, PollEnd::unpack(event.small)),
            Kind::PollBegin => self.begin_poll(at, event, false),
            Kind::RootBegin => self.begin_poll(at, event, true),
            Kind::PollEnd => self.end_poll(at, event.subject, PollEnd::unpack(event.small)),
            Kind::SectionBegin => self.now.sections += 1,
            Kind::SectionEnd => self.now.sections = self.now.sections.saturating_sub(1),
            Kind::Park => self.now.asleep = Some(if event.small == 1 { Slice::InNetpoll } else { Slice::Parked }),
            Kind::Unpark => self.now.asleep = None,
            Kind::Acquire => self.set_processor(at, Some(usize::from(event.small))),
            Kind::Release => self.set_processor(at, None),
            Kind::Take => self.lose(at, event.subject, Taken::unpack(event.small)),
            _ => self.items.instant(timed, self.track()),
        }
    }

    /// The track of what the machine does.
    fn track(&self) -> Track {
        self.drawn_on.map_or(self.home, Track::Processor)
    }

    fn begin_poll(&mut self, at: u64, event: Event, is_root: bool) {
        let poll = Slice::Poll { task: event.subject, place: event.small, is_root };
        self.now.poll = Some(poll);
        // Sections end with their poll.
        (self.now.sections, self.now.sight) = (0, 0);
        if let Some(processor) = self.now.processor {
            self.drawn_on = Some(processor);
            self.push_slice(at, ON_PROCESSOR, poll, false);
        }
    }

    fn end_poll(&mut self, at: u64, task: u64, end: PollEnd) {
        let track = self.track();
        self.undraw_poll(at, Some(end.left));
        self.undraw_place_of_poll(at, end.left);
        match end.left {
            Left::Done if end.is_root => {}
            Left::Done => self.items.lives.push((at, -1)),
            Left::Woken => self.items.push(at, track, What::Wake { task, place: None, flow: None }),
            Left::Waiting => {}
        }
        self.now.poll = None;
        self.now.sections = 0;
        self.begins = [None; 2];
    }

    /// Without the beginning of the poll around it nothing is drawn.
    fn begin_local(&mut self, at: u64, event: Event) {
        if self.now.poll.is_some() {
            let slice = Slice::Local { task: event.subject, place: event.small };
            self.now.locals.push(slice);
            self.push_local(at, slice, false);
        }
    }

    fn push_local(&mut self, at: u64, slice: Slice, is_resumed: bool) {
        self.items.push(at, self.track(), What::Begin { slice, flow: None, sight: 0, is_resumed });
    }

    fn end_local(&mut self, at: u64, task: u64, end: PollEnd) {
        if matches!(self.now.locals.last(), Some(Slice::Local { task: open, .. }) if *open == task) {
            self.now.locals.pop();
            self.items.push(at, self.track(), What::End { left: Some(end.left) });
        }
        if end.left == Left::Woken {
            self.items.push(at, self.track(), What::Wake { task, place: None, flow: None });
        }
    }

    /// The slice around those of a `LocalSet` ends: they are over, or something is missing.
    fn end_locals(&mut self, at: u64) {
        for _ in mem::take(&mut self.now.locals) {
            self.items.push(at, self.track(), What::End { left: None });
        }
    }

    /// Nothing is known of what the thread did before this moment.
    fn lose_events(&mut self, timed: &Timed, later: &[Timed]) {
        self.end_locals(timed.at);
        self.undraw_poll(timed.at, None);
        self.set_processor(timed.at, held_at_first(later));
        self.now = Whereabouts { processor: self.now.processor, ..Whereabouts::default() };
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
    }

    /// This machine's processor was taken, or this machine has taken another's.
    fn lose(&mut self, at: u64, machine: u64, taken: Taken) {
        if Track::Machine(machine as usize) == self.home && self.now.processor == Some(taken.processor) {
            let what = What::Take { processor: taken.processor, computes: taken.computes };
            self.items.push(at, self.home, what);
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
        let Whereabouts { processor, poll, sections, asleep, .. } = self.now;
        asleep.or(match (poll, processor) {
            (Some(Slice::Poll { task, place, .. }), _) if sections > 0 => Some(Slice::Section { task, place }),
            (Some(poll), None) => Some(poll),
            (_, Some(processor)) => Some(Slice::Holds(processor)),
            (None, None) => None,
        })
    }
}

/// The processor that a machine held when its ring began, by the first event that tells.
fn held_at_first(events: &[Timed]) -> Option<usize> {
    events.iter().find_map(|timed| match timed.event.kind {
        Kind::Acquire => Some(None),
        Kind::Unpark => Some(timed.event.small.checked_sub(1).map(usize::from)),
        Kind::Release | Kind::Queues => Some(Some(usize::from(timed.event.small))),
        Kind::Take => Some(Some(Taken::unpack(timed.event.small).processor)),
        Kind::PollEnd => Some(PollEnd::unpack(timed.event.small).processor),
        _ => None,
    })?
}
