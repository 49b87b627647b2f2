//! In place of tokio's macro: the thread-locals of shuttle's threads.

macro_rules! tokio_thread_local {
    ($($item:tt)+) => { gmp_lines::thread_local! { $($item)+ } };
}
