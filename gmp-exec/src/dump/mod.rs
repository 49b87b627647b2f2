//! Which tasks a runtime has, and what each of them does: `Handle::tasks`.
//!
//! The dump reads what the scheduler writes anyway. It polls no task, stops no thread and calls no
//! thread, so it works while every processor is stuck, and it is made on the thread that asks.
//! Only `traced`, which is `Handle::dump`, asks tasks to be polled once more for their stacks.
//!
//! # Where the tasks are
//!
//! A task's header may be freed when its future has been dropped, so the dump follows a pointer to
//! a header only where the header can't go away:
//!
//! | tasks | found | valid because |
//! |---|---|---|
//! | that have waited once, and all of a `LocalSet` | in the registry, or in that of the set, under the lock of a shard | the end of the task removes the entry under that lock |
//! | that wait for their first poll in the global queue, in the overflow of the current-thread flavour, or for a permit | there, under the lock of the queue | the queue owns the `Runnable` |
//! | that are being polled for the first time | in the `running` cell of each machine | the cell has the id and the location, and no pointer to the header |
//! | that wait for their first poll in the ring of a processor | nowhere: they are only counted | |
//!
//! Rings have no lock, and between a look at a slot and a look at the header the task may have been
//! run and freed.
//!
//! # Each task once
//!
//! A walk has these steps, in this order:
//!
//! 1. The tasks that machines poll are copied (*polled*).
//! 2. The queues are walked. Tasks that the registry does not list are returned, and their ids kept
//!    (*queued*).
//! 3. The registry is walked, 256 entries per turn of the lock. Tasks that are in *queued* are
//!    skipped. Tasks that are in *polled* are taken out of it.
//! 4. What is left in *polled*, and not in *queued*, is returned.
//!
//! *Claim: no task is returned twice.* A task is listed once, at a key that it keeps, so step 3 by
//! itself returns it once. A task of step 2 was not listed then; if it is listed later, step 3
//! skips it. Step 4 returns only what neither step has returned.
//!
//! *Claim: a task that has waited before the walk, and lives until its end, is returned.* It is
//! listed all the time, and step 3 looks at every key that was in use when the walk began: a shard
//! never moves entries. The same holds for a task in *polled*. A task that waits for its first poll
//! may be missed, because it can move from a ring into the registry behind the walk's back.
//!
//! In the other order (registry first) a task that is queued during step 3 and waits before step 2
//! would be lost, although it could be seen all the time.
//!
//! A task whose last poll has dropped the future, but is not over for the machine, is returned as a
//! task in its first poll: for the few microseconds until then, only the machine knows the task.
//!
//! What one task does is read in one piece (`task::cell::progress`), and what it waits for counts
//! only if it is of the task's last poll (`task::cell::waiting`). Two tasks are seen at different
//! moments.

mod asked;
mod asker;
mod channels;
mod circles;
mod ending;
mod groups;
mod info;
mod interrupted;
mod json;
mod lost;
mod polled;
mod process;
mod quit;
mod reads;
mod recording;
mod signal;
mod sites;
#[cfg(feature = "taskdump")]
mod traced;
mod tree;
mod waits;
mod walk;

pub use channels::{ChannelEntry, ChannelState, MANY};
pub(crate) use circles::new_circles;
pub use groups::{TaskGroup, TaskGroups};
pub use info::{TaskInfo, TaskState};
pub(crate) use interrupted::interrupted;
pub use json::TaskJson;
pub use lost::{LostTask, LostTasks};
pub(crate) use quit::{last_words, watch};
pub use reads::{ReadKind, Reading};
#[cfg(feature = "taskdump")]
pub(crate) use traced::dump;
#[cfg(feature = "taskdump")]
pub use traced::{Dump, Task as DumpedTask, Tasks as DumpedTasks};
pub use tree::TaskTree;
pub use waits::{Descriptor, WaitsFor};
pub use walk::Tasks;
