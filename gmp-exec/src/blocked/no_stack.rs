//! In place of `stack`, without the feature `blocked-stacks` or on another system.

use std::ffi::c_void;
use std::io;

use super::frame::{BlockedFrame, Frames};
use crate::sys::system_call::Sleep;
use crate::sys::thread_state::ThreadId;

#[derive(Debug, Default)]
pub(super) struct Stacks {}

#[derive(Debug)]
pub(super) enum Taken {}

/// Says that there are none, if they were asked for.
pub(super) fn take(_: &Sleep) -> Option<Result<Taken, String>> {
    none()
}

pub(super) fn interrupt(_: ThreadId) -> Option<Result<Taken, String>> {
    none()
}

fn none() -> Option<Result<Taken, String>> {
    cfg!(feature = "blocked-stacks").then(|| Err("stacks are read on Linux on x86-64 and arm64 only".to_owned()))
}

pub(super) fn refused(_: &io::Error) -> Option<Result<Frames, String>> {
    None
}

pub(crate) fn here() -> Vec<u64> {
    Vec::new()
}

pub(crate) fn interrupted_at(_: *const c_void) -> Vec<u64> {
    Vec::new()
}

/// There are no stacks, so there are no addresses either.
pub(crate) fn frames(_: &[u64]) -> Vec<BlockedFrame> {
    Vec::new()
}

pub(crate) fn forget_symbols() {}

impl Stacks {
    pub(super) fn frames_of(&mut self, taken: &Taken) -> Result<Frames, String> {
        match *taken {}
    }

    pub(super) fn rest(&mut self) {}
}
