//! What is wanted of a figure of gmp's.

/// Met by figures that are at it or below.
#[derive(Clone, Copy)]
pub(crate) struct Goal {
    /// What is worse is a fault.
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
