//! Finds by trial the packages of a user's lock file that have to move.
//!
//! [`needs`] gives the lowest version that each package may have. That version can be higher than
//! necessary: it holds for the lowest versions of the drop-in's dependencies, but cargo gives these
//! the newest versions that fit; and cargo never chooses a yanked version as the lowest, although
//! the user's lock file may have one. So only the direct dependencies of gmp's packages are moved
//! first, and then each move is tried without.

use anyhow::Result;

use crate::draft::{Change, Draft};
use crate::needs;

/// A lock file with the drop-in in which at least one package had to move.
pub(crate) struct Raised {
    pub(crate) changes: Vec<Change>,
    pub(crate) text: String,
}

impl Raised {
    /// `None` if versions that are too old are not the reason why `base` can't be resolved with the
    /// drop-in.
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
