//! Evidence that the calling thread holds the processor whose queue it is about to touch.
#![allow(unsafe_code, reason = "the maker of an owner proof vouches for it")]

use std::marker::PhantomData;

/// Owner-only operations of `LocalQueue` and `RunNext` ask for a reference to an owner proof. It is
/// not `Send`, because it is evidence about one thread.
pub(crate) struct OwnerProof {
    _not_send: PhantomData<*const ()>,
}

impl OwnerProof {
    /// # Safety
    ///
    /// While the proof exists, the caller is the only owner of the queues to which it passes the
    /// proof.
    #[inline]
    pub(crate) unsafe fn new() -> OwnerProof {
        OwnerProof { _not_send: PhantomData }
    }
}
