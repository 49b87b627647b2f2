//! Showing what the scheduler does.

pub(crate) mod schedtrace;
