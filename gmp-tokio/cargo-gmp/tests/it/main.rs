//! Runs the real command on small temporary projects.

mod asked;
mod compare;
mod configured;
mod doctor;
mod faults;
mod generate;
mod graph;
mod leaks;
mod manifests;
mod nested;
mod old_locks;
mod patch;
mod reads;
mod run;
mod seeds;
mod stall;
mod support;
mod trace;
mod unstable;
