//! The real command, on small throwaway projects.

mod doctor;
mod generate;
mod graph;
mod manifests;
mod old_locks;
mod patch;
mod run;
mod stall;
mod support;
