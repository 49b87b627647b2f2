//! The functions of paths.

use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};

use futures::FutureExt;
use gmp_exec::runtime::Builder;
use gmp_io::fs;

use crate::fs_support::{patterned, temp_dir};
use crate::support::{on_both, within_deadline};

#[test]
fn what_is_written_is_read() {
    on_both(|| async {
        let dir = temp_dir();
        let path = dir.path().join("file");
        fs::write(&path, "grüße").await.expect("written");
        assert_eq!(fs::read(&path).await.expect("read"), "grüße".as_bytes());
        assert_eq!(fs::read_to_string(&path).await.expect("read"), "grüße");
        fs::write(&path, b"").await.expect("emptied");
        assert_eq!(fs::read(&path).await.expect("read"), b"");
        fs::write(&path, b"\xff").await.expect("written");
        let error = fs::read_to_string(&path).await.expect_err("no UTF-8");
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        assert_eq!(error.to_string(), std::fs::read_to_string(&path).expect_err("no UTF-8").to_string());
    });
}

#[test]
fn files_of_any_size_are_read_whole() {
    on_both(|| async {
        let dir = temp_dir();
        // Around the size of a page, of a read, and of a poll.
        for len in [1, 31, 4095, 4096, 4097, 1 << 20, (1 << 20) + 1, 20 << 20] {
            let (path, contents) = patterned(dir.path(), len);
            assert!(fs::read(&path).await.expect("read") == contents, "{len} bytes");
        }
    });
}

#[test]
fn text_of_any_size_is_read_whole() {
    on_both(|| async {
        let dir = temp_dir();
        let path = dir.path().join("text");
        let mut text = "ü".repeat(3 << 20);
        fs::write(&path, &text).await.expect("written");
        assert!(fs::read_to_string(&path).await.expect("read") == text);
        let mut broken = std::mem::take(&mut text).into_bytes();
        broken.pop();
        fs::write(&path, &broken).await.expect("written");
        assert_eq!(fs::read_to_string(&path).await.expect_err("half a character").kind(), ErrorKind::InvalidData);
    });
}

#[test]
fn files_that_do_not_know_their_size_are_read_whole() {
    on_both(|| async {
        assert_eq!(fs::metadata("/proc/self/maps").await.expect("there").len(), 0);
        let maps = fs::read_to_string("/proc/self/maps").await.expect("read");
        assert!(maps.lines().count() > 10, "{maps}");
        // This file claims a size of one page, and has less.
        let online = fs::read_to_string("/sys/devices/system/cpu/online").await.expect("read");
        assert!(online.starts_with('0') && online.ends_with('\n'), "{online:?}");
    });
}

/// A file that another thread extends and truncates all the time is read as it was at some moment,
/// up to some position.
#[test]
fn a_file_that_changes_while_it_is_read_is_read_to_an_end() {
    on_both(|| async {
        let dir = temp_dir();
        let path = dir.path().join("changing");
        let file = std::fs::File::create(&path).expect("made");
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let changing = std::thread::spawn(move || {
            for len in (0..).map(|n: u64| n * 7919 % 300_000) {
                file.set_len(len).expect("changed");
                if stopped.try_recv().is_err_and(|error| error == std::sync::mpsc::TryRecvError::Disconnected) {
                    break;
                }
            }
        });
        for _ in 0..200 {
            let contents = fs::read(&path).await.expect("read");
            assert!(contents.len() < 300_000 && contents.iter().all(|byte| *byte == 0));
        }
        drop(stop);
        changing.join().expect("changed to the end");
    });
}

#[test]
fn errors_are_the_systems() {
    on_both(|| async {
        let dir = temp_dir();
        let (file, _) = patterned(dir.path(), 10);
        let missing = dir.path().join("missing");
        assert_eq!(fs::read(&missing).await.expect_err("missing").raw_os_error(), Some(2));
        assert_eq!(fs::metadata(&missing).await.expect_err("missing").kind(), ErrorKind::NotFound);
        assert_eq!(fs::symlink_metadata(&missing).await.expect_err("missing").kind(), ErrorKind::NotFound);
        assert_eq!(fs::read_link(&file).await.expect_err("no link").kind(), ErrorKind::InvalidInput);
        assert_eq!(fs::read(dir.path()).await.expect_err("a directory").kind(), ErrorKind::IsADirectory);
        assert_eq!(fs::read(file.join("below")).await.expect_err("a file").kind(), ErrorKind::NotADirectory);
        assert_eq!(fs::read("with a \0 in it").await.expect_err("no path").kind(), ErrorKind::InvalidInput);
        assert_eq!(fs::read("").await.expect_err("no path").kind(), ErrorKind::NotFound);
        assert_eq!(fs::create_dir(&file).await.expect_err("a file").kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::remove_dir(&file).await.expect_err("a file").kind(), ErrorKind::NotADirectory);
    });
}

