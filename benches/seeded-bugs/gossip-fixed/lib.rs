#![cfg(test)]

#[path = "../gossip.rs"]
mod gossip;
mod topic;
