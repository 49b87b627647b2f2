//! `File`: its buffers, the operations that wait for each other, and the reports of errors.

use std::io::{ErrorKind, IoSlice, Read, SeekFrom};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, SystemTime};

use futures::FutureExt;
use gmp_exec::runtime::Builder;
use gmp_io::fs::{File, FileTimes, OpenOptions};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncSeek, AsyncSeekExt, AsyncWrite, AsyncWriteExt, ReadBuf};

use crate::fs_support::{fifo, patterned, temp_dir};
use crate::reactor_faults::NoDescriptors;
use crate::support::{current_thread, in_child, multi_thread, on_both, within_deadline};

async fn scratch(dir: &tempfile::TempDir) -> File {
    File::create_new(dir.path().join("scratch")).await.expect("made")
}

/// A file that can't be written, which is only found out by trying.
async fn full() -> File {
    OpenOptions::new().write(true).open("/dev/full").await.expect("opened")
}

#[test]
fn what_was_accepted_is_there_after_a_flush() {
    on_both(|| async {
        let dir = temp_dir();
        let path = dir.path().join("file");
        let mut file = File::create(&path).await.expect("made");
        for n in 0..100_u32 {
            file.write_all(&n.to_be_bytes()).await.expect("accepted");
        }
        file.flush().await.expect("written");
        let expected: Vec<u8> = (0..100_u32).flat_map(u32::to_be_bytes).collect();
        assert_eq!(std::fs::read(&path).expect("read"), expected);
        file.shutdown().await.expect("nothing left to write");
    });
}

#[test]
fn one_file_is_written_and_read_back_without_a_flush() {
    on_both(|| async {
        let dir = temp_dir();
        let mut file = scratch(&dir).await;
        file.write_all(b"hello, world").await.expect("accepted");
        // Seeking waits for the write; `rewind` finds it finished.
        file.rewind().await.expect("at the start");
        let mut text = String::new();
        file.read_to_string(&mut text).await.expect("read");
        assert_eq!(text, "hello, world");
        // Reading waits for it too: the cursor is behind the written bytes.
        file.write_all(b"!").await.expect("accepted");
        assert_eq!(file.read(&mut [0; 10]).await.expect("read"), 0);
        file.seek(SeekFrom::Start(5)).await.expect("there");
        text.clear();
        file.read_to_string(&mut text).await.expect("read");
        assert_eq!(text, ", world!");
    });
}

#[test]
fn writing_goes_on_where_reading_has_stopped() {
    on_both(|| async {
        let dir = temp_dir();
        let (path, mut contents) = patterned(dir.path(), 10_000);
        let mut file = OpenOptions::new().read(true).write(true).open(&path).await.expect("opened");
        file.read_exact(&mut [0; 1_000]).await.expect("read");
        file.write_all(b"here").await.expect("accepted");
        file.flush().await.expect("written");
        contents[1_000..1_004].copy_from_slice(b"here");
        assert!(std::fs::read(&path).expect("read") == contents);
        assert_eq!(file.stream_position().await.expect("known"), 1_004);
    });
}

/// A cancelled read has moved the system's cursor, but not the reader's.
#[test]
fn a_cancelled_read_loses_nothing() {
    let dir = temp_dir();
    let path = fifo(dir.path());
    multi_thread().block_on(within_deadline(async {
        // Neither open waits if one end is open for both.
        let mut file = OpenOptions::new().read(true).write(true).open(&path).await.expect("opened");
        let mut other = OpenOptions::new().write(true).open(&path).await.expect("opened");
        assert!(file.read(&mut [0; 6]).now_or_never().is_none(), "nothing there");
        other.write_all(b"abcdef").await.expect("accepted");
        other.flush().await.expect("written");
        let mut buf = [0; 2];
        for expected in [b"ab", b"cd", b"ef"] {
            file.read_exact(&mut buf).await.expect("what was read, or left there");
            assert_eq!(&buf, expected);
        }
    }));
}

#[test]
fn seeks_lead_where_they_say() {
    on_both(|| async {
        let dir = temp_dir();
        let (path, contents) = patterned(dir.path(), 5_000);
        let mut file = File::open(&path).await.expect("opened");
        assert_eq!(file.seek(SeekFrom::End(-10)).await.expect("there"), 4_990);
        assert_eq!(file.read_u8().await.expect("a byte"), contents[4_990]);
        assert_eq!(file.seek(SeekFrom::Current(-91)).await.expect("there"), 4_900);
        assert_eq!(file.read_u8().await.expect("a byte"), contents[4_900]);
        assert_eq!(file.seek(SeekFrom::Start(10_000)).await.expect("beyond the end"), 10_000);
        assert_eq!(file.read(&mut [0; 1]).await.expect("the end"), 0);
        for nowhere in [SeekFrom::Current(-10_001), SeekFrom::End(-5_001), SeekFrom::Current(i64::MIN)] {
            assert_eq!(file.seek(nowhere).await.expect_err("before the start").kind(), ErrorKind::InvalidInput);
        }
        assert_eq!(file.stream_position().await.expect("unmoved"), 10_000);
    });
}

