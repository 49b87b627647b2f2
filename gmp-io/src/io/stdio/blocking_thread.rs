//! A thread for the blocking calls of a standard stream.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::{io, thread};

use crate::lock::lock;

type Job = Box<dyn FnOnce() + Send>;

/// A thread that is started at the first job and then exists, asleep, until the process ends.
#[derive(Debug)]
pub(super) struct BlockingThread {
    name: &'static str,
    jobs: Mutex<Option<Sender<Job>>>,
}

impl BlockingThread {
    pub(super) const fn new(name: &'static str) -> Self {
        BlockingThread { name, jobs: Mutex::new(None) }
    }

    /// Queues a job.
    ///
    /// # Errors
    ///
    /// The thread can't be started. The job is dropped; the next call tries again.
    pub(super) fn run(&self, job: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let mut jobs = lock(&self.jobs);
        let sender = match &mut *jobs {
            Some(sender) => sender,
            none => none.insert(self.start()?),
        };
        sender.send(Box::new(job)).expect("the thread exists as long as its sender");
        Ok(())
    }

    fn start(&self) -> io::Result<Sender<Job>> {
        let (sender, jobs) = channel();
        thread::Builder::new().name(self.name.to_owned()).spawn(move || work(&jobs))?;
        Ok(sender)
    }
}

fn work(jobs: &Receiver<Job>) {
    while let Ok(job) = jobs.recv() {
        job();
    }
}