#[test]
fn paths_lead_somewhere_or_not() {
    on_both(|| async {
        let dir = temp_dir();
        let (file, _) = patterned(dir.path(), 10);
        let link = dir.path().join("link");
        assert!(fs::try_exists(&file).await.expect("known"));
        assert!(!fs::try_exists(&link).await.expect("known"));
        fs::symlink("nothing", &link).await.expect("linked");
        assert!(!fs::try_exists(&link).await.expect("known"));
        assert!(fs::symlink_metadata(&link).await.expect("a link").is_symlink());
        assert_eq!(fs::read_link(&link).await.expect("a link").as_os_str(), "nothing");
        assert_eq!(fs::try_exists(file.join("below")).await.expect_err("a file").kind(), ErrorKind::NotADirectory);
        assert_eq!(fs::metadata(&file).await.expect("a file").len(), 10);

        let round = dir.path().join("round");
        fs::symlink(&round, &round).await.expect("linked");
        assert_eq!(fs::read(&round).await.expect_err("a loop").raw_os_error(), Some(40));
    });
}

#[test]
fn files_are_copied_linked_renamed_and_removed() {
    on_both(|| async {
        let dir = temp_dir();
        let (file, contents) = patterned(dir.path(), 10_000);
        let [copy, link, renamed] = ["copy", "link", "renamed"].map(|name| dir.path().join(name));

        assert_eq!(fs::copy(&file, &copy).await.expect("copied"), 10_000);
        assert_eq!(fs::read(&copy).await.expect("read"), contents);
        fs::hard_link(&file, &link).await.expect("linked");
        assert_eq!(fs::metadata(&file).await.expect("there").nlink(), 2);
        fs::rename(&link, &renamed).await.expect("renamed");
        assert!(!fs::try_exists(&link).await.expect("known"));
        assert_eq!(fs::read(&renamed).await.expect("read"), contents);
        fs::remove_file(&renamed).await.expect("removed");
        assert_eq!(fs::metadata(&file).await.expect("there").nlink(), 1);

        fs::set_permissions(&file, PermissionsExt::from_mode(0o400)).await.expect("changed");
        assert_eq!(fs::metadata(&file).await.expect("there").permissions().mode() & 0o777, 0o400);
        let roundabout = dir.path().join(".").join("..").join(dir.path().file_name().expect("a name")).join("copy");
        let direct = fs::canonicalize(&copy).await.expect("found");
        assert_eq!(fs::canonicalize(roundabout).await.expect("found"), direct);
    });
}

#[test]
fn directories_are_made_and_removed() {
    on_both(|| async {
        let dir = temp_dir();
        let deep = dir.path().join("a/b/c");
        assert_eq!(fs::create_dir(&deep).await.expect_err("no a/b").kind(), ErrorKind::NotFound);
        fs::create_dir_all(&deep).await.expect("made");
        fs::create_dir_all(&deep).await.expect("there already");
        fs::remove_dir(&deep).await.expect("removed");
        fs::create_dir(&deep).await.expect("made");
        assert_eq!(
            fs::remove_dir(dir.path().join("a")).await.expect_err("not empty").kind(),
            ErrorKind::DirectoryNotEmpty
        );
        fs::remove_dir_all(dir.path().join("a")).await.expect("removed");
        assert!(!fs::try_exists(dir.path().join("a")).await.expect("known"));

        let mut builder = fs::DirBuilder::new();
        builder.mode(0o711);
        assert_eq!(builder.create(&deep).await.expect_err("no a/b").kind(), ErrorKind::NotFound);
        builder.recursive(true).create(&deep).await.expect("made");
        // Some umasks remove a part of it.
        let of_std = dir.path().join("std");
        std::fs::DirBuilder::new().mode(0o711).create(&of_std).expect("made");
        let mode = |path| std::fs::metadata(path).expect("there").permissions().mode();
        assert_eq!(mode(&deep), mode(&of_std));
    });
}