#[test]
fn a_seek_does_not_overtake() {
    multi_thread().block_on(within_deadline(async {
        let dir = temp_dir();
        let mut file = scratch(&dir).await;
        file.write_all(b"under way").await.expect("accepted");
        let error = Pin::new(&mut file).start_seek(SeekFrom::Start(0)).expect_err("the write was not waited for");
        assert_eq!(error.to_string(), "other file operation is pending, call poll_complete before start_seek");
        file.flush().await.expect("written");
        Pin::new(&mut file).start_seek(SeekFrom::Start(0)).expect("nothing is under way");
    }));
}

#[test]
fn an_error_of_a_write_is_reported_by_the_next_one() {
    on_both(|| async {
        let mut file = full().await;
        assert_eq!(file.write(b"accepted").await.expect("accepted"), 8);
        assert_eq!(file.write(b"refused").await.expect_err("the first one failed").kind(), ErrorKind::StorageFull);
        // And only once.
        file.flush().await.expect("nothing was accepted since");
    });
}

#[test]
fn an_error_of_a_write_waits_for_the_next_write() {
    on_both(|| async {
        let mut file = full().await;
        assert_eq!(file.write(b"accepted").await.expect("accepted"), 8);
        // None of these reports errors of writes.
        let _ = file.read(&mut [0; 1]).await.expect_err("not for reading");
        file.metadata().await.expect("there");
        let _ = file.sync_all().await;
        let _ = file.stream_position().await;
        assert_eq!(file.flush().await.expect_err("the write failed").kind(), ErrorKind::StorageFull);
        file.flush().await.expect("reported already");
    });
}

/// An operation must not overtake earlier ones because of an error that was not reported.
#[test]
fn a_file_whose_write_has_failed_still_waits_for_its_turn() {
    on_both(|| async {
        let mut file = OpenOptions::new().read(true).write(true).open("/dev/full").await.expect("opened");
        assert_eq!(file.write(b"accepted").await.expect("accepted"), 8);
        let _ = file.sync_all().await;
        // Cancelled at once, so that it is in progress if it could not be answered on this thread.
        let _ = file.read(&mut [0; 8]).now_or_never();
        assert_eq!(file.set_len(0).await.expect_err("a device").kind(), ErrorKind::InvalidInput);
        assert_eq!(file.flush().await.expect_err("the write failed").kind(), ErrorKind::StorageFull);
    });
}

#[test]
fn several_buffers_are_written_in_order() {
    on_both(|| async {
        let dir = temp_dir();
        let mut file = scratch(&dir).await;
        assert!(file.is_write_vectored());
        file.set_max_buf_size(5);
        let pieces = [IoSlice::new(b"ab"), IoSlice::new(b""), IoSlice::new(b"cd"), IoSlice::new(b"ef")];
        assert_eq!(file.write_vectored(&pieces).await.expect("accepted"), 5);
        file.rewind().await.expect("at the start");
        let mut text = String::new();
        file.read_to_string(&mut text).await.expect("read");
        assert_eq!(text, "abcde");
    });
}

#[test]
fn no_more_than_the_buffers_size_is_moved_at_a_time() {
    on_both(|| async {
        let dir = temp_dir();
        let (path, contents) = patterned(dir.path(), 3 << 20);
        let mut file = OpenOptions::new().read(true).write(true).open(&path).await.expect("opened");
        assert_eq!(file.max_buf_size(), 2 << 20);
        let mut buf = vec![0; 3 << 20];
        // A read of a regular file returns as much as the file has: programs rely on it.
        assert_eq!(file.read(&mut buf).await.expect("read"), 2 << 20);
        assert_eq!(file.read(&mut buf).await.expect("read"), 1 << 20);
        assert_eq!(file.write(&contents).await.expect("accepted"), 2 << 20);
        file.set_max_buf_size(10);
        assert_eq!(file.try_clone().await.expect("cloned").max_buf_size(), 10);
        assert_eq!(file.write(&contents).await.expect("accepted"), 10);
        file.rewind().await.expect("at the start");
        assert_eq!(file.read(&mut buf).await.expect("read"), 10);
        assert_eq!(buf[..10], contents[..10]);
    });
}

