//! Writes that a file has accepted and not carried out yet.
//!
//! A [`File`](super::File) accepts a write at once and carries it out in the background. The next
//! question about the same file, even from the same task, may overtake the write: an answer from
//! memory nearly always would, and one from another background operation sometimes. On tokio all
//! answers come from the background, which is usually late enough, so programs that forget a flush
//! usually work.
//!
//! So **operations that begin after a write to a regular file was accepted wait until it is carried
//! out**: asking for the file's metadata, opening, reading, copying and overwriting it by path, and
//! operations on the file as a whole, under whatever handle or name. They wait for earlier writes
//! and not for later ones, or a writer that never stops would block them. As on tokio, writes
//! through different handles and seeks with clones of the writing handle are not ordered. Systems
//! that can't return a file's identity without blocking don't distinguish files, so nothing waits
//! there, nor once a filter of system calls has come, which may not know the call.
//!
//! The table belongs to the process, because runtimes share files. While no write is pending, an
//! operation reads one counter.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Poll, Waker};
use std::{fs, mem};

use gmp_exec::bridge::filter_has_come;
use gmp_exec::task::AtShutdown;

use super::inline;
use crate::lock::{join_once, lock, wake_all};
use crate::sys::{Identity, file};

/// A pending write, until this is dropped.
#[derive(Debug)]
pub(super) struct PendingWrite {
    file: Identity,
    number: u64,
}

/// A point in the order of writes: writes with a lower number were accepted before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cutoff(u64);

#[derive(Debug)]
struct PendingTable {
    next: u64,
    files: BTreeMap<Identity, Writes>,
}

/// The pending writes to one file.
#[derive(Debug, Default)]
struct Writes {
    numbers: Vec<u64>,
    /// Woken whenever one of the writes is carried out.
    waiting: Vec<Waker>,
}

static PENDING: Mutex<PendingTable> = Mutex::new(PendingTable { next: 0, files: BTreeMap::new() });

/// The number of entries in the table, so that an empty table need not be locked. A write is
/// counted before it is accepted, and until it is carried out.
static COUNT: AtomicUsize = AtomicUsize::new(0);

impl PendingWrite {
    pub(super) fn new(file: Identity) -> Self {
        COUNT.fetch_add(1, SeqCst);
        let mut table = lock(&PENDING);
        let number = table.next;
        table.next += 1;
        table.files.entry(file).or_default().numbers.push(number);
        PendingWrite { file, number }
    }
}

impl Drop for PendingWrite {
    fn drop(&mut self) {
        let mut waiting = lock(&PENDING).remove(self.file, self.number);
        COUNT.fetch_sub(1, SeqCst);
        wake_all(&mut waiting);
    }
}

impl PendingTable {
    fn remove(&mut self, file: Identity, number: u64) -> Vec<Waker> {
        let writes = self.files.get_mut(&file).expect("a file is listed as long as it is written");
        writes.numbers.retain(|other| *other != number);
        let waiting = mem::take(&mut writes.waiting);
        if writes.numbers.is_empty() {
            self.files.remove(&file);
        }
        waiting
    }
}

impl Cutoff {
    /// `None` if no write to any file is pending, or nothing waits for one.
    pub(super) fn now() -> Option<Cutoff> {
        (COUNT.load(SeqCst) > 0 && !filter_has_come()).then(|| Cutoff(lock(&PENDING).next))
    }

    /// Waits until every write to `file` that was accepted before this point is carried out.
    pub(super) fn poll_written(self, file: Identity, cx: &mut Context<'_>) -> Poll<()> {
        let waker = cx.waker().clone();
        let mut table = lock(&PENDING);
        let writes = table.files.get_mut(&file);
        let Some(writes) = writes.filter(|writes| writes.numbers.iter().any(|number| *number < self.0)) else {
            return Poll::Ready(());
        };
        let unneeded = join_once(&mut writes.waiting, waker);
        drop(table);
        drop(unneeded);
        Poll::Pending
    }
}

/// Waits until every write accepted so far to the file that `path` leads to is carried out.
///
/// # Panics
///
/// If called outside of a runtime while a write is pending.
pub(super) async fn written(path: &Path) {
    let Some(now) = Cutoff::now() else { return };
    let ask = |path: PathBuf| fs::metadata(path).map(|metadata| Identity::of(&metadata));
    // The caller gets the same error when it uses the path.
    if let Ok(Some(file)) = inline::ask(path, file::identity, AtShutdown::Wait, ask).await {
        poll_fn(|cx| now.poll_written(file, cx)).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    /// Numbers that no file has.
    fn file(inode: u64) -> Identity {
        Identity { device: u64::MAX, inode }
    }

    #[test]
    fn only_writes_of_before_to_the_same_file_are_waited_for() {
        let count = Arc::new(Count::default());
        let waker = Waker::from(count.clone());
        let mut cx = Context::from_waker(&waker);
        let first = PendingWrite::new(file(1));
        let second = PendingWrite::new(file(1));
        let now = Cutoff::now().expect("two are under way");
        let later = PendingWrite::new(file(1));
        assert!(now.poll_written(file(2), &mut cx).is_ready(), "another file");
        assert!(now.poll_written(file(1), &mut cx).is_pending());
        drop(second);
        assert_eq!(count.0.load(SeqCst), 1, "woken to look again");
        assert!(now.poll_written(file(1), &mut cx).is_pending(), "the first is not written");
        assert!(now.poll_written(file(1), &mut cx).is_pending(), "waits once");
        drop(first);
        assert_eq!(count.0.load(SeqCst), 2);
        assert!(now.poll_written(file(1), &mut cx).is_ready(), "the third came later");
        drop(later);
        assert_eq!(count.0.load(SeqCst), 2, "no task waits any more");
        assert!(!lock(&PENDING).files.contains_key(&file(1)));
    }
}
