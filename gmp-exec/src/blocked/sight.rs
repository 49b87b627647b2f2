//! What the report thread tells others as soon as it knows.

use super::frame::BlockedStack;
use super::look::Look;
use super::record::Begun;
use super::report::BlockedCall;

/// Is told of polls that are stuck, on the report thread.
pub(crate) trait Told {
    /// Whether the thread of each stuck poll is to be looked at, even if the report needs no look.
    fn wants_looks(&self) -> bool;

    /// A poll is stuck, and this was seen of its thread.
    fn stuck(&self, begun: &Begun, sight: Option<Sight>);
}

/// What was seen of a thread that sleeps, or that a signal has interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sight {
    call: Option<BlockedCall>,
    stack: Option<BlockedStack>,
}

impl Sight {
    /// `None`: nothing was seen.
    pub(super) fn of(look: &Look) -> Option<Sight> {
        let call = look.call.as_ref().map(BlockedCall::of);
        let stack = look.stack.clone().and_then(Result::ok).map(BlockedStack::of);
        (call.is_some() || stack.is_some()).then_some(Sight { call, stack })
    }
}

/// For recordings.
#[cfg(feature = "insight")]
impl Sight {
    /// The system call, in words.
    pub(crate) fn call(&self) -> Option<String> {
        self.call.as_ref().map(BlockedCall::to_string)
    }

    /// The line of the program that has called what blocks, or that computes, in words.
    pub(crate) fn caller(&self) -> Option<String> {
        self.stack.as_ref().map(BlockedStack::to_string)
    }

    /// The innermost first. Their names are looked up now, which takes long for the first stack.
    pub(crate) fn frames(&self) -> Vec<String> {
        let frames = self.stack.iter().flat_map(BlockedStack::frames);
        frames.map(|frame| format!("{frame:#}")).collect()
    }

    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(crate) fn for_test(call: &'static str) -> Sight {
        let call = BlockedCall { number: 1, name: Some(call), descriptor: None, target: None, count: 1 };
        Sight { call: Some(call), stack: None }
    }
}
