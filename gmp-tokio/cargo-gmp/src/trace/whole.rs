//! The time of which the events of all threads are there. Of the rest, nobody can say that nothing
//! ran, or how long a task waited.

use std::collections::HashSet;

use super::event::Name;

/// Adds up that time.
#[derive(Debug, Default)]
pub(super) struct Whole {
    /// The tracks of threads whose events are missing now.
    gaps: HashSet<Name>,
    now: Moment,
    /// How many stretches of whole time there are, and when the latest begins.
    stretches: usize,
    since: u64,
    is_counting: bool,
}

/// A moment, and how much whole time there was until then.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moment {
    pub(super) at: u64,
    whole: u64,
    /// No thread has a gap now.
    pub(super) is_whole: bool,
}

impl Moment {
    /// How much of the time since then is whole.
    pub(super) fn whole_until(self, later: Moment) -> u64 {
        later.whole - self.whole
    }

    /// The time since then, if all of it is whole.
    pub(super) fn all_until(self, later: Moment) -> Option<u64> {
        let whole = self.whole_until(later);
        (self.is_whole && later.is_whole && whole == later.at - self.at).then_some(whole)
    }
}

impl Whole {
    pub(super) fn now(&self) -> Moment {
        Moment { is_whole: self.gaps.is_empty(), ..self.now }
    }

    /// All whole time.
    pub(super) fn total(&self) -> u64 {
        self.now.whole
    }

    /// When the whole time begins, if it is one stretch.
    pub(super) fn only_stretch(&self) -> Option<u64> {
        (self.stretches == 1).then_some(self.since)
    }

    /// Time goes on, never back.
    pub(super) fn advance(&mut self, at: u64) {
        let passed = at.saturating_sub(self.now.at);
        if passed > 0 {
            let is_whole = self.gaps.is_empty();
            if is_whole && !std::mem::replace(&mut self.is_counting, is_whole) {
                self.stretches += 1;
                self.since = self.now.at;
            }
            self.is_counting = is_whole;
            self.now.at += passed;
            self.now.whole += if is_whole { passed } else { 0 };
        }
    }

    /// Of the time between two files nothing is known.
    pub(super) fn skip_to(&mut self, at: u64) {
        if at > self.now.at {
            (self.now.at, self.is_counting) = (at, false);
        }
    }

    pub(super) fn begin_gap(&mut self, track: Name) {
        self.gaps.insert(track);
    }

    pub(super) fn end_gap(&mut self, track: Name) {
        self.gaps.remove(&track);
    }

    /// The next file has its own gaps.
    pub(super) fn forget_gaps(&mut self) {
        self.gaps.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::Names;
    use super::*;

    #[test]
    fn time_counts_while_no_thread_has_a_gap() {
        let mut names = Names::default();
        let [a, b] = ["M1", "M2"].map(|text| names.name(text.to_owned()));
        let mut whole = Whole::default();
        whole.skip_to(100);
        let begin = whole.now();
        whole.advance(110);
        whole.begin_gap(a);
        whole.advance(120);
        whole.begin_gap(b);
        whole.advance(130);
        whole.end_gap(a);
        whole.advance(140);
        whole.end_gap(b);
        let middle = whole.now();
        whole.advance(145);
        assert_eq!((begin.whole_until(whole.now()), begin.all_until(whole.now())), (15, None));
        assert_eq!(middle.all_until(whole.now()), Some(5));
        assert_eq!(whole.only_stretch(), None);
        whole.skip_to(160);
        assert_eq!(middle.all_until(whole.now()), None, "nothing is known of the time between two files");
    }
}
