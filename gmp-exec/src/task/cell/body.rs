//! What a task keeps beside its header: its future, and notes that only the machine with the task's
//! `Runnable` reads and writes.
//!
//! Every task has room for this, so there is only the future and a pointer to the header, with the
//! notes in the pointer's lowest bits. An `Option` and a byte for the notes would take up to 16
//! bytes more. These, and the eight that [`Home`](crate::task::cell::home) saves, decide whether a
//! task whose future has 24 bytes fits into the fast lists of glibc's allocator (up to 120 bytes in
//! 2.36). Another thread can free such a block without the lock of the thread that has allocated
//! it. Measured with one core that spawns 10 000 such tasks and one that runs them: in most runs
//! 135 to 143 ns a task instead of 320 to 360.
#![allow(unsafe_code, reason = "keeps a future that may have been dropped, and bits in a pointer")]

use std::marker::PhantomPinned;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::ptr;

use crate::task::cell::header::Header;

pub(in crate::task) struct Body<F> {
    /// Initialised while `HAS_FUTURE` is noted.
    future: MaybeUninit<F>,
    /// The header, with the notes in the bits that its alignment leaves free.
    header: *const Header,
    _pinned: PhantomPinned,
}

// SAFETY: the pointer stands for a `&'static Header`, which is `Send` because `Header` is `Sync`.
unsafe impl<F: Send> Send for Body<F> {}

const fn is_sync<T: Sync>() {}
const _: () = is_sync::<Header>();

/// What is noted of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::task) enum Note {
    /// The registry lists the task.
    HasWaited = 1,
    /// The task is watched.
    IsWatched = 2,
}

/// The future has not been dropped.
const HAS_FUTURE: usize = 4;
const ALL: usize = HAS_FUTURE | Note::HasWaited as usize | Note::IsWatched as usize;
const _: () = assert!(align_of::<Header>() > ALL, "the notes fit beside the address of a header");

impl<F> Body<F> {
    pub(in crate::task) fn new(future: F, header: &'static Header) -> Body<F> {
        let watched = if header.is_watched() { Note::IsWatched as usize } else { 0 };
        let header = ptr::from_ref(header).map_addr(|address| address | HAS_FUTURE | watched);
        Body { future: MaybeUninit::new(future), header, _pinned: PhantomPinned }
    }

    #[inline]
    pub(in crate::task) fn header(&self) -> &'static Header {
        // SAFETY: without the notes this is the address of the reference that `new` was given, and
        // `map_addr` keeps its provenance.
        unsafe { &*self.header.map_addr(|address| address & !ALL) }
    }

    #[inline]
    pub(in crate::task) fn has(&self, note: Note) -> bool {
        self.header.addr() & note as usize != 0
    }

    /// Whether nothing is noted.
    #[inline]
    pub(in crate::task) fn has_no_note(&self) -> bool {
        self.header.addr() & (ALL & !HAS_FUTURE) == 0
    }

    pub(in crate::task) fn note(self: Pin<&mut Self>, note: Note) {
        self.set_bits(|bits| bits | note as usize);
    }

    /// The future, unless it has been dropped.
    #[inline]
    pub(in crate::task) fn future(self: Pin<&mut Self>) -> Option<Pin<&mut F>> {
        if !self.has_future() {
            return None;
        }
        // SAFETY: the future is not moved through this reference, but pinned again below.
        let future = unsafe { &mut self.get_unchecked_mut().future };
        // SAFETY: `HAS_FUTURE` is noted.
        let future = unsafe { future.assume_init_mut() };
        // SAFETY: the future is pinned as long as `self` is: `Body` is not `Unpin`, moves the
        // future nowhere, and drops it in place.
        Some(unsafe { Pin::new_unchecked(future) })
    }

    #[inline]
    pub(in crate::task) fn has_future(&self) -> bool {
        self.header.addr() & HAS_FUTURE != 0
    }

    /// Drops the future in place, unless it has been dropped. It counts as dropped if its
    /// destructor panics, too.
    pub(in crate::task) fn drop_future(mut self: Pin<&mut Self>) {
        if !self.has_future() {
            return;
        }
        self.as_mut().set_bits(|bits| bits & !HAS_FUTURE);
        // SAFETY: the future is not moved through this reference, but dropped where it was pinned.
        let future = unsafe { &mut self.get_unchecked_mut().future };
        // SAFETY: `HAS_FUTURE` was noted. No code will use the future any more.
        unsafe { future.assume_init_drop() }
    }

    fn set_bits(self: Pin<&mut Self>, set: impl FnOnce(usize) -> usize) {
        // SAFETY: the pointer is no part of what is pinned.
        let header = unsafe { &mut self.get_unchecked_mut().header };
        *header = header.map_addr(set);
    }
}

