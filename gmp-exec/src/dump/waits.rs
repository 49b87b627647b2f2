//! What a task waits for, as the dump says it.

use std::fmt;
use std::net::SocketAddr;
use std::panic::Location;
use std::ptr;
use std::time::Duration;

use super::groups::Count;
use super::info::{Short, known};
use crate::lost::locks::{Acquired, Edge};
use crate::sys::peer::{self, Ports};
use crate::task::join_set::size_of_set;
use crate::task::{Id, MOST, Moment, Resource, SyncWait, Wait};

/// What a task waits for; see [`TaskInfo::waits_for`](super::TaskInfo::waits_for).
///
/// `Display` writes it as the end of a sentence: `for a timer in 3.0 s`, `to read from 127.0.0.1:80
/// (fd 12)`, `to lock a tokio Mutex created at src/main.rs:7 (locked by task 66 at src/main.rs:9)`. All that
/// is not the wait itself stands in brackets, so that several waits can be joined by `and`.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// use gmp_exec::runtime::{Handle, TaskInfo, TaskState, WaitsFor};
/// use gmp_exec::{spawn, task::yield_now};
///
/// let awaited = spawn(std::future::pending::<()>());
/// let id = awaited.id();
/// let joins = spawn(awaited).id();
/// let info = loop {
///     let is_it = |task: &TaskInfo| task.id == joins && task.state == TaskState::Waiting;
///     if let Some(info) = Handle::current().tasks().find(is_it) {
///         break info;
///     }
///     yield_now().await;
/// };
/// assert_eq!(info.waits_for, [WaitsFor::Task(id)]);
/// # });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WaitsFor {
    /// A timer that fires after about so long; zero if it is due.
    Timer(Duration),
    /// A file descriptor that becomes readable.
    Readable(Descriptor),
    /// A file descriptor that becomes writable.
    Writable(Descriptor),
    /// The end of this task, or of this closure of
    /// [`spawn_blocking`](crate::task::spawn_blocking).
    Task(Id),
    /// The end of any task of a [`JoinSet`](crate::task::JoinSet) that has so many tasks now. 0:
    /// the set was dropped since.
    AnyOf(usize),
    /// A lock or channel of tokio's.
    Sync {
        /// What kind of lock or channel it is, and what is waited for.
        resource: Resource,
        /// Permits of a semaphore, of which a read lock takes one and a write lock all; of a full
        /// channel, its capacity; of an empty one, the senders that it had when the task was polled.
        /// 1023 stands for larger numbers, too.
        amount: u32,
        /// Where it was created, if that is known.
        created: Option<&'static Location<'static>>,
        /// The task that has locked the `Mutex` or `RwLock`, or has permits of the `Semaphore`, if that is
        /// known; of several, the one that was spawned first. It is kept only in a process
        /// in which a runtime has been built with `GMP_DEBUG=sigquit=1`, `GMP_LEAKS` or
        /// `GMP_DEADLOCK_AFTER`, or with the options of their builder.
        holder: Option<Id>,
        /// Where that task has locked it, or acquired permits: the place of its last call.
        locked_at: Option<&'static Location<'static>>,
        /// Whether that task has acquired permits at other places, too, since it has any.
        locked_elsewhere: bool,
        /// How many other tasks have locked it to read, or have permits.
        other_holders: u32,
        /// How many permits these tasks have together.
        held: u32,
    },
    /// A future that waits at this place of gmp's or tokio's code.
    Place(&'static Location<'static>),
}

/// A descriptor, and what it was when it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Descriptor {
    /// Its number.
    pub fd: i32,
    /// The other end of a connected socket of IP.
    pub peer: Option<SocketAddr>,
    /// The address at which a socket of IP takes connections.
    pub listens_at: Option<SocketAddr>,
    /// Of a TCP connection that this process has accepted: how long ago the other end sent data, if none
    /// was sent to it since. Known on Linux, and to a few milliseconds: an answer in the same tick of the
    /// kernel's clock counts as later.
    pub unanswered: Option<Duration>,
}

