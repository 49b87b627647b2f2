//! A goal for one of gmp's figures.

/// A figure meets the limit or the aim if it is at or below that value.
#[derive(Clone, Copy)]
pub(crate) struct Goal {
    /// A figure above the limit is a fault.
    pub(crate) limit: f64,
    pub(crate) aim: f64,
}

impl Goal {
    pub(crate) const fn new(limit: f64, aim: f64) -> Self {
        Goal { limit, aim }
    }

    /// The word for the last column.
    pub(crate) fn met(self, measured: f64) -> &'static str {
        gmp_benches::report::met(measured, self.limit, self.aim)
    }
}
