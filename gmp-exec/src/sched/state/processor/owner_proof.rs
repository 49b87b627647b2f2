//! Evidence that the calling thread holds the processor whose queue it is about to touch.
#![allow(unsafe_code, reason = "an owner proof is a promise of its maker")]

use std::marker::PhantomData;

/// Owner-only operations of `LocalQueue` and `RunNext` ask for it by reference. Not `Send`: it is evidence about a
/// thread.
#[derive(Debug)]
pub(crate) struct OwnerProof {
    _not_send: PhantomData<*const ()>,
}

impl OwnerProof {
    /// # Safety
    ///
    /// While the proof exists, the caller is the only owner of the queues that it is shown to.
    #[inline]
    pub(crate) unsafe fn new() -> OwnerProof {
        OwnerProof { _not_send: PhantomData }
    }
}