/// The moment of a dump, on the coarse clock of the system, that of the runtime, and that of closures
/// that wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    pub(super) coarse: Moment,
    /// Nanoseconds.
    pub(super) runtime: u64,
    /// Nanoseconds.
    pub(super) closures: u64,
}

impl WaitsFor {
    /// `now`: on the runtime's clock.
    pub(super) fn of(wait: Wait, now: u64) -> WaitsFor {
        match wait {
            Wait::Timer(at) => WaitsFor::Timer(Duration::from_nanos(at.saturating_sub(now))),
            Wait::Readable(fd) => WaitsFor::Readable(Descriptor::unknown(fd)),
            Wait::Writable(fd) => WaitsFor::Writable(Descriptor::unknown(fd)),
            Wait::Task(id) => WaitsFor::Task(id),
            Wait::AnyOf(roll) => WaitsFor::AnyOf(size_of_set(roll)),
            Wait::Sync(SyncWait { resource, amount, created }) => WaitsFor::unheld(resource, amount, known(created)),
            Wait::At(place) => WaitsFor::Place(place),
        }
    }

    /// A wait of which no holder is known.
    fn unheld(resource: Resource, amount: u32, created: Option<&'static Location<'static>>) -> WaitsFor {
        let (holder, locked_at, locked_elsewhere) = (None, None, false);
        WaitsFor::Sync { resource, amount, created, holder, locked_at, locked_elsewhere, other_holders: 0, held: 0 }
    }

    /// The task without which the wait does not end. Permits of a semaphore may come from any task.
    pub(super) fn blocked_by(&self) -> Option<Id> {
        match *self {
            WaitsFor::Task(id) => Some(id),
            WaitsFor::Sync { resource: Resource::Mutex | Resource::RwLock, holder, .. } => holder,
            _ => None,
        }
    }

