//! From events to what is drawn: slices, instants and numbers, each on a track.
//!
//! The events of one machine, with the takes of its processor in between, say at each moment which
//! processor it held and what it did. A poll is drawn on the track of the processor, as long as the
//! machine had that; where the machine was is drawn on its own track. What the rings have
//! overwritten is not guessed, with one exception: which processor a machine held at first follows
//! from a later event.

use std::collections::{BTreeMap, HashMap};

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
    },
    End {
        left: Option<Left>,
    },
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
    Number(u64),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    /// Nanoseconds.
    pub(super) at: u64,
    pub(super) track: Track,
    pub(super) what: What,
}

/// Everything that is drawn, in the order of time.
pub(super) fn items(snapshot: &Snapshot) -> Vec<Item> {
    let mut items = Items::default();
    for (machine, events) in by_machine(snapshot) {
        Follower::new(Track::Machine(machine), &events, &mut items).follow(&events);
    }
    for (track, events) in of_other_threads(snapshot) {
        Follower::new(track, events, &mut items).follow(events);
    }
    for timed in snapshot.rings.iter().filter(|ring| ring.owner.is_none()).flat_map(|ring| &ring.events) {
        items.instant(timed, Track::Others);
    }
    items.connect();
    items.count_idle(snapshot.processors);
    items.count_tasks(snapshot);
    let mut items = items.items;
    // Stable: what one machine did at one moment stays in order.
    items.sort_by_key(|item| item.at);
    items
}

/// The events of each machine. Takes of its processor are events of others.
fn by_machine(snapshot: &Snapshot) -> BTreeMap<usize, Vec<Timed>> {
    let mut machines = BTreeMap::<usize, Vec<Timed>>::new();
    for ring in &snapshot.rings {
        if let Some(Owner::Machine(machine)) = ring.owner {
            machines.entry(machine).or_default().extend(&ring.events);
        }
    }
    let takes = snapshot.rings.iter().flat_map(|ring| &ring.events).filter(|timed| timed.event.kind == Kind::Take);
    for take in takes.copied().collect::<Vec<_>>() {
        machines.entry(take.event.subject as usize).or_default().push(take);
    }
    machines.values_mut().for_each(|events| events.sort_by_key(|timed| timed.at));
    machines
}

