//! Makes programs from numbers.

use crate::program::{Branch, Program, SHARED, Step, StepKind};

/// The steps that a program may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// For the current-thread flavour: all steps.
    CurrentThread,
    /// For one worker of the multi-thread flavour: no step that needs a clock, and not many tasks
    /// at the same time.
    OneWorker,
}

/// Makes the program of a number.
pub fn generate(shape: Shape, seed: u64) -> Program {
    let mut maker = Maker { random: Random::new(seed), shape, next_id: 0, steps_left: 0, outside: Outside::Clock };
    if maker.random.one_in(3) {
        maker.outside = Outside::Threads;
    }
    maker.steps_left = 4 + maker.random.below(100);
    let is_current_thread = shape == Shape::CurrentThread;
    let before = if is_current_thread && maker.random.one_in(4) { 1 + maker.random.below(3) } else { 0 };
    let roots = if is_current_thread && maker.outside == Outside::Clock && maker.random.one_in(4) { 2 } else { 1 };
    Program {
        intervals: if maker.random.one_in(2) { maker.intervals() } else { [61, 31] },
        is_local: is_current_thread && maker.random.one_in(4),
        before: (0..before).map(|_| maker.branch(1)).collect(),
        roots: (0..roots).map(|_| maker.branch(0)).collect(),
    }
}

struct Maker {
    random: Random,
    shape: Shape,
    next_id: u32,
    steps_left: u64,
    outside: Outside,
}

/// The outside events of a program: the clock or other threads, but not both. When a paused clock
/// jumps, tokio counts one more turn than gmp, so it looks into the queue for tasks from other
/// threads on other turns. No program can rely on either.
#[derive(PartialEq)]
enum Outside {
    Clock,
    Threads,
}

/// The limit for nested steps.
const DEEPEST: u32 = 5;

impl Maker {
    /// Short intervals, so that short programs reach the end of each.
    fn intervals(&mut self) -> [u32; 2] {
        [1 + self.random.below(8) as u32, 1 + self.random.below(8) as u32]
    }

    fn branch(&mut self, depth: u32) -> Branch {
        let length = self.random.below(if depth == 0 { 16 } else { 6 }) + 1;
        (0..length).map_while(|_| self.step(depth)).collect()
    }

    fn step(&mut self, depth: u32) -> Option<Step> {
        self.steps_left = self.steps_left.checked_sub(1)?;
        self.next_id += 1;
        let id = self.next_id;
        Some(Step { id, kind: self.kind(depth) })
    }

    fn kind(&mut self, depth: u32) -> StepKind {
        let which = self.random.below(SHARED as u64) as usize;
        if depth < DEEPEST && self.random.one_in(3) {
            return self.nested(which, depth + 1);
        }
        match self.random.below(16) {
            0..3 => self.pause(),
            3 => StepKind::WakeSelf,
            4 => StepKind::Join(which),
            5 if self.random.one_in(2) => StepKind::Abort(which),
            5 => StepKind::IsFinished(which),
            6 => StepKind::Send(which),
            7 => StepKind::Receive(which),
            8 => StepKind::NotifyOne(which),
            9 => StepKind::Notified(which),
            10 => StepKind::NotifyWaiters(which),
            11 => StepKind::OneshotSend(which),
            12 => StepKind::OneshotReceive(which),
            13 => self.rare(),
            _ => self.time(),
        }
    }

    fn time(&mut self) -> StepKind {
        match self.shape {
            Shape::OneWorker => self.pause(),
            Shape::CurrentThread if self.outside == Outside::Threads => StepKind::Yield,
            Shape::CurrentThread if self.random.one_in(8) => StepKind::Advance(self.random.below(5)),
            Shape::CurrentThread if self.random.one_in(8) => StepKind::Sleep(self.random.below(5_000)),
            Shape::CurrentThread => StepKind::Sleep(self.random.below(4)),
        }
    }

    fn rare(&mut self) -> StepKind {
        match self.random.below(8) {
            0 => StepKind::Panic,
            1 if self.shape == Shape::CurrentThread => StepKind::Consume(self.random.below(200) as u32),
            _ => self.pause(),
        }
    }

    /// On the multi-thread flavour a yield differs: see gmp-exec/src/sched/README.md §10.
    fn pause(&self) -> StepKind {
        match self.shape {
            Shape::CurrentThread => StepKind::Yield,
            Shape::OneWorker => StepKind::WakeSelf,
        }
    }

    fn nested(&mut self, which: usize, depth: u32) -> StepKind {
        match self.random.below(12) {
            0 => StepKind::Both(self.branch(depth), self.branch(depth)),
            1 => StepKind::Either(self.branch(depth), self.branch(depth)),
            2 => StepKind::Hold(which, self.branch(depth)),
            3 => StepKind::Unordered((0..1 + self.random.below(3)).map(|_| self.branch(depth)).collect()),
            4 if depth < 3 => self.many(depth),
            5 | 6 if self.shape == Shape::CurrentThread && self.outside == Outside::Threads => {
                StepKind::Elsewhere(self.at_once(depth))
            }
            _ => StepKind::Spawn { handle: which, is_local: self.random.one_in(2), branch: self.branch(depth) },
        }
    }

    /// Steps that another thread may perform.
    fn at_once(&mut self, depth: u32) -> Branch {
        let mut branch = self.branch(depth);
        for _ in 0..3 {
            self.next_id += 1;
            let which = self.random.below(SHARED as u64) as usize;
            let kind = match self.random.below(5) {
                0 => StepKind::NotifyOne(which),
                1 => StepKind::NotifyWaiters(which),
                2 => StepKind::OneshotSend(which),
                3 => StepKind::Abort(which),
                _ => StepKind::Spawn { handle: which, is_local: false, branch: self.branch(depth) },
            };
            branch.push(Step { id: self.next_id, kind });
        }
        branch
    }

    fn many(&mut self, depth: u32) -> StepKind {
        let most = match self.shape {
            Shape::OneWorker => 8,
            Shape::CurrentThread if self.random.one_in(16) => 400,
            Shape::CurrentThread => 80,
        };
        StepKind::SpawnMany { count: 1 + self.random.below(most) as u32, branch: self.branch(depth + 2) }
    }
}

/// splitmix64.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}
