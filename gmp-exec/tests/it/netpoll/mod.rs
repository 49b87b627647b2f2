//! The netpoll: the machine that sleeps in it is interrupted, and the network is polled often
//! enough.

mod interrupting;
mod polling;
