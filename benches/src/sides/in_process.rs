//! A runtime in this process.

use std::io;

use crate::measure::Side;
use crate::memory;
use crate::rt::Rt;
use crate::workloads::Workload;

/// A runtime and the workloads that it can run.
#[derive(Debug)]
pub(crate) struct InProcess<R> {
    rt: R,
    workloads: Vec<Workload<R>>,
}

impl<R: Rt> InProcess<R> {
    pub(super) fn start(procs: usize, workloads: Vec<Workload<R>>) -> io::Result<Self> {
        Ok(InProcess::of(R::new(procs)?, workloads))
    }

    pub(crate) fn of(rt: R, workloads: Vec<Workload<R>>) -> Self {
        InProcess { rt, workloads }
    }

    fn workload(&self, name: &str) -> Option<&Workload<R>> {
        self.workloads.iter().find(|workload| workload.name == name)
    }
}

impl<R: Rt> Side for InProcess<R> {
    fn has(&self, workload: &str) -> bool {
        workload == memory::NAME || self.workload(workload).is_some()
    }

    fn repetition(&mut self, workload: &str) -> io::Result<f64> {
        if workload == memory::NAME {
            return memory::in_own_process(R::NAME, self.rt.procs());
        }
        let found = self.workload(workload);
        let found = found.ok_or_else(|| io::Error::other(format!("{} has no workload `{workload}`", R::NAME)))?;
        Ok(found.repetition(&self.rt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rt::Smol;
    use crate::workloads;

    #[test]
    fn a_side_has_what_it_was_given_and_no_more() {
        let mut smol = InProcess::<Smol>::start(1, workloads::scheduler()).unwrap();
        assert!(smol.has("spawn_local") && !smol.has("echo_1") && smol.repetition("chained_spawn").unwrap() > 0.0);
        assert_eq!(smol.repetition("echo_1").unwrap_err().to_string(), "smol has no workload `echo_1`");
    }
}
