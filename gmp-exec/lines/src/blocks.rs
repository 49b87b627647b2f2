//! Blocks of memory from the system's heap. Whether an allocation gets the address of one that was
//! freed follows from the allocations of this run alone.
//!
//! The scheduler compares addresses: a thief takes `runnext` only if the slot holds the same task as
//! before, and a new task at the same address counts as the same. The system's heap gives out a
//! block again or not, depending on all that the process has allocated. So a freed block is kept
//! here, and the next allocation of that size gets the block that was freed last, as from malloc's
//! caches per thread. Blocks of more than [`LARGEST`] bytes go back to the system at once.
#![allow(unsafe_code, reason = "links free blocks through their first bytes")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;

use super::caches::LINE;

const LARGEST: usize = 4096;

/// Of free blocks of one size. A block's first bytes hold the address of the next block.
type List = Cell<*mut u8>;

thread_local! {
    /// By size in lines. What is left at the end of a real thread is not freed.
    static FREE: [List; LARGEST / LINE + 1] = const { [const { Cell::new(ptr::null_mut()) }; LARGEST / LINE + 1] };
}

/// Gives all free blocks of this real thread back to the system.
pub(super) fn forget_freed() {
    FREE.with(|lists| {
        for (lines, list) in lists.iter().enumerate() {
            while let Some(block) = pop(list) {
                // SAFETY: the blocks of this list are from `alloc`, with this layout.
                unsafe { System.dealloc(block, layout(lines * LINE, LINE)) };
            }
        }
    });
}

/// A block of at least so many bytes, which begins at a multiple of `align` and of a line; null if
/// there is no memory. `size` is not zero.
pub(super) fn alloc(size: usize, align: usize) -> *mut u8 {
    let layout = layout(size, align);
    let freed = with_list(layout, pop).flatten();
    // SAFETY: the size is not zero.
    freed.unwrap_or_else(|| unsafe { System.alloc(layout) })
}

/// Frees a block.
///
/// # Safety
///
/// The block is from `alloc` with these arguments, and nothing uses it any more.
pub(super) unsafe fn dealloc(block: *mut u8, size: usize, align: usize) {
    let layout = layout(size, align);
    // SAFETY: nothing else uses the block, which has room for an address and is aligned for it.
    let kept = with_list(layout, |list| unsafe { block.cast::<*mut u8>().write(list.replace(block)) });
    if kept.is_none() {
        // SAFETY: `alloc` got the block from the system with this layout.
        unsafe { System.dealloc(block, layout) }
    }
}

fn pop(list: &List) -> Option<*mut u8> {
    let first = list.get();
    if first.is_null() {
        return None;
    }
    // SAFETY: a block in the list, which `dealloc` has written to.
    list.set(unsafe { first.cast::<*mut u8>().read() });
    Some(first)
}

/// `None` if freed blocks of this layout are not kept, or the real thread is about to end.
fn with_list<R>(layout: Layout, f: impl FnOnce(&List) -> R) -> Option<R> {
    let is_kept = layout.size() <= LARGEST && layout.align() == LINE;
    is_kept.then(|| FREE.try_with(|lists| f(&lists[layout.size() / LINE])).ok()).flatten()
}

/// Whole lines.
fn layout(size: usize, align: usize) -> Layout {
    // SAFETY: a power of two of at least 1, and a size far below the limit: a `Layout` of more than
    // half of the address space was never allocated.
    unsafe { Layout::from_size_align_unchecked(size.next_multiple_of(LINE), align.max(LINE)) }
}
