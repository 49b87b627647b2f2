//! Random bytes: of std's hash maps, and of all crates that ask the system.

use crate::seeded::state::with;

interposed! {
    getrandom(buffer: *mut u8, length: usize, flags: u32) -> isize = fill;
}

pub(super) unsafe fn fill(buffer: *mut u8, length: usize, _: u32) -> isize {
    // SAFETY: the caller vouches for the buffer. Its bytes may not be initialised before this.
    unsafe { buffer.write_bytes(0, length) };
    // SAFETY: as above, and now they are.
    let bytes = unsafe { std::slice::from_raw_parts_mut(buffer, length) };
    with(|state| state.decisions.fill(bytes));
    length as isize
}
