//! Whether this thread may block.

use super::CURRENT;
use crate::sched::config::Flavor;

/// Whether a thread may block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// Not inside any runtime.
    Nothing,
    /// Inside `block_on`, or in a task, of a runtime of that flavour: blocking the thread on
    /// another future is forbidden.
    Runtime(Flavor),
    /// The same, in the future of a [`Handle::block_on`](crate::runtime::Handle::block_on), whose
    /// thread is not one of the runtime's: it holds no processor that `block_in_place` would have
    /// to hand off.
    Guest(Flavor),
    /// The same, in the poll of a `LocalSet`: not even `block_in_place` may block the thread.
    LocalSet(Flavor),
}

impl Entered {
    /// The flavour of the runtime that the thread is inside of. Another runtime may be the current
    /// one.
    fn flavor(self) -> Option<Flavor> {
        match self {
            Entered::Nothing => None,
            Entered::Runtime(flavor) | Entered::Guest(flavor) | Entered::LocalSet(flavor) => Some(flavor),
        }
    }
}

#[inline]
pub(crate) fn entered() -> Entered {
    CURRENT.try_with(|current| current.entered.get()).unwrap_or(Entered::Nothing)
}

#[inline]
pub(crate) fn set_entered(entered: Entered) -> ResetEntered {
    ResetEntered(CURRENT.with(|current| current.entered.replace(entered)))
}

/// Called when the poll of a `LocalSet` begins. Outside of any runtime the thread may go on
/// blocking.
pub(crate) fn enter_local_set() -> Option<ResetEntered> {
    match entered() {
        Entered::Runtime(flavor) | Entered::Guest(flavor) => Some(set_entered(Entered::LocalSet(flavor))),
        Entered::Nothing | Entered::LocalSet(_) => None,
    }
}

/// Called when a blocking section begins. In it the thread may also wait for another future, except
/// on the current-thread flavour: that future may need this thread, because no other thread can
/// have its processor.
pub(crate) fn enter_blocking_section() -> Option<ResetEntered> {
    (entered().flavor() != Some(Flavor::CurrentThread)).then(|| set_entered(Entered::Nothing))
}

#[must_use]
pub(crate) struct ResetEntered(Entered);

impl Drop for ResetEntered {
    #[inline]
    fn drop(&mut self) {
        CURRENT.with(|current| current.entered.set(self.0));
    }
}
