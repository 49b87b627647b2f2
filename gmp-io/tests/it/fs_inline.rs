//! Cached data is returned on the thread that asks; data that is not cached, or may never arrive,
//! is waited for in the background.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use futures::FutureExt;
use gmp_exec::task::yield_now;
use gmp_exec::time::timeout;
use gmp_io::fs::{self, File};
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

use crate::fs_support::{counting_threads, fifo, forget_half, patterned, reads_in_place, temp_dir};
use crate::support::{in_child, multi_thread, on_both, within_deadline};

/// In a child process, so that no other test meets other file systems meanwhile.
#[test]
fn cached_data_does_not_leave_the_thread() {
    in_child("fs_inline::cached_data_does_not_leave_the_thread", || {
        let dir = temp_dir();
        let (path, contents) = patterned(dir.path(), 3 << 20);
        let missing = dir.path().join("missing");
        assert!(!missing.exists(), "and from now on this is known");
        let stays = || {
            // The first operation on a file system asks for its kind.
            multi_thread().block_on(fs::read(&path)).expect("read");
            let (runtime, threads_started) = counting_threads();
            runtime.block_on(async {
                assert!(fs::read(&path).await.expect("read") == contents);
                assert_eq!(fs::metadata(&path).await.expect("there").len(), contents.len() as u64);
                assert!(fs::symlink_metadata(&path).await.expect("there").is_file());
                assert!(fs::try_exists(&path).await.expect("known"));
                assert!(!fs::try_exists(&missing).await.expect("known"));
                let mut file = File::open(&path).await.expect("opened");
                assert_eq!(file.metadata().await.expect("there").len(), contents.len() as u64);
                let mut read = Vec::new();
                file.read_to_end(&mut read).await.expect("read");
                assert!(read == contents);
                file.seek(std::io::SeekFrom::Start(7)).await.expect("there");
                assert_eq!(file.read_u8().await.expect("a byte"), contents[7]);
            });
            threads_started() == 0
        };
        // A system that is short of memory may drop pages in between.
        assert_eq!((0..10).any(|_| stays()), reads_in_place(&path));
    });
}

/// The system locks the cursor of an open file while another handle reads or writes.
#[test]
fn a_cursor_that_may_be_in_use_is_not_waited_for_on_the_thread() {
    let dir = temp_dir();
    let (path, contents) = patterned(dir.path(), 100);
    let opened = || std::fs::File::open(&path).expect("opened");
    assert_leaves_the_thread(&contents, async || File::from_std(opened()));
    assert_leaves_the_thread(&contents, async || std::os::fd::OwnedFd::from(opened()).into());
    assert_leaves_the_thread(&contents, async || {
        let file = File::open(&path).await.expect("opened");
        file.try_clone().await.expect("cloned");
        file
    });
    assert_leaves_the_thread(&contents, async || {
        File::open(&path).await.expect("opened").try_clone().await.expect("cloned")
    });
}

/// Reads the file that `open` returns, and moves its cursor.
fn assert_leaves_the_thread(contents: &[u8], open: impl AsyncFn() -> File) {
    type Operation = for<'a> fn(&'a mut File) -> futures::future::BoxFuture<'a, u64>;
    let read: Operation = |file| file.read_u8().map(|byte| byte.expect("a byte").into()).boxed();
    let seek: Operation = |file| file.seek(std::io::SeekFrom::Start(7)).map(|at| at.expect("there")).boxed();
    for (operation, outcome) in [(read, contents[0].into()), (seek, 7)] {
        // The threads that made the clone and opened the file.
        let mut file = multi_thread().block_on(open());
        let (runtime, threads_started) = counting_threads();
        assert_eq!(runtime.block_on(operation(&mut file)), outcome);
        assert_eq!(threads_started(), 1);
    }
}

/// At most 8 MiB are copied in a poll, so that other tasks get their turn.
#[test]
fn reading_a_large_cached_file_yields() {
    let (runtime, _) = counting_threads();
    runtime.block_on(async {
        let dir = temp_dir();
        let (path, contents) = patterned(dir.path(), 64 << 20);
        if !reads_in_place(&path) {
            // Then the background closure yields by itself.
            return assert!(fs::read(&path).await.expect("read") == contents);
        }
        let counting = gmp_exec::spawn(async {
            let mut turns = 0;
            while turns < 6 {
                turns += 1;
                yield_now().await;
            }
            Instant::now()
        });
        let read = fs::read(&path).await.expect("read");
        let end = Instant::now();
        assert!(read == contents);
        assert!(within_deadline(counting).await.expect("no panic") <= end, "others had to wait for the end");
    });
}

/// Files are always ready, but a task that never waits must still yield.
#[test]
fn small_cached_reads_use_up_the_budget() {
    let (runtime, _) = counting_threads();
    runtime.block_on(async {
        let dir = temp_dir();
        let (path, _) = patterned(dir.path(), 100);
        let other = gmp_exec::spawn(async {});
        let reading = async {
            for _ in 0..1_000 {
                fs::read(&path).await.expect("read");
                if other.is_finished() {
                    return true;
                }
            }
            false
        };
        assert!(within_deadline(reading).await, "the other task had no turn");
    });
}

#[test]
fn opening_a_fifo_without_a_writer_can_be_cancelled() {
    for runtime in [multi_thread(), counting_threads().0] {
        let dir = temp_dir();
        let path = fifo(dir.path());
        runtime.block_on(async {
            let limit = Duration::from_millis(100);
            timeout(limit, fs::read(&path)).await.expect_err("no writer");
            timeout(limit, File::open(&path)).await.expect_err("no writer");
            let started = Instant::now();
            tokio::select! {
                _ = fs::read_to_string(&path) => panic!("no writer"),
                () = gmp_exec::time::sleep(limit) => {}
            }
            assert!(started.elapsed() < 50 * limit, "{:?}", started.elapsed());
        });
        let ending = Instant::now();
        drop(runtime);
        assert!(ending.elapsed() < Duration::from_secs(5), "{:?}", ending.elapsed());
    }
}

