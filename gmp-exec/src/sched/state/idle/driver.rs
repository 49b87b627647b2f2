//! The processor of a current-thread runtime changes hands together with the driver: the machine of
//! the thread that drives, which the next call of `block_on` uses again.

use crate::sched::state::idle::Idle;
use crate::sched::state::idle::lists::Driver;
use crate::sched::state::idle::word::ONE_IDLE;
use crate::sched::state::machine::ownership::ProcessorToken;
use crate::sync::atomic::Ordering::*;

impl Idle {
    /// The processor, and the driver if there was one. `None`: another thread drives, or the runtime
    /// is shutting down.
    pub(crate) fn acquire_driver(&self) -> Option<(ProcessorToken, Option<Driver>)> {
        let mut lists = self.lists.lock();
        if lists.closed {
            return None;
        }
        let token = lists.processors.pop()?;
        self.change(|word| word - ONE_IDLE);
        Some((token, lists.driver.take()))
    }

    /// Puts both back. Returns the driver, to be dropped, if the runtime is shutting down.
    pub(crate) fn put_driver(&self, token: ProcessorToken, driver: Driver) -> Option<Driver> {
        let mut lists = self.lists.lock();
        lists.processors.push(token);
        self.change(|word| word + ONE_IDLE);
        if lists.closed { Some(driver) } else { lists.driver.replace(driver) }
    }

    /// No read-modify-write, which costs as much as the lock: on this flavour no machine spins, and
    /// every change is made under the lock.
    fn change(&self, change: impl FnOnce(u64) -> u64) {
        self.word.store(change(self.word.load(Relaxed)), Release);
    }
}
