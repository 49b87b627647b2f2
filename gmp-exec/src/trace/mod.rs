//! Printing the scheduler's state while it runs.

pub(crate) mod schedtrace;
