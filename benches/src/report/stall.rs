//! A recorded stall: `stall` writes it and `report` draws it.

use serde::{Deserialize, Serialize};

/// Something that lasted, in milliseconds since the beginning of the scene. A tick lasts no time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    /// The line of the drawing: a processor, a machine, or the ticks of a runtime.
    pub track: String,
    pub kind: Kind,
    /// Where the task was spawned, or the processor that the machine held.
    pub name: String,
    /// What the thread did in the kernel, if it was seen there.
    pub asleep_in: Option<String>,
    pub begin: f64,
    pub end: f64,
}

/// What a [`Bar`] stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The ticker has ticked.
    Tick,
    /// A processor ran a task.
    Ran,
    /// A machine held a processor.
    Held,
    /// A machine went on with a poll after it had lost its processor.
    WentOn,
}