#[test]
#[should_panic(expected = "`max_buf_size` must be greater than 0")]
fn a_buffer_of_no_size_is_a_mistake() {
    File::from_std(std::fs::File::open("/dev/null").expect("opened")).set_max_buf_size(0);
}

#[test]
fn reading_into_nothing_reads_nothing() {
    on_both(|| async {
        let dir = temp_dir();
        let (path, contents) = patterned(dir.path(), 10);
        let mut file = File::open(&path).await.expect("opened");
        assert_eq!(file.read(&mut []).await.expect("nothing"), 0);
        assert_eq!(file.read_u8().await.expect("a byte"), contents[0]);
    });
}

/// The part of the caller's buffer that was filled before is unchanged.
#[test]
fn a_read_adds_to_what_is_there() {
    on_both(|| async {
        let dir = temp_dir();
        let (path, contents) = patterned(dir.path(), 10);
        let mut file = File::open(&path).await.expect("opened");
        let mut memory = [std::mem::MaybeUninit::uninit(); 8];
        let mut buf = ReadBuf::uninit(&mut memory);
        buf.put_slice(b"xy");
        std::future::poll_fn(|cx| Pin::new(&mut file).poll_read(cx, &mut buf)).await.expect("read");
        assert_eq!(buf.filled(), [b"xy", &contents[..6]].concat());
    });
}

#[test]
fn the_length_is_changed_in_turn() {
    on_both(|| async {
        let dir = temp_dir();
        let mut file = scratch(&dir).await;
        file.write_all(b"hello, world").await.expect("accepted");
        file.set_len(5).await.expect("cut off");
        assert_eq!(file.metadata().await.expect("there").len(), 5);
        file.set_len(7).await.expect("filled up");
        file.rewind().await.expect("at the start");
        let mut contents = Vec::new();
        file.read_to_end(&mut contents).await.expect("read");
        assert_eq!(contents, b"hello\0\0");
        let (path, _) = patterned(dir.path(), 10);
        File::open(&path).await.expect("opened").set_len(0).await.expect_err("for reading only");
    });
}

#[test]
fn everything_is_synced_after_what_is_under_way() {
    on_both(|| async {
        let dir = temp_dir();
        let mut file = scratch(&dir).await;
        file.write_all(b"hello").await.expect("accepted");
        file.sync_data().await.expect("on the disk");
        assert_eq!(file.metadata().await.expect("there").len(), 5);
        file.write_all(b", world").await.expect("accepted");
        file.sync_all().await.expect("on the disk");
        assert_eq!(file.metadata().await.expect("there").len(), 12);
    });
}

