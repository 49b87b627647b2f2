//! What a file of the recorder says: events on tracks, in the order of time. Names are numbers, so
//! that a large file takes little memory.

use std::collections::HashMap;

/// The number of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Name(u32);

/// All names of all files, each once.
#[derive(Debug, Default)]
pub(super) struct Names {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    pub(super) fn name(&mut self, text: String) -> Name {
        if let Some(number) = self.numbers.get(&text) {
            return Name(*number);
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.clone());
        self.numbers.insert(text, number);
        Name(number)
    }

    pub(super) fn text(&self, name: Name) -> &str {
        &self.texts[name.0 as usize]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Track {
    pub(super) title: Name,
    pub(super) kind: TrackKind,
}

/// Whose track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum TrackKind {
    /// A processor's.
    Processor,
    /// A machine's, or that of a thread in `block_on`.
    Thread,
    /// A thread's that runs blocking closures.
    Closures,
    Other,
}

impl TrackKind {
    pub(super) fn of(title: &str) -> TrackKind {
        let is_numbered = |prefix| title.strip_prefix(prefix).is_some_and(|number| number.parse::<u32>().is_ok());
        match title {
            _ if is_numbered("P") => TrackKind::Processor,
            _ if is_numbered("M") || is_numbered("block_on ") => TrackKind::Thread,
            _ if is_numbered("closures ") => TrackKind::Closures,
            _ => TrackKind::Other,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    /// In nanoseconds of the recorder's clock.
    pub(super) at: u64,
    pub(super) track: Track,
    pub(super) what: What,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Begin(Begin),
    End(Left),
    /// A task is woken. The flow leads to its poll.
    Wake(Option<u64>),
    /// The processor of the track's thread was taken.
    Take {
        name: Name,
        sleeps: bool,
    },
    /// A task was stolen from this processor.
    Steal(Name),
    /// So many events of the track's thread are missing after this moment.
    Lost(u64),
    /// No more are.
    Complete,
    /// All has been said of the time before.
    Snapshot,
    Other(Name),
}

/// A slice begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begin {
    pub(super) kind: SliceKind,
    /// Where a polled task was spawned, or what a thread does.
    pub(super) name: Name,
    pub(super) task: Option<u64>,
    /// That of the wake-up that has led to the poll.
    pub(super) flow: Option<u64>,
    /// The slice goes on after the end of the file before.
    pub(super) is_resumed: bool,
    /// The system call in which the thread was seen asleep.
    pub(super) asleep_in: Option<Name>,
    /// The line that had called that.
    pub(super) called: Option<Name>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SliceKind {
    Poll,
    /// A poll of a task of a `LocalSet`, inside a poll.
    Local,
    /// A blocking section of a poll.
    Section,
    Other,
}

/// How a slice ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// The poll is over.
    Over,
    /// The poll goes on elsewhere.
    GoesOn,
    /// The file ends.
    Cut,
    /// The next events of the thread are missing.
    Lost,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number() {
        let mut names = Names::default();
        let [a, b, again] = ["a", "b", "a"].map(|text| names.name(text.to_owned()));
        assert_eq!((a, names.text(a), names.text(b)), (again, "a", "b"));
        assert_ne!(a, b);
    }

    #[test]
    fn tracks_are_told_apart_by_their_titles() {
        let kinds = ["P0", "M17", "block_on 1", "closures 2", "Px", "P0 x", "other threads"].map(TrackKind::of);
        let expected = [
            TrackKind::Processor,
            TrackKind::Thread,
            TrackKind::Thread,
            TrackKind::Closures,
            TrackKind::Other,
            TrackKind::Other,
            TrackKind::Other,
        ];
        assert_eq!(kinds, expected);
    }
}
