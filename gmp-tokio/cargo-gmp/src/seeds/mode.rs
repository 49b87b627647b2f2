//! How runs are made, beside their seed. With another mode, a seed means another run.

use std::process::Command;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Mode {
    /// Tasks of current-thread runtimes are polled in tokio's order.
    pub(super) keeps_order: bool,
    /// Threads are interrupted at each basic block ([`super::preempt`]).
    pub(super) preempts: bool,
}

pub(super) const KEEP_ORDER: &str = "--keep-order";
pub(super) const PREEMPT: &str = "--preempt";

impl Mode {
    /// The options that ask for it.
    pub(super) fn options(self) -> Vec<&'static str> {
        let options = [(self.keeps_order, KEEP_ORDER), (self.preempts, PREEMPT)];
        options.into_iter().filter_map(|(is_given, option)| is_given.then_some(option)).collect()
    }

    /// What follows a seed that is kept.
    pub(super) fn suffix(self) -> String {
        self.options().iter().map(|option| option.replacen("--", " ", 1)).collect()
    }

    /// Sets the variables of a run.
    pub(super) fn set(self, run: &mut Command) {
        if self.keeps_order {
            run.env("GMP_SEED_KEEP_ORDER", "1");
        }
    }
}
