//! The edits by which a channel tells how many messages it holds. gmp-exec's `dump::channels` lists channels
//! that hold many.
//!
//! The entry is the first field of a channel, so the end of the channel removes it from that list before
//! anything that the dump reads is dropped. The number of messages is what tokio counts anyway: permits of
//! a semaphore, or the word of an unbounded channel.

use super::edits::Edit;

/// Each text must be in its file exactly once.
pub(super) const CHANNELS: &[Edit] = &[
    Edit {
        name: "lengths: a message for which the list may grow",
        file: "src/sync/mpsc/list.rs",
        find: "    pub(crate) fn push(&self, value: T) {",
        replace: "    #[cfg(test)]\n    pub(crate) fn push(&self, value: T) {\n        self.push_to(value, || ());\n    }\n\n    \
                  /// `grows` is called before the list grows.\n    \
                  pub(crate) fn push_to(&self, value: T, grows: impl Fn()) {",
    },
    Edit {
        name: "lengths: a message that is put into a block",
        file: "src/sync/mpsc/list.rs",
        find: "        let block = self.find_block(slot_index);\n\n        unsafe {\n            // Write",
        replace: "        let block = self.find_block(slot_index, grows);\n\n        unsafe {\n            // Write",
    },
    Edit {
        name: "lengths: the end of a list",
        file: "src/sync/mpsc/list.rs",
        find: "        let block = self.find_block(slot_index);\n\n        unsafe { block.as_ref().tx_close() }",
        replace: "        let block = self.find_block(slot_index, || ());\n\n        unsafe { block.as_ref().tx_close() }",
    },
    Edit {
        name: "lengths: a block is looked for",
        file: "src/sync/mpsc/list.rs",
        find: "    fn find_block(&self, slot_index: usize) -> NonNull<Block<T>> {",
        replace: "    fn find_block(&self, slot_index: usize, grows: impl Fn()) -> NonNull<Block<T>> {",
    },
    Edit {
        name: "lengths: a list grows",
        file: "src/sync/mpsc/list.rs",
        find: "                .unwrap_or_else(|| block.grow());",
        replace: "                .unwrap_or_else(|| {\n                    grows();\n                    block.grow()\n                });",
    },
    Edit {
        name: "lengths: what a channel says",
        file: "src/sync/mpsc/chan.rs",
        find: "    fn is_idle(&self) -> bool;\n",
        replace: "    fn is_idle(&self) -> bool;\n\n    /// Messages, and the capacity.\n    fn length(&self) -> (usize, Option<usize>);\n",
    },
    Edit {
        name: "lengths: a channel with a capacity",
        file: "src/sync/mpsc/chan.rs",
        find: "        self.semaphore.available_permits() == self.bound\n    }\n",
        replace: "        self.semaphore.available_permits() == self.bound\n    }\n\n    \
                  fn length(&self) -> (usize, Option<usize>) {\n        \
                  (self.bound.saturating_sub(self.semaphore.available_permits()), Some(self.bound))\n    }\n",
    },
    Edit {
        name: "lengths: a channel without a limit",
        file: "src/sync/mpsc/chan.rs",
        find: "        self.0.load(Acquire) >> 1 == 0\n    }\n",
        replace: "        self.0.load(Acquire) >> 1 == 0\n    }\n\n    \
                  fn length(&self) -> (usize, Option<usize>) {\n        \
                  (self.0.load(Acquire) >> 1, None)\n    }\n",
    },
    Edit {
        name: "lengths: a channel has an entry",
        file: "src/sync/mpsc/chan.rs",
        find: "pub(super) struct Chan<T, S> {\n",
        replace: "pub(super) struct Chan<T, S> {\n    /// Dropped before the other fields.\n    \
                  entry: gmp_exec::bridge::ChannelEntry,\n\n",
    },
    Edit {
        name: "lengths: a channel is not in the list",
        file: "src/sync/mpsc/chan.rs",
        find: "    let chan = Arc::new(Chan {\n",
        replace: "    let chan = Arc::new(Chan {\n        entry: Default::default(),\n",
    },
    Edit {
        name: "lengths: a sender",
        file: "src/sync/mpsc/chan.rs",
        find: "    pub(crate) fn send(&self, value: T) {\n",
        replace: "    pub(crate) fn send(&self, value: T)\n    where\n        S: Semaphore,\n    {\n",
    },
    Edit {
        name: "lengths: a sender looks",
        file: "src/sync/mpsc/chan.rs",
        find: "impl<T, S> Chan<T, S> {\n    fn send(&self, value: T) {\n        // Push the value\n        \
               self.tx.push(value);\n\n        // Notify the rx task\n        self.rx_waker.wake();\n    }\n\n",
        replace: "impl<T, S: Semaphore> Chan<T, S> {\n    fn send(&self, value: T) {\n        // Push the value\n        \
                  self.tx.push_to(value, || self.look_at_length());\n\n        \
                  // Notify the rx task\n        self.rx_waker.wake();\n    }\n\n    \
                  #[cold]\n    fn look_at_length(&self) {\n        \
                  if self.semaphore.length().0 >= gmp_exec::bridge::MANY {\n            \
                  let channel = (self as *const Self).cast();\n            \
                  // Safety: a channel lies in an `Arc`, and drops its entry first.\n            \
                  unsafe { self.entry.list(self.origin.place(), channel, Self::state) };\n        }\n    }\n\n    \
                  /// The address must be that of a channel.\n    \
                  unsafe fn state(channel: *const ()) -> gmp_exec::bridge::ChannelState {\n        \
                  let channel = unsafe { &*channel.cast::<Self>() };\n        \
                  let (messages, capacity) = channel.semaphore.length();\n        \
                  let senders = channel.tx_count.load(Relaxed);\n        \
                  gmp_exec::bridge::ChannelState { messages, capacity, senders }\n    }\n}\n\n\
                  impl<T, S> Chan<T, S> {\n",
    },
];