    /// Sets which tasks have locked what is waited for, and returns them. `edges`: those of the task's
    /// last poll. Two locks that were created at one place can't be told apart.
    pub(super) fn set_holder<'a>(&mut self, edges: &[&'a Edge]) -> Option<&'a Edge> {
        let WaitsFor::Sync { resource, amount, created, .. } = *self else { return None };
        let is_of = |edge: &&&Edge| edge.resource == resource && known(edge.created) == created;
        let mut matching = edges.iter().filter(is_of);
        let first = *matching.next()?;
        if matching.any(|edge| edge.address != first.address) {
            return None;
        }
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let Acquired { last, elsewhere } = first.holders.acquired;
        *self = WaitsFor::Sync {
            resource,
            amount,
            created,
            holder: first.holders.tasks.first().copied(),
            locked_at: known(last),
            locked_elsewhere: elsewhere,
            other_holders: number(first.holders.tasks.len() - 1),
            held: number(first.holders.permits),
        };
        Some(first)
    }

    /// Leaves out what is not true of another task that waits for the same kind of thing. Of clients
    /// without an answer, the longest time.
    pub(super) fn retain_common(&mut self, others: &[WaitsFor]) {
        let same = others.iter().find(|other| other.kind() == self.kind()).copied();
        if let WaitsFor::Readable(descriptor) = self {
            descriptor.unanswered = descriptor.unanswered.max(same.and_then(|same| same.unanswered()));
        }
        let (
            WaitsFor::Sync { amount, holder, locked_at, .. },
            Some(WaitsFor::Sync { amount: of_other, holder: its_holder, .. }),
        ) = (self, same)
        else {
            return;
        };
        if *amount != of_other {
            *amount = 0;
        }
        if *holder != its_holder {
            (*holder, *locked_at) = (None, None);
        }
    }

    /// Asks the system what the descriptor is.
    pub(super) fn look_at_descriptor(&mut self, ports: &mut Ports) {
        if let WaitsFor::Readable(descriptor) | WaitsFor::Writable(descriptor) = self {
            let fd = descriptor.fd;
            let peer = peer::peer(fd);
            let unanswered = peer.and_then(|_| peer::unanswered(fd, ports));
            *descriptor = Descriptor { fd, peer, listens_at: peer::listens_at(fd), unanswered };
        }
    }

    fn unanswered(&self) -> Option<Duration> {
        if let WaitsFor::Readable(Descriptor { unanswered, .. }) = self { *unanswered } else { None }
    }

    /// The same kind of wait, without what distinguishes one task's wait from that of another one:
    /// tasks are grouped by this.
    pub(super) fn kind(self) -> WaitsFor {
        let any = Descriptor::unknown(0);
        match self {
            WaitsFor::Timer(_) => WaitsFor::Timer(Duration::ZERO),
            WaitsFor::Readable(of) => {
                WaitsFor::Readable(Descriptor { unanswered: of.unanswered.map(|_| Duration::ZERO), ..any })
            }
            WaitsFor::Writable(_) => WaitsFor::Writable(any),
            WaitsFor::Task(_) => WaitsFor::Task(Id::from_u64(1).expect("not 0")),
            WaitsFor::AnyOf(_) => WaitsFor::AnyOf(0),
            WaitsFor::Sync { resource, amount, created, .. } => {
                let varies = matches!(resource, Resource::Receiver | Resource::Semaphore);
                WaitsFor::unheld(resource, if varies { 0 } else { amount }, created)
            }
            WaitsFor::Place(_) => self,
        }
    }

    /// An order of the kinds, which the futures of a `select!` don't have.
    pub(super) fn rank(&self) -> (u8, usize, u32) {
        let address = |place: &'static Location<'static>| ptr::from_ref(place).addr();
        match *self {
            WaitsFor::Sync { resource, amount, created, .. } => (resource as u8, created.map_or(0, address), amount),
            WaitsFor::Place(place) => (20, address(place), 0),
            WaitsFor::Task(_) => (21, 0, 0),
            WaitsFor::AnyOf(_) => (22, 0, 0),
            WaitsFor::Writable(_) => (23, 0, 0),
            WaitsFor::Readable(_) => (24, 0, 0),
            WaitsFor::Timer(_) => (25, 0, 0),
        }
    }

    pub(super) fn timer(&self) -> Option<Duration> {
        if let WaitsFor::Timer(left) = self { Some(*left) } else { None }
    }
}

impl Descriptor {
    fn unknown(fd: i32) -> Descriptor {
        Descriptor { fd, peer: None, listens_at: None, unanswered: None }
    }
}

/// Displays all that a task waits for, as the end of a sentence.
pub(super) struct All<'a, W> {
    pub(super) waits: &'a [W],
    /// Whether there is more.
    pub(super) more: bool,
}

impl<W: fmt::Display> fmt::Display for All<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, wait) in self.waits.iter().enumerate() {
            write!(f, "{}{wait}", if index == 0 { "" } else { " and " })?;
        }
        f.write_str(if self.more { " and for more" } else { "" })
    }
}

/// Displays what several tasks of a group wait for; of timers, this is the earliest.
pub(super) struct OfSeveral(pub(super) WaitsFor);

impl fmt::Display for OfSeveral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            WaitsFor::Timer(left) => write!(f, "for timers (the next in {:.1} s)", left.as_secs_f64()),
            WaitsFor::Readable(Descriptor { unanswered: Some(ago), .. }) => {
                let ago = ago.as_secs_f64();
                write!(f, "to read from clients (unanswered since their last data, up to {ago:.1} s ago)")
            }
            WaitsFor::Readable(_) => f.write_str("for descriptors to be readable"),
            WaitsFor::Writable(_) => f.write_str("for descriptors to be writable"),
            WaitsFor::Task(_) => f.write_str("for other tasks"),
            WaitsFor::AnyOf(_) => f.write_str("for tasks of sets"),
            // The senders may be others.
            WaitsFor::Sync { resource: Resource::Receiver, .. } => self.0.kind().fmt(f),
            WaitsFor::Sync { .. } | WaitsFor::Place(_) => self.0.fmt(f),
        }
    }
}

