//! Recorded events, 16 bytes each.
//!
//! | word | bits | what |
//! |---|---|---|
//! | 0 | 56 to 63 | the kind |
//! | 0 | 0 to 55 | when, in ticks of the recording's clock |
//! | 1 | 48 to 63 | a small number |
//! | 1 | 0 to 47 | mostly the id of a task; ids are never reused, and 2^48 of them last for decades |

use super::ring::Words;

const SUBJECT: u32 = 48;
pub(super) const TIME: u32 = 56;

/// What the two numbers of an event mean depends on its kind. A place is where a task was spawned;
/// 0 is an unknown place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// A task, and its place.
    PollBegin = 1,
    /// A task, and [`PollEnd`].
    PollEnd = 2,
    /// A task was woken, but not during its own poll: the end of that poll says so. If it is a task
    /// of a `LocalSet` that is scheduled for the first time, its place.
    Wake = 3,
    /// A task is scheduled for the first time, and its place.
    Spawn = 4,
    /// A task was stolen, from this processor.
    Steal = 5,
    /// The machine sleeps: 1 in the netpoll.
    Park = 6,
    /// The machine has woken up: 1 and the index of the processor that it has kept, or 0.
    Unpark = 7,
    /// The machine has got this processor.
    Acquire = 8,
    /// The machine gives this processor away: 1 to another machine, 0 because there is no work.
    Release = 9,
    /// A processor was taken: the machine that held it, and the number of [`Taken`].
    Take = 10,
    /// A blocking section begins, of this task.
    SectionBegin = 11,
    SectionEnd = 12,
    /// So many timers have fired.
    Timers = 13,
    /// The netpoll has found so many tasks ready.
    Ready = 14,
    /// The program's own: the task, and the mark's name.
    Mark = 15,
    /// The length of this processor's queue (24 bits), and of the global queue.
    Queues = 16,
    /// A poll of the future given to `block_on`: its id, and the place of the call.
    RootBegin = 17,
    /// So many events of this thread are missing. In no ring: the reader of a ring adds it.
    Lost = 18,
    /// The thread of this task's poll was looked at, and the number of what was seen.
    Sight = 19,
    /// A poll of a task of a `LocalSet`, inside a poll: the task, and its place.
    LocalBegin = 20,
    /// The task, and [`PollEnd`].
    LocalEnd = 21,
}

const KINDS: [Kind; 21] = [
    Kind::PollBegin,
    Kind::PollEnd,
    Kind::Wake,
    Kind::Spawn,
    Kind::Steal,
    Kind::Park,
    Kind::Unpark,
    Kind::Acquire,
    Kind::Release,
    Kind::Take,
    Kind::SectionBegin,
    Kind::SectionEnd,
    Kind::Timers,
    Kind::Ready,
    Kind::Mark,
    Kind::Queues,
    Kind::RootBegin,
    Kind::Lost,
    Kind::Sight,
    Kind::LocalBegin,
    Kind::LocalEnd,
];

/// How a poll has left its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Left {
    /// The task is over.
    Done = 0,
    Waiting = 1,
    /// The task was woken during the poll, and is scheduled again.
    Woken = 2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) kind: Kind,
    pub(crate) ticks: u64,
    pub(crate) subject: u64,
    pub(crate) small: u16,
}

impl Event {
    #[inline]
    pub(super) fn pack(self) -> Words {
        [
            (self.kind as u64) << TIME | (self.ticks & mask(TIME)),
            u64::from(self.small) << SUBJECT | (self.subject & mask(SUBJECT)),
        ]
    }

    /// `None`: no event of this version.
    pub(super) fn unpack(words: Words) -> Option<Event> {
        let kind = usize::try_from(words[0] >> TIME).ok()?.checked_sub(1)?;
        Some(Event {
            kind: *KINDS.get(kind)?,
            ticks: words[0] & mask(TIME),
            subject: words[1] & mask(SUBJECT),
            small: (words[1] >> SUBJECT) as u16,
        })
    }
}

const fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// How a poll ended, in a small number: what it left, and which processor it began with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PollEnd {
    pub(crate) left: Left,
    pub(crate) processor: Option<usize>,
    /// Of the future given to `block_on`.
    pub(crate) is_root: bool,
}

const ROOT: u32 = 15;

impl PollEnd {
    #[inline]
    pub(crate) fn pack(self) -> u16 {
        let processor = self.processor.map_or(0, |index| index as u16 + 1);
        u16::from(self.is_root) << ROOT | processor << 2 | self.left as u16
    }

    pub(crate) fn unpack(small: u16) -> PollEnd {
        let left = match small & 3 {
            0 => Left::Done,
            1 => Left::Waiting,
            _ => Left::Woken,
        };
        let processor = (small & !(1 << ROOT)) >> 2;
        PollEnd { left, processor: processor.checked_sub(1).map(usize::from), is_root: small >> ROOT == 1 }
    }
}

/// A processor that was taken, and whether from a thread that computed, in a small number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) processor: usize,
    pub(crate) computes: bool,
}

impl Taken {
    pub(crate) fn pack(self) -> u16 {
        (self.processor as u16) << 1 | u16::from(self.computes)
    }

    pub(crate) fn unpack(small: u16) -> Taken {
        Taken { processor: usize::from(small >> 1), computes: small & 1 == 1 }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_as_it_was_written() {
        for (index, kind) in KINDS.into_iter().enumerate() {
            assert_eq!(kind as usize, index + 1);
            let event = Event { kind, ticks: mask(TIME), subject: mask(SUBJECT) - 1, small: u16::MAX };
            assert_eq!(Event::unpack(event.pack()), Some(event));
        }
        assert_eq!(Event::unpack([0, 0]), None);
        assert_eq!(Event::unpack([22 << TIME, 0]), None);
    }

    #[test]
    fn what_is_too_large_leaves_the_other_fields_alone() {
        let event = Event { kind: Kind::Wake, ticks: 1 << TIME | 7, subject: 1 << SUBJECT | 9, small: 3 };
        assert_eq!(Event::unpack(event.pack()), Some(Event { ticks: 7, subject: 9, ..event }));
    }

    #[test]
    fn small_numbers_are_read_as_they_were_written() {
        for processor in [None, Some(0), Some(1_023)] {
            for left in [Left::Done, Left::Waiting, Left::Woken] {
                for is_root in [false, true] {
                    let end = PollEnd { left, processor, is_root };
                    assert_eq!(PollEnd::unpack(end.pack()), end);
                }
            }
        }
        for computes in [false, true] {
            let taken = Taken { processor: 1_023, computes };
            assert_eq!(Taken::unpack(taken.pack()), taken);
        }
    }
}
