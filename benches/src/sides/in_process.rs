//! A runtime of this process.

use std::io;

use crate::{measure::Side, rt::Rt, workloads::Workload};

/// A runtime and the workloads that it can run.
#[derive(Debug)]
pub(super) struct InProcess<R> {
    rt: R,
    workloads: Vec<Workload<R>>,
}

impl<R: Rt> InProcess<R> {
    pub(super) fn start(procs: usize, workloads: Vec<Workload<R>>) -> io::Result<Self> {
        Ok(InProcess { rt: R::new(procs)?, workloads })
    }
}

impl<R> InProcess<R> {
    /// Whether it can run the workload of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.workloads.iter().any(|workload| workload.name == name)
    }
}

impl<R> Side for InProcess<R> {
    fn repetition(&mut self, name: &str) -> io::Result<f64> {
        let workload = self.workloads.iter().find(|workload| workload.name == name);
        let workload = workload.ok_or_else(|| io::Error::other(format!("there is no workload `{name}` here")))?;
        Ok(workload.repetition(&self.rt))
    }
}
