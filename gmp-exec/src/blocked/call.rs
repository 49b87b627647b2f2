//! The system call in which the thread of a stuck poll sleeps.

use super::record::Begun;
use crate::sys::system_call::{self, SystemCall};

/// A system call, and what its descriptor refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) call: SystemCall,
    pub(super) target: Option<String>,
}

/// `None`: the poll is over, or goes on; or the kernel does not say.
pub(super) fn read_call(begun: &Begun) -> Option<Call> {
    let call = SystemCall::of(begun.machine.thread_id()?)?;
    let target = call.descriptor.and_then(system_call::target);
    // What was read may belong to a later poll. It is this one's if that goes on.
    begun.is_under_way().then_some(Call { call, target })
}
