//! A heap whose addresses are the same in every run, as far as lines are concerned.
//!
//! Where in a line an allocation begins depends on everything that was allocated before, and so
//! does the number of lines that it shares. Here the beginning is drawn from a series, among the
//! multiples of 16 bytes, as from malloc. Seeds that follow each other have the same series, moved
//! by 16 bytes, so that four of them try all places. Two allocations never share a line. Fresh
//! memory is in the cache of the thread that asked for it, as is usual with caches of the allocator
//! per thread; lines that the allocator itself moves are not seen.
#![allow(unsafe_code, reason = "implements GlobalAlloc")]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;

use super::caches::LINE;
use super::{blocks, recorder};

/// What malloc aligns everything to.
const USUAL: usize = 16;

/// Sizes of allocations are told apart up to so many steps of 8 bytes.
const SIZES: usize = 128;

thread_local! {
    static SHIFT: Cell<usize> = const { Cell::new(0) };
    /// How many allocations there were, by size: one more or less of another size changes nothing.
    static ALLOCATIONS: [Cell<usize>; SIZES] = const { [const { Cell::new(0) }; SIZES] };
}

/// Begins anew, on this real thread.
pub(super) fn seed(seed: u64) {
    blocks::forget_freed();
    SHIFT.set(seed as usize);
    ALLOCATIONS.with(|counts| counts.iter().for_each(|count| count.set(0)));
}

struct Heap;

#[global_allocator]
static HEAP: Heap = Heap;

fn offset(layout: Layout) -> usize {
    if layout.align() > USUAL { 0 } else { draw(layout.size()) % (LINE / USUAL) * USUAL }
}

/// A number for the next allocation of that size.
fn draw(size: usize) -> usize {
    let class = size / 8 % SIZES;
    let count = ALLOCATIONS.try_with(|counts| counts[class].replace(counts[class].get() + 1)).unwrap_or_default();
    // The upper bits of a multiplicative hash.
    let mixed = (class * 4096 + count).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
    mixed + SHIFT.try_with(Cell::get).unwrap_or_default()
}

// SAFETY: `alloc` gives out memory that is as large and as aligned as asked, at a place inside of
// the block that `dealloc` finds again: the last multiple of a line before it, because blocks begin
// at one and offsets are smaller.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let block = blocks::alloc(padded(layout), layout.align());
        if block.is_null() {
            return block;
        }
        let start = block.wrapping_add(offset(layout));
        recorder::fill(start.addr(), layout.size());
        start
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        let block = start.wrapping_sub(start.addr() % LINE);
        // SAFETY: `alloc` got this block with these arguments, and the caller has done with it.
        unsafe { blocks::dealloc(block, padded(layout), layout.align()) }
    }
}

/// A size with room for any offset.
fn padded(layout: Layout) -> usize {
    layout.size() + LINE
}
