//! Addresses of memory: what a thread gives back when it ends.

use std::thread;
use std::time::Duration;

use crate::child::run;

/// The thread keeps what it frees for itself, and gives that back when it ends.
pub(crate) fn scenario() {
    let first: Vec<u8> = vec![0; 200];
    let first = first.as_ptr().addr();
    for _ in 0..50 {
        let buffers: Vec<_> = (0..6).map(|_| vec![0_u8; 200]).collect();
        drop(thread::spawn(|| drop(buffers)));
        // Virtual: the thread has ended.
        thread::sleep(Duration::from_secs(1));
        let buffers: Vec<_> = (0..6).map(|_| vec![0_u8; 200]).collect();
        let places: Vec<_> = buffers.iter().map(|it| it.as_ptr().addr().wrapping_sub(first) as isize).collect();
        println!("\nplaces: {places:?}");
    }
}

#[test]
fn memory_of_a_thread_is_back_when_it_has_ended() {
    for seed in 0..4 {
        let [one, other, third] = [(); 3].map(|()| run("memory", seed));
        assert!(one.stdout.contains("places: ["), "{one:#?}");
        let places =
            |text: &str| text.lines().filter(|line| line.starts_with("places")).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(places(&one.stdout), places(&other.stdout));
        assert_eq!(places(&one.stdout), places(&third.stdout));
    }
}