impl<F> Drop for Body<F> {
    fn drop(&mut self) {
        // SAFETY: a value that is being dropped is not moved any more.
        unsafe { Pin::new_unchecked(self) }.drop_future();
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, Location, catch_unwind};
    use std::pin::pin;
    use std::sync::OnceLock;

    use super::*;
    use crate::runtime::Builder;
    use crate::task::cell::future::Outcome;
    use crate::task::cell::header::{Kind, Observed};
    use crate::task::console::span::SpanId;

    fn header() -> &'static Header {
        static HEADER: OnceLock<Header> = OnceLock::new();
        HEADER.get_or_init(|| {
            let runtime = Builder::new_current_thread().build().unwrap();
            let home = runtime.handle().scheduler().home().clone();
            Header::new(home, Kind::Task(Observed::No), Location::caller())
        })
    }

    /// Counts how often it is dropped.
    struct Dropped<'a>(&'a Cell<u32>);

    impl Drop for Dropped<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
            assert_ne!(self.0.get(), 13, "an unlucky drop");
        }
    }

    #[test]
    fn notes_change_neither_the_header_nor_the_future() {
        let header = header();
        let mut body = pin!(Body::new(7, header));
        assert!(body.has_no_note());
        body.as_mut().note(Note::HasWaited);
        assert_eq!([Note::HasWaited, Note::IsWatched].map(|note| body.has(note)), [true, false]);
        assert_eq!(body.as_mut().future().as_deref(), Some(&7));
        body.as_mut().drop_future();
        assert_eq!(body.as_mut().future(), None);
        assert!(body.has(Note::HasWaited) && !body.has_no_note());
        assert!(ptr::eq(body.header(), header));
    }

    #[test]
    fn a_future_is_dropped_once_even_if_its_destructor_panics() {
        for before in [0, 12] {
            let drops = Cell::new(before);
            let mut body = Box::pin(Body::new(Dropped(&drops), header()));
            let dropping = catch_unwind(AssertUnwindSafe(|| body.as_mut().drop_future()));
            assert_eq!(dropping.is_err(), before == 12);
            assert!(!body.has_future());
            body.as_mut().drop_future();
            drop(body);
            assert_eq!(drops.get(), before + 1);
        }
        let drops = Cell::new(0);
        drop(Body::new(Dropped(&drops), header()));
        assert_eq!(drops.get(), 1);
    }

    /// See the module's documentation. The feature `tracing` adds a span to each header.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn a_small_task_fits_into_the_fast_lists_of_glibc() {
        // Its state, vtable and awaiter, and with its feature `std` a flag.
        const ASYNC_TASK: usize = 5 * size_of::<usize>();
        let header = size_of::<Header>() - size_of::<SpanId>();
        let rest = size_of::<Body<[u64; 3]>>().max(size_of::<Outcome<()>>());
        assert!(ASYNC_TASK + header + rest <= 120, "the header has {header} bytes, the rest {rest}");
    }

    /// So a poll returns it without a copy through memory (`error.rs`).
    #[test]
    fn the_outcome_of_a_task_without_output_fits_into_two_registers() {
        assert_eq!(size_of::<Outcome<()>>(), 16);
    }
}
