//! Which packages of a user's lock file have to move: found by trying.
//!
//! [`needs`] says how old each may be at least. That is a little too much: it holds for the lowest
//! versions of what the drop-in brings in, which gets the newest that fit, and a locked version
//! that was yanked is never among the lowest. So first only what gmp's packages themselves ask for
//! is moved, and then each move is tried without.

use anyhow::Result;

use crate::draft::{Change, Draft};
use crate::needs;

/// A lock file with the drop-in, for which something had to move.
pub(crate) struct Raised {
    pub(crate) changes: Vec<Change>,
    pub(crate) text: String,
}

impl Raised {
    /// `None` if it isn't for what is too old that `base` can't be resolved with the drop-in.
    pub(crate) fn find(draft: &Draft<'_>, base: &str) -> Option<Self> {
        let drop_ins = draft.drop_ins().ok()?;
        let lowest = draft.lowest(base, &drop_ins).ok()?;
        let direct = needs::direct(&drop_ins).ok()?;
        let attempt = |is_meant: &dyn Fn(&str) -> bool| -> Result<Raised> {
            draft.resolve_from(base, &needs::raised(base, &lowest, is_meant)?)
        };
        let of_direct = attempt(&|name| direct.contains(name)).ok().filter(Raised::has_only_what_is_needed);
        let mut best = of_direct.or_else(|| attempt(&|_| true).ok())?;
        for left_out in best.names() {
            let names = best.names();
            let without = attempt(&|name| name != left_out && names.iter().any(|it| it == name));
            best = without.ok().filter(|without| without.is_less_than(&best)).unwrap_or(best);
        }
        Some(best)
    }

    fn has_only_what_is_needed(&self) -> bool {
        self.changes.iter().all(|change| change.is_needed)
    }

    fn names(&self) -> Vec<String> {
        self.changes.iter().map(|change| change.moved.name().to_owned()).collect()
    }

    fn is_less_than(&self, other: &Raised) -> bool {
        let is_there = |change: &Change| other.changes.iter().any(|it| it.moved == change.moved);
        self.changes.len() < other.changes.len() && self.changes.iter().all(is_there)
    }
}
