//! Models of the scheduler's protocols: with loom each protocol alone in all interleavings, with shuttle the whole
//! scheduler in many random ones. Models that need a file's private parts are beside that file.

#[cfg(loom)]
mod loom_local_queue;
#[cfg(loom)]
mod loom_ownership;
#[cfg(loom)]
mod loom_runnext;
#[cfg(loom)]
pub(super) mod marks;

/// Explores `body` with at most `preemptions` preemptions, or as many as LOOM_MAX_PREEMPTIONS says if that is less.
#[cfg(loom)]
pub(super) fn explore(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(builder.preemption_bound.map_or(preemptions, |bound| bound.min(preemptions)));
    builder.max_branches = 10_000;
    builder.check(body);
}