#[test]
fn entries_are_listed_once_each() {
    on_both(|| async {
        let dir = temp_dir();
        for n in 0..3_000 {
            std::fs::File::create(dir.path().join(format!("{n}"))).expect("made");
        }
        std::fs::create_dir(dir.path().join("directory")).expect("made");
        let mut entries = fs::read_dir(dir.path()).await.expect("a directory");
        let mut names = Vec::new();
        while let Some(entry) = entries.next_entry().await.expect("an entry") {
            let name = entry.file_name().into_string().expect("of ASCII");
            assert_eq!(entry.path(), dir.path().join(&name));
            assert_eq!(entry.file_type().await.expect("known").is_dir(), name == "directory");
            if name.ends_with("99") {
                let metadata = entry.metadata().await.expect("there");
                assert_eq!(metadata.ino(), entry.ino());
                assert!(metadata.is_file());
            }
            names.push(name);
        }
        assert!(entries.next_entry().await.expect("the end stays").is_none());
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 3_001);
        assert_eq!(fs::read_dir(dir.path().join("0")).await.expect_err("a file").kind(), ErrorKind::NotADirectory);
    });
}

#[test]
fn a_listing_that_is_cancelled_goes_on() {
    on_both(|| async {
        let dir = temp_dir();
        for n in 0..2_000 {
            std::fs::File::create(dir.path().join(format!("{n}"))).expect("made");
        }
        let mut entries = fs::read_dir(dir.path()).await.expect("a directory");
        let mut listed = 0;
        loop {
            // Polled once and dropped.
            match entries.next_entry().now_or_never() {
                Some(Ok(Some(_))) => listed += 1,
                Some(Ok(None)) => break,
                Some(Err(error)) => panic!("{error}"),
                None => gmp_exec::task::yield_now().await,
            }
        }
        assert_eq!(listed, 2_000);
    });
}

#[test]
fn no_io_has_to_be_enabled() {
    let runtimes = [Builder::new_multi_thread().worker_threads(1).build(), Builder::new_current_thread().build()];
    for runtime in runtimes {
        runtime.expect("a runtime").block_on(async {
            let dir = temp_dir();
            let (path, contents) = patterned(dir.path(), 10);
            assert_eq!(fs::read(&path).await.expect("read"), contents);
            fs::remove_file(&path).await.expect("removed");
        });
    }
}

#[test]
fn a_runtime_is_needed_even_for_what_is_in_memory() {
    let dir = temp_dir();
    let (path, _) = patterned(dir.path(), 10);
    let panic_of = |poll: &mut dyn FnMut()| {
        let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(poll)).expect_err("no runtime");
        payload.downcast_ref::<String>().expect("a message").clone()
    };
    let without_runtime: [&mut dyn FnMut(); 5] = [
        &mut || drop(fs::read(&path).now_or_never()),
        &mut || drop(fs::metadata(&path).now_or_never()),
        &mut || drop(fs::File::open(&path).now_or_never()),
        &mut || drop(fs::remove_file(&path).now_or_never()),
        &mut || drop(fs::read_dir(dir.path()).now_or_never()),
    ];
    for poll in without_runtime {
        assert_eq!(
            panic_of(poll),
            "there is no reactor running, must be called from the context of a Tokio 1.x runtime"
        );
    }
}

#[test]
fn a_runtime_that_has_ended_is_an_error() {
    let runtime = Builder::new_multi_thread().worker_threads(1).build().expect("a runtime");
    let handle = runtime.handle().clone();
    drop(runtime);
    let _guard = handle.enter();
    let error = futures::executor::block_on(fs::canonicalize("/")).expect_err("too late");
    assert_eq!(error.to_string(), "background task failed");
}

#[test]
fn many_tasks_read_and_write_their_own_files() {
    on_both(|| async {
        let dir = temp_dir();
        let tasks: Vec<_> = (0..64)
            .map(|n: usize| {
                let path = dir.path().join(format!("{n}"));
                gmp_exec::spawn(async move {
                    for round in 0..20 {
                        let contents = vec![n as u8; n * 100 + round];
                        fs::write(&path, &contents).await.expect("written");
                        assert_eq!(fs::read(&path).await.expect("read"), contents);
                        assert_eq!(fs::metadata(&path).await.expect("there").len(), contents.len() as u64);
                    }
                })
            })
            .collect();
        for task in tasks {
            within_deadline(task).await.expect("no panic");
        }
    });
}
