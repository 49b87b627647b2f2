//! Where and in which order tasks run: fairness, parallelism, yielding, and machines that park.

mod fairness;
mod many_parts;
mod parallelism;
mod parking;
mod yielding;