/// The events of each thread that is no machine and has a ring.
fn of_other_threads(snapshot: &Snapshot) -> Vec<(Track, &[Timed])> {
    let of = |owner: Owner, track: fn(usize) -> Track| {
        let rings = snapshot.rings.iter().filter(move |ring| ring.owner == Some(owner));
        (1..).zip(rings).map(move |(number, ring)| (track(number), &*ring.events))
    };
    of(Owner::BlockOn, Track::BlockOn).chain(of(Owner::Closures, Track::Closures)).collect()
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
            Kind::Wake => What::Wake { task: subject, place: None, flow: None },
            Kind::Spawn => {
                self.lives.push((at, 1));
                What::Wake { task: subject, place: Some(small), flow: None }
            }
            Kind::Steal => What::Steal { task: subject, victim: usize::from(small) },
            Kind::Timers => What::Timers(small),
            Kind::Ready => What::Ready(small),
            Kind::Mark => What::Mark { task: subject, name: small },
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
    /// until it is polled, so the two follow each other.
    fn connect(&mut self) {
        let mut order: Vec<usize> = (0..self.items.len()).collect();
        order.sort_by_key(|index| self.items[*index].at);
        let mut woken = HashMap::<u64, usize>::new();
        let mut flows = 0;
        for index in order {
            match self.items[index].what {
                What::Wake { task, .. } => {
                    woken.insert(task, index);
                }
                What::Begin { slice: Slice::Poll { task, .. }, .. } => {
                    if let Some(wake) = woken.remove(&task) {
                        flows += 1;
                        self.set_flow(wake, flows);
                        self.set_flow(index, flows);
                    }
                }
                _ => {}
            }
        }
    }

    fn set_flow(&mut self, index: usize, number: u64) {
        if let What::Wake { flow, .. } | What::Begin { flow, .. } = &mut self.items[index].what {
            *flow = Some(number);
        }
    }

    fn count_idle(&mut self, processors: usize) {
        let mut holds = std::mem::take(&mut self.holds);
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
        let since = cut.map(|timed| timed.at).max().unwrap_or(0);
        let mut lives = std::mem::take(&mut self.lives);
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
    processor: Option<usize>,
    /// The poll under way.
    poll: Option<Slice>,
    /// The processor on whose track the poll is drawn.
    drawn_on: Option<usize>,
    sections: u32,
    asleep: Option<Slice>,
    /// What is drawn on the machine's track.
    place: Option<Slice>,
}

impl<'a> Follower<'a> {
    fn new(home: Track, events: &[Timed], items: &'a mut Items) -> Follower<'a> {
        let mut follower = Follower {
            items,
            home,
            processor: None,
            poll: None,
            drawn_on: None,
            sections: 0,
            asleep: None,
            place: None,
        };
        if let Some(first) = events.first() {
            follower.set_processor(first.at, held_at_first(events));
        }
        follower
    }

    fn follow(mut self, events: &[Timed]) {
        for timed in events {
            self.step(timed);
            self.draw_place(timed.at);
        }
    }

    fn step(&mut self, timed: &Timed) {
        let (at, event) = (timed.at, timed.event);
        match event.kind {
            Kind::PollBegin => self.begin_poll(at, event, false),
            Kind::RootBegin => self.begin_poll(at, event, true),
            Kind::PollEnd => self.end_poll(at, event.subject, PollEnd::unpack(event.small)),
            Kind::SectionBegin => self.sections += 1,
            Kind::SectionEnd => self.sections = self.sections.saturating_sub(1),
            Kind::Park => self.asleep = Some(if event.small == 1 { Slice::InNetpoll } else { Slice::Parked }),
            Kind::Unpark => self.asleep = None,
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
        self.poll = Some(poll);
        // Sections end with their poll.
        self.sections = 0;
        if let Some(processor) = self.processor {
            self.drawn_on = Some(processor);
            self.items.push(at, Track::Processor(processor), What::Begin { slice: poll, flow: None });
        }
    }

    fn end_poll(&mut self, at: u64, task: u64, end: PollEnd) {
        let track = self.track();
        self.undraw_poll(at, Some(end.left));
        match end.left {
            Left::Done if end.is_root => {}
            Left::Done => self.items.lives.push((at, -1)),
            Left::Woken => self.items.push(at, track, What::Wake { task, place: None, flow: None }),
            Left::Waiting => {}
        }
        self.poll = None;
        self.sections = 0;
    }

    /// The poll is over, or goes on without the processor.
    fn undraw_poll(&mut self, at: u64, left: Option<Left>) {
        if let Some(processor) = self.drawn_on.take() {
            self.items.push(at, Track::Processor(processor), What::End { left });
        }
    }

    fn set_processor(&mut self, at: u64, processor: Option<usize>) {
        if processor.is_none() {
            self.undraw_poll(at, None);
        }
        let change = i64::from(processor.is_some()) - i64::from(self.processor.is_some());
        if change != 0 {
            self.items.holds.push((at, change));
        }
        self.processor = processor;
    }

    /// This machine's processor was taken, or this machine has taken another's.
    fn lose(&mut self, at: u64, machine: u64, taken: Taken) {
        if Track::Machine(machine as usize) == self.home && self.processor == Some(taken.processor) {
            let what = What::Take { processor: taken.processor, computes: taken.computes };
            self.items.push(at, self.home, what);
            self.set_processor(at, None);
        }
    }

    /// Draws where the machine is, if that has changed.
    fn draw_place(&mut self, at: u64) {
        let place = self.asleep.or(match (self.poll, self.processor) {
            (Some(Slice::Poll { task, place, .. }), _) if self.sections > 0 => Some(Slice::Section { task, place }),
            (Some(poll), None) => Some(poll),
            (_, Some(processor)) => Some(Slice::Holds(processor)),
            (None, None) => None,
        });
        if place == self.place {
            return;
        }
        let track = self.home;
        if self.place.is_some() {
            self.items.push(at, track, What::End { left: None });
        }
        if let Some(slice) = place {
            self.items.push(at, track, What::Begin { slice, flow: None });
        }
        self.place = place;
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