/// The thread that reads sits in the kernel, and a program that waited for that thread would never
/// end.
#[test]
fn a_fifo_that_nobody_writes_to_does_not_keep_the_program() {
    in_child("fs_inline::a_fifo_that_nobody_writes_to_does_not_keep_the_program", || {
        let dir = temp_dir();
        let path = fifo(dir.path());
        let reading = async { timeout(Duration::from_millis(100), fs::read(&path)).await };
        multi_thread().block_on(reading).expect_err("nobody writes");
    });
}

#[test]
fn a_fifo_is_read_when_it_is_written() {
    on_both(|| async {
        let dir = temp_dir();
        let path = fifo(dir.path());
        let writing = std::thread::spawn({
            let path = path.clone();
            move || std::fs::OpenOptions::new().write(true).open(path)?.write_all(b"through the pipe")
        });
        assert_eq!(fs::read(&path).await.expect("read"), b"through the pipe");
        writing.join().expect("no panic").expect("written");
    });
}

/// To the writer, a check whether the FIFO exists must not look like a reader.
#[test]
fn a_fifo_is_not_opened_by_looking_at_it() {
    on_both(|| async {
        let dir = temp_dir();
        let path = fifo(dir.path());
        assert!(fs::try_exists(&path).await.expect("known"));
        assert!(!fs::metadata(&path).await.expect("there").is_file());
        let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
        let writer = fs::OpenOptions::new().write(true).custom_flags(flags).open(&path).await;
        assert_eq!(writer.expect_err("no reader").raw_os_error(), Some(6));
    });
}

/// A read of another kind of file is one read: later data is neither read nor waited for.
#[test]
fn a_pipe_is_read_as_far_as_it_was_written() {
    on_both(|| async {
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        let mut file = File::from(std::os::fd::OwnedFd::from(reader));
        let mut buf = [0; 100];
        writer.write_all(b"one").expect("written");
        assert_eq!(file.read(&mut buf).await.expect("read"), 3);
        assert!(file.read(&mut buf).now_or_never().is_none(), "nothing there");
        writer.write_all(b"two").expect("written");
        assert_eq!(within_deadline(file.read(&mut buf)).await.expect("read"), 3);
        assert_eq!(&buf[..3], b"two");
        drop(writer);
        assert_eq!(within_deadline(file.read(&mut buf)).await.expect("read"), 0);
    });
}

#[test]
fn a_file_that_is_opened_here_is_like_any_other() {
    on_both(|| async {
        let dir = temp_dir();
        let (path, contents) = patterned(dir.path(), 100);
        // Twice: the first may be opened in the background.
        for _ in 0..2 {
            let file = File::open(&path).await.expect("opened");
            let ours = rustix::fs::fcntl_getfl(&file).expect("flags");
            let mut std_file = file.into_std().await;
            let theirs = rustix::fs::fcntl_getfl(std::fs::File::open(&path).expect("opened")).expect("flags");
            assert_eq!(ours, theirs);
            assert!(rustix::io::fcntl_getfd(&std_file).expect("flags").contains(rustix::io::FdFlags::CLOEXEC));
            let mut read = Vec::new();
            std_file.read_to_end(&mut read).expect("read");
            assert_eq!(read, contents);
            assert!(std_file.write(b"no").is_err(), "for reading only");
        }
    });
}

#[test]
fn files_that_can_not_be_read_in_place_are_read() {
    on_both(|| async {
        let mut status = String::new();
        let mut file = File::open("/proc/self/status").await.expect("opened");
        // In several reads, of which the first finds out that the file can only be read in the
        // background.
        while file.read_to_string(&mut status).await.expect("read") > 0 {}
        assert!(status.starts_with("Name:"), "{status}");

        let mut zeros = File::open("/dev/zero").await.expect("opened");
        let mut buf = [1; 10_000];
        zeros.read_exact(&mut buf).await.expect("read");
        assert!(buf.iter().all(|byte| *byte == 0));
        let mut full = fs::OpenOptions::new().write(true).open("/dev/full").await.expect("opened");
        full.write_all(b"accepted").await.expect("accepted");
        assert_eq!(full.flush().await.expect_err("no room").raw_os_error(), Some(28));
    });
}

/// The cached part is read at once and the rest is waited for, unnoticed by the reader.
#[test]
fn a_file_of_which_a_part_is_in_memory_is_read_as_one() {
    on_both(|| async {
        let dir = temp_dir();
        let (path, contents) = patterned(dir.path(), 1 << 20);
        forget_half(&path);
        assert!(fs::read(&path).await.expect("read") == contents);
        forget_half(&path);
        let mut file = File::open(&path).await.expect("opened");
        let mut buf = vec![0; 2 << 20];
        assert_eq!(file.read(&mut buf).await.expect("read"), contents.len());
        assert!(buf[..contents.len()] == contents);
        assert_eq!(file.read(&mut buf).await.expect("the end"), 0);
        forget_half(&path);
        file.rewind().await.expect("at the start");
        // Cancelled half-way: the bytes that were read stay for the next read.
        let mut read = match file.read(&mut buf).now_or_never() {
            Some(n) => buf[..n.expect("read")].to_vec(),
            None => Vec::new(),
        };
        within_deadline(file.read_to_end(&mut read)).await.expect("read");
        assert!(read == contents);
    });
}