impl fmt::Display for WaitsFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            WaitsFor::Timer(left) => write!(f, "for a timer in {:.1} s", left.as_secs_f64()),
            WaitsFor::Readable(Descriptor { fd, peer: Some(peer), unanswered: None, .. }) => {
                write!(f, "to read from {peer} (fd {fd})")
            }
            WaitsFor::Readable(Descriptor { fd, peer: Some(peer), unanswered: Some(ago), .. }) => {
                let ago = ago.as_secs_f64();
                write!(f, "to read from {peer} (fd {fd}, unanswered since its last data {ago:.1} s ago)")
            }
            WaitsFor::Readable(Descriptor { fd, listens_at: Some(address), .. }) => {
                write!(f, "for a connection to {address} (fd {fd})")
            }
            WaitsFor::Readable(Descriptor { fd, .. }) => write!(f, "for fd {fd} to be readable"),
            WaitsFor::Writable(Descriptor { fd, peer: Some(peer), .. }) => write!(f, "to write to {peer} (fd {fd})"),
            WaitsFor::Writable(Descriptor { fd, .. }) => write!(f, "for fd {fd} to be writable"),
            WaitsFor::Task(id) => write!(f, "for task {id}"),
            WaitsFor::AnyOf(0) => f.write_str("for the tasks of a set that was dropped"),
            WaitsFor::AnyOf(1) => f.write_str("for the only task of a set"),
            WaitsFor::AnyOf(count) => write!(f, "for any of {count} tasks"),
            WaitsFor::Sync { resource, amount, created, holder, locked_at, locked_elsewhere, other_holders, held } => {
                resource_in_words(f, resource, amount, created)?;
                let Some(holder) = holder else { return Ok(()) };
                match resource {
                    Resource::Semaphore => write!(f, " ({} acquired by task {holder}", Count(held as usize, "permit"))?,
                    _ => write!(f, " (locked by task {holder}")?,
                }
                locked_at.map_or(Ok(()), |place| write!(f, " at {}", Short(place)))?;
                f.write_str(if locked_at.is_some() && locked_elsewhere { " and elsewhere" } else { "" })?;
                match other_holders {
                    0 => f.write_str(")"),
                    others => write!(f, " and {})", Count(others as usize, "other task")),
                }
            }
            WaitsFor::Place(place) => write!(f, "at {}", Short(place)),
        }
    }
}

