//! What this thread may do about blocking.

use super::CURRENT;
use crate::sched::config::Flavor;

/// What this thread may do about blocking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// Not inside any runtime.
    Nothing,
    /// Inside `block_on`, or in a task, of a runtime of that flavour: blocking the thread on another future is forbidden.
    Runtime(Flavor),
    /// The same, in the future of a [`Handle::block_on`](crate::runtime::Handle::block_on), whose thread is not the runtime's:
    /// `block_in_place` needn't give anything on.
    Guest(Flavor),
    /// The same, in the poll of a `LocalSet`: not even `block_in_place` may block the thread.
    LocalSet(Flavor),
}

impl Entered {
    /// The flavour of the runtime that the thread is inside of, whichever is current.
    fn flavor(self) -> Option<Flavor> {
        match self {
            Entered::Nothing => None,
            Entered::Runtime(flavor) | Entered::Guest(flavor) | Entered::LocalSet(flavor) => Some(flavor),
        }
    }
}

pub(crate) fn entered() -> Entered {
    CURRENT.try_with(|current| current.entered.get()).unwrap_or(Entered::Nothing)
}

pub(crate) fn set_entered(entered: Entered) -> ResetEntered {
    ResetEntered(CURRENT.with(|current| current.entered.replace(entered)))
}

/// The poll of a `LocalSet` begins. Where no runtime was entered, blocking the thread stays nobody's business.
pub(crate) fn enter_local_set() -> Option<ResetEntered> {
    match entered() {
        Entered::Runtime(flavor) | Entered::Guest(flavor) => Some(set_entered(Entered::LocalSet(flavor))),
        Entered::Nothing | Entered::LocalSet(_) => None,
    }
}

/// A blocking section begins, in which the thread may also wait for another future. Not so on the current-thread flavour: that
/// future may need the thread, whose processor nobody else will have.
pub(crate) fn enter_blocking_section() -> Option<ResetEntered> {
    (entered().flavor() != Some(Flavor::CurrentThread)).then(|| set_entered(Entered::Nothing))
}

#[must_use]
pub(crate) struct ResetEntered(Entered);

impl Drop for ResetEntered {
    fn drop(&mut self) {
        CURRENT.with(|current| current.entered.set(self.0));
    }
}
