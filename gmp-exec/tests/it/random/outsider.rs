//! A thread outside of the runtime that uses it, even after its end.

use std::thread;
use std::time::Duration;

use gmp_exec::runtime::Handle;

use super::child::Child;
use super::local::live_in_set;
use super::nested;
use super::program::Program;
use crate::support::Random;

pub(super) fn outsider(handle: &Handle, program: &Program, mut random: Random) -> thread::JoinHandle<()> {
    let (handle, program) = (handle.clone(), program.child());
    thread::spawn(move || {
        let mut children: Vec<Child> = Vec::new();
        for _ in 0..random.below(12) {
            let duration = Duration::from_micros(random.below(200));
            match random.below(8) {
                0 => thread::sleep(duration),
                1 => children.iter_mut().for_each(Child::abort),
                2 => drop(handle.spawn_blocking(move || thread::sleep(duration))),
                3 => handle.block_on(Child::spawn_on(&handle, &program.leaf(), &mut random).join()),
                4 => live_in_set(&handle, &program, &mut random),
                5 => nested::on_this_thread(&program, &mut random),
                _ => children.push(Child::spawn_on(&handle, &program, &mut random)),
            }
        }
        children.into_iter().for_each(|child| handle.block_on(child.join()));
    })
}