/// A lock or channel, with where it was created directly behind it.
fn resource_in_words(
    f: &mut fmt::Formatter<'_>,
    resource: Resource,
    amount: u32,
    created: Option<&'static Location<'static>>,
) -> fmt::Result {
    let more = if amount == MOST { " or more" } else { "" };
    match resource {
        Resource::Mutex => f.write_str("to lock a tokio Mutex"),
        Resource::RwLock if amount == 1 => f.write_str("to read a tokio RwLock"),
        Resource::RwLock => f.write_str("to write a tokio RwLock"),
        Resource::Semaphore if amount == 0 => f.write_str("to acquire permits of a tokio Semaphore"),
        Resource::Semaphore => write!(f, "to acquire {amount}{more} of a tokio Semaphore"),
        Resource::OnceCell => f.write_str("for the initialisation of a tokio OnceCell"),
        Resource::Sender => write!(f, "to send into a full mpsc channel (capacity {amount}{more})"),
        Resource::Receiver if amount == 0 => f.write_str("to receive from an empty mpsc channel"),
        Resource::Receiver if amount == 1 => f.write_str("to receive from an empty mpsc channel (1 sender)"),
        Resource::Receiver => write!(f, "to receive from an empty mpsc channel ({amount}{more} senders)"),
        Resource::Notify => f.write_str("for a notification by a tokio Notify"),
        Resource::Watch => f.write_str("for a change of a watch channel"),
        Resource::Closed => f.write_str("for the end of all receivers of a channel"),
        Resource::Oneshot => f.write_str("to receive from a oneshot channel"),
        Resource::Broadcast => f.write_str("to receive from a broadcast channel"),
    }?;
    created.map_or(Ok(()), |place| write!(f, " created at {}", Short(place)))
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::lost::locks::Holders;

    #[test]
    fn a_wait_is_the_end_of_a_sentence() {
        let id = Id::from_u64(7).unwrap();
        let text = |wait: Wait| WaitsFor::of(wait, 1_000_000_000).to_string();
        assert_eq!(text(Wait::Timer(4_000_000_000)), "for a timer in 3.0 s");
        assert_eq!(text(Wait::Timer(1)), "for a timer in 0.0 s");
        assert_eq!(text(Wait::Readable(12)), "for fd 12 to be readable");
        assert_eq!(text(Wait::Writable(12)), "for fd 12 to be writable");
        assert_eq!(text(Wait::Task(id)), "for task 7");
        assert_eq!(WaitsFor::AnyOf(3).to_string(), "for any of 3 tasks");
        assert_eq!(WaitsFor::AnyOf(1).to_string(), "for the only task of a set");
        assert_eq!(WaitsFor::AnyOf(0).to_string(), "for the tasks of a set that was dropped");
        let place = Location::caller();
        assert!(text(Wait::At(place)).ends_with(&format!("waits.rs:{}", place.line())));
    }

    #[test]
    fn a_socket_is_known_by_its_addresses() {
        let address = Some("127.0.0.1:80".parse().unwrap());
        let connected = Descriptor { peer: address, ..Descriptor::unknown(5) };
        assert_eq!(WaitsFor::Readable(connected).to_string(), "to read from 127.0.0.1:80 (fd 5)");
        assert_eq!(WaitsFor::Writable(connected).to_string(), "to write to 127.0.0.1:80 (fd 5)");
        let unanswered = Some(Duration::from_millis(2_100));
        let asked = WaitsFor::Readable(Descriptor { unanswered, ..connected });
        let text = asked.to_string();
        assert_eq!(text, "to read from 127.0.0.1:80 (fd 5, unanswered since its last data 2.1 s ago)");
        let mut several = WaitsFor::Readable(Descriptor { unanswered: Some(Duration::ZERO), ..connected });
        assert_ne!(several.kind(), WaitsFor::Readable(connected).kind());
        several.retain_common(&[asked]);
        let text = OfSeveral(several).to_string();
        assert_eq!(text, "to read from clients (unanswered since their last data, up to 2.1 s ago)");
        let listens = WaitsFor::Readable(Descriptor { listens_at: address, ..Descriptor::unknown(5) });
        assert_eq!(listens.to_string(), "for a connection to 127.0.0.1:80 (fd 5)");
    }

    #[test]
    fn a_lock_or_channel_is_named_with_what_is_waited_for() {
        let wait = |resource, amount| WaitsFor::unheld(resource, amount, None);
        let text = |resource, amount| wait(resource, amount).to_string();
        assert_eq!(text(Resource::Mutex, 1), "to lock a tokio Mutex");
        assert_eq!(text(Resource::RwLock, 1), "to read a tokio RwLock");
        assert_eq!(text(Resource::RwLock, MOST), "to write a tokio RwLock");
        assert_eq!(text(Resource::Semaphore, 3), "to acquire 3 of a tokio Semaphore");
        assert_eq!(wait(Resource::Semaphore, 3).kind().to_string(), "to acquire permits of a tokio Semaphore");
        assert_eq!(text(Resource::Receiver, 0), "to receive from an empty mpsc channel");
        assert_eq!(text(Resource::Receiver, 1), "to receive from an empty mpsc channel (1 sender)");
        assert_eq!(text(Resource::Receiver, 2), "to receive from an empty mpsc channel (2 senders)");
        assert_eq!(text(Resource::Sender, 4), "to send into a full mpsc channel (capacity 4)");
        assert_eq!(text(Resource::Sender, MOST), "to send into a full mpsc channel (capacity 1023 or more)");
        let created = Location::caller();
        let wait = Wait::Sync(SyncWait { resource: Resource::Watch, amount: 0, created });
        let expected = format!("waits.rs:{}", created.line());
        let text = WaitsFor::of(wait, 0).to_string();
        assert!(text.starts_with("for a change of a watch channel created at ") && text.ends_with(&expected), "{text}");
        let text = WaitsFor::unheld(Resource::Closed, 0, Some(created)).to_string();
        assert_eq!(text, format!("for the end of all receivers of a channel created at {}", Short(created)));
    }

    #[test]
    fn who_has_locked_is_told_and_where_and_how_many_others() {
        let id = |id| Id::from_u64(id).unwrap();
        let created = Location::caller();
        let last = Location::caller();
        let edge = |resource, tasks: &[u64], permits, elsewhere, address| Edge {
            task: id(1),
            polls: 1,
            since: std::time::Instant::now(),
            resource,
            created,
            holders: Holders {
                tasks: tasks.iter().map(|task| id(*task)).collect(),
                acquired: Acquired { last, elsewhere },
                permits,
            },
            address,
        };
        let places = [(Short(created), "HERE"), (Short(last), "THERE")].map(|(place, name)| (place.to_string(), name));
        let told = |resource, edges: &[&Edge]| {
            let mut wait = WaitsFor::of(Wait::Sync(SyncWait { resource, amount: 1, created }), 0);
            wait.set_holder(edges);
            places.iter().fold(wait.to_string(), |text, (place, name)| text.replace(place, name))
        };
        let pool = edge(Resource::Semaphore, &[5, 7], 3, true, 32);
        let one = edge(Resource::Semaphore, &[5], 1, false, 32);
        let semaphore = "to acquire 1 of a tokio Semaphore created at HERE";
        assert_eq!(
            told(Resource::Semaphore, &[&pool]),
            format!("{semaphore} (3 permits acquired by task 5 at THERE and elsewhere and 1 other task)")
        );
        assert_eq!(told(Resource::Semaphore, &[&one]), format!("{semaphore} (1 permit acquired by task 5 at THERE)"));
        let readers = edge(Resource::RwLock, &[5, 6, 7], 3, false, 64);
        assert_eq!(
            told(Resource::RwLock, &[&one, &readers]),
            "to read a tokio RwLock created at HERE (locked by task 5 at THERE and 2 other tasks)"
        );
        let other = edge(Resource::Semaphore, &[9], 1, false, 96);
        assert_eq!(told(Resource::Semaphore, &[&pool, &other]), semaphore, "either may be meant");
    }

    #[test]
    fn a_group_says_what_is_true_of_all() {
        let place = Location::caller();
        let wait = |amount, holder| WaitsFor::Sync {
            resource: Resource::Semaphore,
            amount,
            created: None,
            holder: Id::from_u64(holder),
            locked_at: Some(place),
            locked_elsewhere: false,
            other_holders: 0,
            held: 2,
        };
        let common = |one: WaitsFor, other| {
            let mut common = one;
            common.retain_common(&[WaitsFor::Timer(Duration::ZERO), other]);
            OfSeveral(common).to_string()
        };
        let acquired = format!("of a tokio Semaphore (2 permits acquired by task 7 at {})", Short(place));
        assert_eq!(common(wait(1, 7), wait(1, 7)), format!("to acquire 1 {acquired}"));
        assert_eq!(common(wait(1, 7), wait(3, 7)), format!("to acquire permits {acquired}"));
        assert_eq!(common(wait(1, 7), wait(1, 8)), "to acquire 1 of a tokio Semaphore");
    }

    #[test]
    fn all_waits_are_one_sentence() {
        let waits = [WaitsFor::AnyOf(3), WaitsFor::Timer(Duration::ZERO)];
        assert_eq!(All { waits: &waits, more: false }.to_string(), "for any of 3 tasks and for a timer in 0.0 s");
        assert_eq!(All { waits: &waits[..1], more: true }.to_string(), "for any of 3 tasks and for more");
    }
}
