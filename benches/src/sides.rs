//! The columns of the table: what was started for them, and how a row is measured on all that can run it.

mod go;
mod in_process;

use std::io;

use self::{go::Go, in_process::InProcess};
use crate::{
    args::Options,
    measure::{Samples, Side, take_turns},
    plan::Plan,
    report::Row,
    rt::{Gmp, Rt, Smol, Tokio},
    workloads,
};

/// What takes turns. gmp and tokio have every row.
#[derive(Debug)]
pub struct Sides {
    gmp: InProcess<Gmp>,
    tokio: InProcess<Tokio>,
    smol: Option<InProcess<Smol>>,
    go: Option<Go>,
}

impl Sides {
    /// Starts those that were asked for; without Go, if it isn't there.
    ///
    /// # Errors
    ///
    /// A runtime can't be started.
    pub fn start(options: &Options) -> io::Result<Self> {
        let procs = options.procs;
        let smol = [workloads::scheduler(), workloads::blocking(), workloads::time()];
        let smol = options.smol.then(|| InProcess::start(procs, smol.into_iter().flatten().collect()));
        let go = options.go.then(|| Go::start(procs).map_err(no_column).ok()).flatten();
        Ok(Sides {
            gmp: InProcess::start(procs, workloads::all())?,
            tokio: InProcess::start(procs, workloads::all())?,
            smol: smol.transpose()?,
            go,
        })
    }

    /// The version of Go, if it takes part.
    pub fn go_version(&self) -> Option<String> {
        self.go.as_ref().map(|go| go.version().to_owned())
    }

    /// Measures a row; `progress` is told of every repetition.
    ///
    /// # Errors
    ///
    /// gmp, tokio or smol fails. If Go does, that is said and it takes no further part.
    pub fn measure(&mut self, plan: &Plan, progress: impl FnMut(usize)) -> io::Result<Row> {
        let mut sides: Vec<&mut dyn Side> = vec![&mut self.gmp, &mut self.tokio];
        let has_smol = join(&mut sides, &mut self.smol, plan.name);
        let has_go = join(&mut sides, &mut self.go, plan.name);

        let mut results = take_turns(&mut sides, plan.turns(), progress).into_iter();
        let mut required = || results.next().expect("every side has a result").map(Samples::new);
        let (gmp, tokio) = (required()?, required()?);
        let smol = if has_smol { Some(required()?) } else { None };
        let go = if has_go { required().map_err(no_column).ok() } else { None };
        if has_go && go.is_none() {
            self.go = None;
        }
        Ok(plan.row(gmp, tokio, smol, go))
    }
}

/// Lets `side` take part, if it is there and has the workload.
fn join<'a, S: Side>(sides: &mut Vec<&'a mut dyn Side>, side: &'a mut Option<S>, workload: &str) -> bool {
    let side = side.as_mut().filter(|side| side.has(workload));
    let joined = side.is_some();
    sides.extend(side.map(|side| side as &mut dyn Side));
    joined
}

fn no_column(error: io::Error) {
    eprintln!("gmp-benches: no column for Go: {error}\n");
}

/// Two runtimes of gmp's, with its monitor thread and without, that can run the scheduler's rows.
#[derive(Debug)]
pub struct SysmonSides {
    on: InProcess<Gmp>,
    off: InProcess<Gmp>,
}

impl SysmonSides {
    /// Starts both.
    ///
    /// # Errors
    ///
    /// A runtime can't be started.
    pub fn start(procs: usize) -> io::Result<Self> {
        let (on, off) = (Gmp::new(procs)?, Gmp::without_sysmon(procs)?);
        Ok(SysmonSides {
            on: InProcess::of(on, workloads::scheduler()),
            off: InProcess::of(off, workloads::scheduler()),
        })
    }

    /// Nanoseconds per operation with and without, in the order in which they were measured.
    ///
    /// # Errors
    ///
    /// The workload isn't one of the scheduler's.
    pub fn measure(&mut self, plan: &Plan, progress: impl FnMut(usize)) -> io::Result<(Vec<f64>, Vec<f64>)> {
        let mut results = take_turns(&mut [&mut self.on, &mut self.off], plan.turns(), progress).into_iter();
        let mut next = || results.next().expect("every side has a result");
        Ok((next()?, next()?))
    }
}
