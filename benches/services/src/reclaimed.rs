//! A mapped file whose pages the kernel has reclaimed, as the kernel does when memory is short: a thread
//! that reads such a page waits for the disk.
#![allow(unsafe_code, reason = "maps a file")]

use std::ffi::c_void;
use std::hint::black_box;
use std::io::Write;
use std::num::NonZero;
use std::ptr::NonNull;
use std::slice;
use std::sync::OnceLock;

use anyhow::Result;
use nix::sys::mman::{MapFlags, MmapAdvise, ProtFlags, madvise, mmap};

const PAGES: usize = 256;
/// So far apart, each page is read from the disk by itself.
const STRIDE: usize = 64 << 10;
const LENGTH: NonZero<usize> = NonZero::new(PAGES * STRIDE).unwrap();

/// Lets the kernel reclaim the pages, and reads one byte of each.
///
/// # Errors
///
/// Fails if the file can't be written or mapped, or if the kernel reclaims no pages on request (before
/// Linux 5.4).
pub(crate) fn read() -> Result<()> {
    static FILE: OnceLock<&[u8]> = OnceLock::new();
    let file = match FILE.get() {
        Some(file) => file,
        None => {
            let file = map()?;
            FILE.get_or_init(|| file)
        }
    };
    advise(file, MmapAdvise::MADV_PAGEOUT)?;
    file.iter().step_by(STRIDE).for_each(|byte| _ = black_box(*byte));
    Ok(())
}

/// Written to the disk, because only then may the kernel drop the pages.
fn map() -> Result<&'static [u8]> {
    let mut file = tempfile::tempfile()?;
    file.write_all(&vec![1; LENGTH.get()])?;
    file.sync_all()?;
    // SAFETY: a new mapping at an address that the kernel chooses.
    let start = unsafe { mmap(None, LENGTH, ProtFlags::PROT_READ, MapFlags::MAP_SHARED, &file, 0)? };
    // SAFETY: the mapping has this length and is never removed; the file has no name, so no other process
    // writes to it.
    let mapped = unsafe { slice::from_raw_parts(start.cast::<u8>().as_ptr(), LENGTH.get()) };
    advise(mapped, MmapAdvise::MADV_RANDOM)?;
    Ok(mapped)
}

fn advise(mapped: &'static [u8], advice: MmapAdvise) -> Result<()> {
    let start = NonNull::from(mapped).cast::<c_void>();
    // SAFETY: the range is mapped, and neither advice changes what is read there.
    unsafe { madvise(start, mapped.len(), advice) }?;
    Ok(())
}