#[test]
fn tasks_that_share_a_file_take_turns() {
    on_both(|| async {
        let dir = temp_dir();
        let mut file = scratch(&dir).await;
        file.write_all(&[7; 100_000]).await.expect("accepted");
        let file = Arc::new(file);
        let tasks: Vec<_> = (0..32)
            .map(|n| {
                let file = file.clone();
                gmp_exec::spawn(async move {
                    match n % 4 {
                        0 => file.sync_all().await,
                        1 => file.set_len(50_000 + n).await,
                        2 => file.try_clone().await.map(drop),
                        _ => file.set_modified(SystemTime::UNIX_EPOCH).await,
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("no panic").expect("done");
        }
        assert!((50_000..50_032).contains(&file.metadata().await.expect("there").len()));
    });
}

#[test]
fn times_and_permissions_are_changed() {
    on_both(|| async {
        let dir = temp_dir();
        let mut file = scratch(&dir).await;
        let [then, later] = [1_000_000, 2_000_000].map(|secs| SystemTime::UNIX_EPOCH + Duration::from_secs(secs));
        // The write in progress would change them again.
        file.write_all(b"hello").await.expect("accepted");
        file.set_times(FileTimes::new().set_accessed(then).set_modified(later)).await.expect("changed");
        let metadata = file.metadata().await.expect("there");
        assert_eq!((metadata.accessed().expect("kept"), metadata.modified().expect("kept")), (then, later));
        file.set_modified(then).await.expect("changed");
        let metadata = file.metadata().await.expect("there");
        assert_eq!((metadata.accessed().expect("kept"), metadata.modified().expect("kept")), (then, then));
        file.set_permissions(PermissionsExt::from_mode(0o400)).await.expect("changed");
        assert_eq!(file.metadata().await.expect("there").permissions().mode() & 0o777, 0o400);
    });
}

#[test]
fn clones_share_the_cursor() {
    on_both(|| async {
        let dir = temp_dir();
        let (path, contents) = patterned(dir.path(), 10);
        let mut one = File::open(&path).await.expect("opened");
        let mut other = one.try_clone().await.expect("cloned");
        assert_eq!(one.read_u8().await.expect("a byte"), contents[0]);
        assert_eq!(other.read_u8().await.expect("a byte"), contents[1]);
    });
}

#[test]
fn a_file_is_given_back_when_nothing_is_under_way() {
    on_both(|| async {
        let dir = temp_dir();
        let path = dir.path().join("file");
        let mut file = File::create(&path).await.expect("made");
        file.write_all(b"hello").await.expect("accepted");
        drop(file.into_std().await);
        assert_eq!(std::fs::read(&path).expect("read"), b"hello");

        let file = File::open(&path).await.expect("opened");
        let mut text = String::new();
        file.try_into_std().expect("nothing under way").read_to_string(&mut text).expect("read");
        assert_eq!(text, "hello");
    });
}

#[test]
fn a_file_is_kept_while_something_is_under_way() {
    let dir = temp_dir();
    let path = fifo(dir.path());
    multi_thread().block_on(within_deadline(async {
        let mut file = OpenOptions::new().read(true).write(true).open(&path).await.expect("opened");
        assert!(file.read(&mut [0; 1]).now_or_never().is_none(), "nothing there");
        let mut file = file.try_into_std().expect_err("a read is under way");
        let mut other = OpenOptions::new().write(true).open(&path).await.expect("opened");
        other.write_all(b"x").await.expect("accepted");
        assert_eq!(file.read_u8().await.expect("a byte"), b'x');
        file.try_into_std().expect("nothing is under way");
    }));
}

/// A cancelled operation still holds the file, and there is no descriptor for a second one.
#[test]
fn a_file_that_is_shared_is_waited_for_where_no_descriptors_are_left() {
    in_child("fs_file::a_file_that_is_shared_is_waited_for_where_no_descriptors_are_left", || {
        let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(1).build().expect("a runtime");
        let dir = temp_dir();
        runtime.block_on(within_deadline(async {
            let file = scratch(&dir).await;
            let permissions = file.metadata().await.expect("known").permissions();
            let (release, held) = std::sync::mpsc::channel::<()>();
            let busy = gmp_exec::task::spawn_blocking(move || held.recv());
            assert!(file.set_permissions(permissions).now_or_never().is_none(), "its turn has not come");
            let none = NoDescriptors::left();
            let mut into_std = std::pin::pin!(file.into_std());
            assert!(into_std.as_mut().now_or_never().is_none());
            drop(release);
            busy.await.expect("not cancelled").expect_err("nothing was sent");
            let std_file = into_std.await;
            drop(none);
            assert_eq!(std_file.metadata().expect("open").len(), 0);
        }));
    });
}

#[test]
fn files_are_made_from_descriptors() {
    on_both(|| async {
        let dir = temp_dir();
        let (path, contents) = patterned(dir.path(), 10);
        let std_file = || std::fs::File::open(&path).expect("opened");
        let raw = std_file().into_raw_fd();
        // SAFETY: the owner has just released the descriptor.
        #[allow(unsafe_code, reason = "`FromRawFd`, whose contract is the caller's")]
        let from_raw = unsafe { File::from_raw_fd(raw) };
        assert_eq!(from_raw.as_raw_fd(), raw);
        assert_eq!(from_raw.as_fd().as_raw_fd(), raw);
        for mut file in [from_raw, File::from(std_file()), File::from(OwnedFd::from(std_file()))] {
            assert_eq!(file.read_u8().await.expect("a byte"), contents[0]);
            assert!(format!("{file:?}").starts_with("tokio::fs::File { std: File { fd:"), "{file:?}");
        }
    });
}

#[test]
fn options_are_the_standard_librarys() {
    on_both(|| async {
        let dir = temp_dir();
        let path = dir.path().join("file");
        let none = OpenOptions::new().open(&path).await.expect_err("neither reading nor writing");
        assert_eq!(none.kind(), ErrorKind::InvalidInput);
        let missing = OpenOptions::default().write(true).open(&path).await.expect_err("not to be made");
        assert_eq!(missing.kind(), ErrorKind::NotFound);

        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o640);
        options.open(&path).await.expect("made");
        // Some umasks remove a part of it.
        let of_std = dir.path().join("std");
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o640).open(&of_std).expect("made");
        let mode = |path| std::fs::metadata(path).expect("there").permissions().mode();
        assert_eq!(mode(&path), mode(&of_std));
        assert_eq!(options.clone().open(&path).await.expect_err("there").kind(), ErrorKind::AlreadyExists);

        let mut of_std = std::fs::OpenOptions::new();
        of_std.append(true);
        for text in [b"one".as_slice(), b"two"] {
            let mut file = OpenOptions::from(of_std.clone()).open(&path).await.expect("opened");
            file.write_all(text).await.expect("accepted");
            file.flush().await.expect("written");
        }
        assert_eq!(std::fs::read(&path).expect("read"), b"onetwo");

        // Options that would change the file do so, whatever was set before.
        OpenOptions::new().read(true).write(true).truncate(true).open(&path).await.expect("opened");
        assert_eq!(std::fs::read(&path).expect("read"), b"");
        std::fs::remove_file(&path).expect("removed");
        OpenOptions::new().read(true).write(true).create(true).open(&path).await.expect("made");
        assert!(path.exists());
    });
}

/// Whether or not the write had begun.
#[test]
fn what_was_accepted_is_written_although_the_runtime_ends() {
    for round in 0..20 {
        for runtime in [multi_thread(), current_thread()] {
            let dir = temp_dir();
            let path = dir.path().join("file");
            runtime.block_on(async {
                let mut file = File::create(&path).await.expect("made");
                assert_eq!(file.write(b"accepted").await.expect("accepted"), 8);
                if round % 2 == 0 {
                    drop(file);
                } else {
                    gmp_exec::spawn(async move {
                        let _file = file;
                        std::future::pending::<()>().await;
                    });
                }
            });
            drop(runtime);
            assert_eq!(std::fs::read(&path).expect("there"), b"accepted");
        }
    }
}

#[test]
fn a_file_that_is_dropped_closes_itself_when_it_has_written() {
    on_both(|| async {
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let mut file = File::from(OwnedFd::from(writer));
        file.write_all(b"last words").await.expect("accepted");
        drop(file);
        let reading = gmp_exec::task::spawn_blocking(move || {
            let mut text = String::new();
            reader.read_to_string(&mut text).map(|_| text)
        });
        assert_eq!(within_deadline(reading).await.expect("no panic").expect("read to the end"), "last words");
    });
}

#[test]
fn a_runtime_is_needed_to_read_and_write() {
    let dir = temp_dir();
    let (path, _) = patterned(dir.path(), 10);
    let open = || std::fs::OpenOptions::new().read(true).write(true).open(&path).expect("opened");
    let panics = |act: fn(&mut File)| {
        let mut file = File::from_std(open());
        let act = std::panic::AssertUnwindSafe(|| act(&mut file));
        let payload = std::panic::catch_unwind(act).expect_err("no runtime");
        let message = payload.downcast_ref::<String>().expect("a message");
        assert_eq!(message, "there is no reactor running, must be called from the context of a Tokio 1.x runtime");
    };
    panics(|file| drop(Pin::new(file).poll_read(&mut cx(), &mut ReadBuf::new(&mut [0; 1]))));
    panics(|file| drop(Pin::new(file).poll_write(&mut cx(), b"x")));
    panics(|file| drop(Pin::new(file).start_seek(SeekFrom::End(0))));
    panics(|file| drop(Pin::new(file).start_seek(SeekFrom::Start(0))));
    panics(|file| drop(file.metadata().now_or_never()));
    panics(|file| drop(file.set_len(0).now_or_never()));
    assert_eq!(std::fs::read(&path).expect("read").len(), 10, "nothing was changed");
}

fn cx() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

/// Reads that wait for a disk return the same as those that don't: 64 files, on two threads.
#[test]
fn files_are_read_whole_while_others_are_written() {
    let dir = temp_dir();
    let runtime = Builder::new_multi_thread().worker_threads(4).enable_all().build().expect("a runtime");
    runtime.block_on(within_deadline(async {
        let tasks: Vec<_> = (0..64_u8)
            .map(|n| {
                let path = dir.path().join(format!("{n}"));
                gmp_exec::spawn(async move {
                    let mut file = File::create_new(&path).await.expect("made");
                    let contents = vec![n; 10_000 + usize::from(n)];
                    for _ in 0..10 {
                        file.rewind().await.expect("at the start");
                        file.write_all(&contents).await.expect("accepted");
                        file.rewind().await.expect("at the start");
                        let mut read = Vec::new();
                        file.read_to_end(&mut read).await.expect("read");
                        assert_eq!(read, contents);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("no panic");
        }
    }));
}
