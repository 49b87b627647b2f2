//! The real command, on small throwaway projects.

mod compare;
mod configured;
mod doctor;
mod generate;
mod graph;
mod manifests;
mod nested;
mod old_locks;
mod patch;
mod run;
mod stall;
mod support;
