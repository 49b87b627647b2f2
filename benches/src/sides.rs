//! The columns of the table: what was started for them, and how a row is measured on all that can run it.

mod in_process;

use std::io;

use self::in_process::InProcess;
use crate::{
    args::Options,
    measure::{Samples, Side, take_turns},
    plan::Plan,
    report::Row,
    rt::{Gmp, Smol, Tokio},
    workloads,
};

/// What takes turns. gmp and tokio have every row.
#[derive(Debug)]
pub struct Sides {
    gmp: InProcess<Gmp>,
    tokio: InProcess<Tokio>,
    smol: InProcess<Smol>,
}

impl Sides {
    /// Starts all of them.
    ///
    /// # Errors
    ///
    /// A runtime can't be started.
    pub fn start(options: &Options) -> io::Result<Self> {
        let smol = [workloads::scheduler(), workloads::blocking(), workloads::time()];
        Ok(Sides {
            gmp: InProcess::start(options.procs, workloads::all())?,
            tokio: InProcess::start(options.procs, workloads::all())?,
            smol: InProcess::start(options.procs, smol.into_iter().flatten().collect())?,
        })
    }

    /// Measures a row; `progress` is told of every repetition.
    ///
    /// # Errors
    ///
    /// gmp, tokio or smol fails.
    pub fn measure(&mut self, plan: &Plan, progress: impl FnMut(usize)) -> io::Result<Row> {
        let has_smol = self.smol.has(plan.name);
        let mut sides: Vec<&mut dyn Side> = vec![&mut self.gmp, &mut self.tokio];
        if has_smol {
            sides.push(&mut self.smol);
        }
        let mut results = take_turns(&mut sides, plan.turns(), progress).into_iter();
        let mut next = || results.next().transpose().map(|samples| samples.map(Samples::new));
        let (gmp, tokio) = (next()?.expect("the first side"), next()?.expect("the second side"));
        let smol = if has_smol { next()? } else { None };
        Ok(plan.row(gmp, tokio, smol, None))
    }
}
