//! The processor of a current-thread runtime changes hands together with the driver: the machine of
//! the thread that drives, which the next call of `block_on` uses again.

use crate::sched::state::idle::lists::Driver;
use crate::sched::state::idle::{Idle, Lists};
use crate::sched::state::machine::ownership::ProcessorToken;
use crate::sync::atomic::Ordering::AcqRel;

impl Idle {
    /// The processor, and the driver if there was one. `None`: another thread drives, or the runtime
    /// is shutting down.
    pub(crate) fn acquire_driver(&self) -> Option<(ProcessorToken, Option<Driver>)> {
        let mut lists = self.lists.lock();
        if lists.closed {
            return None;
        }
        let token = lists.pop_processor(&self.word, false)?;
        Some((token, lists.driver.take()))
    }

    /// Puts both back. Returns the driver, to be dropped, if the runtime is shutting down.
    pub(crate) fn put_driver(&self, token: ProcessorToken, driver: Driver) -> Option<Driver> {
        let mut lists = self.lists.lock();
        let word = self.list(&mut lists, token);
        self.word.fetch_add(word, AcqRel);
        lists.keep_driver(driver)
    }
}

impl Lists {
    fn keep_driver(&mut self, driver: Driver) -> Option<Driver> {
        if self.closed { Some(driver) } else { self.driver.replace(driver) }
    }
}
