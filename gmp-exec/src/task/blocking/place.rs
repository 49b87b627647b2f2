//! Which thread runs a blocking closure.

/// Which thread runs a blocking closure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A thread that never polls a task. The closure may change what belongs to its thread.
    Pool,
    /// The machine that finds the closure, which polls tasks before and afterwards. The closure
    /// leaves its thread as it was.
    Machine,
}
