//! Seeded runs. Each test starts this program again, once for each seed, to run one scenario.

mod attribute;
mod child;
mod controlled;
mod correct;
mod faults;
mod forms;
mod memory;
mod network;
mod order;
mod pipes;
mod planted;
mod replay;
mod scenarios;
mod time_up;
