//! Accepted writes are visible to the operations that follow, even without a flush.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use gmp_io::fs::{self, File, OpenOptions};
use gmp_io::process::Command;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::fs_support::{fifo, reads_in_place, temp_dir};
use crate::support::{in_child, on_both, within_deadline};

/// Makes a file that has accepted five bytes.
async fn unflushed(path: &Path) -> File {
    let mut file = File::create(path).await.expect("made");
    file.write_all(b"bytes").await.expect("accepted");
    file
}

/// Runs `is_stale` with many paths of new files, and counts. Where files can't be distinguished
/// without blocking, nothing is promised.
async fn never(is_stale: impl AsyncFn(&Path) -> bool) {
    let dir = temp_dir();
    let mut stale = 0;
    for n in 0..100 {
        stale += usize::from(is_stale(&dir.path().join(n.to_string())).await);
    }
    let known: PathBuf = dir.path().join("known");
    std::fs::write(&known, "known").expect("written");
    assert!(stale == 0 || !reads_in_place(&known), "{stale} of 100");
}

#[test]
fn a_dropped_file_is_read_by_its_name() {
    on_both(|| {
        never(async |path| {
            drop(unflushed(path).await);
            fs::read(path).await.expect("read") != b"bytes"
        })
    });
    on_both(|| {
        never(async |path| {
            drop(unflushed(path).await);
            let mut text = String::new();
            File::open(path).await.expect("opened").read_to_string(&mut text).await.expect("read");
            text != "bytes"
        })
    });
    on_both(|| {
        never(async |path| {
            drop(unflushed(path).await);
            let copy = path.with_extension("copy");
            fs::copy(path, copy).await.expect("copied") != 5
        })
    });
}

/// The system refuses to start a file that is open for writing. In a process of its own: a child of another
/// test has all descriptors for a moment, also one for writing.
#[test]
fn a_script_that_was_written_without_a_flush_can_be_started() {
    in_child("fs_pending_writes::a_script_that_was_written_without_a_flush_can_be_started", || {
        on_both(|| {
            never(async |path| {
                let mut file = File::create(path).await.expect("made");
                file.write_all(b"#!/bin/sh\n").await.expect("accepted");
                drop(file);
                fs::set_permissions(path, Permissions::from_mode(0o755)).await.expect("set");
                Command::new(path).status().await.is_err()
            })
        });
    });
}

#[test]
fn its_size_is_right() {
    on_both(|| never(async |path| unflushed(path).await.metadata().await.expect("there").len() != 5));
    on_both(|| {
        never(async |path| {
            let _file = unflushed(path).await;
            fs::metadata(path).await.expect("there").len() != 5
        })
    });
    on_both(|| {
        never(async |path| {
            drop(unflushed(path).await);
            fs::symlink_metadata(path).await.expect("there").len() != 5
        })
    });
    on_both(|| {
        never(async |path| {
            drop(unflushed(path).await);
            let mut entries = fs::read_dir(path.parent().expect("a directory")).await.expect("there");
            loop {
                let entry = entries.next_entry().await.expect("read").expect("it is in there");
                if entry.path() == path {
                    return entry.metadata().await.expect("there").len() != 5;
                }
            }
        })
    });
}

#[test]
fn other_handles_read_it() {
    on_both(|| {
        never(async |path| {
            let mut writer = File::create(path).await.expect("made");
            let mut reader = File::open(path).await.expect("opened");
            writer.write_all(b"bytes").await.expect("accepted");
            let mut text = String::new();
            reader.read_to_string(&mut text).await.expect("read");
            text != "bytes"
        })
    });
}

/// Otherwise the first write would come last.
#[test]
fn what_is_written_by_name_afterwards_comes_afterwards() {
    on_both(|| {
        never(async |path| {
            drop(unflushed(path).await);
            fs::write(path, "later").await.expect("written");
            std::fs::read(path).expect("read") != b"later"
        })
    });
    on_both(|| {
        never(async |path| {
            drop(unflushed(path).await);
            let mut file = OpenOptions::new().append(true).open(path).await.expect("opened");
            file.write_all(b" and more").await.expect("accepted");
            file.flush().await.expect("written");
            std::fs::read(path).expect("read") != b"bytes and more"
        })
    });
}

/// A pipe may stay full. Asking about it, or about any other file, must not wait for that.
#[test]
fn a_write_to_a_full_pipe_is_not_waited_for() {
    on_both(|| async {
        let dir: TempDir = temp_dir();
        let path = fifo(dir.path());
        let mut reader = OpenOptions::new().read(true).write(true).open(&path).await.expect("opened");
        let mut writer = OpenOptions::new().write(true).open(&path).await.expect("opened");
        let contents = vec![7; 1 << 20];
        writer.write_all(&contents).await.expect("accepted");
        within_deadline(async {
            assert!(!writer.metadata().await.expect("there").is_file());
            assert!(!fs::metadata(&path).await.expect("there").is_file());
            assert!(fs::metadata(dir.path()).await.expect("there").is_dir());
            let file = unflushed(&dir.path().join("file")).await;
            file.sync_all().await.expect("written");
        })
        .await;
        let mut read = vec![0; contents.len()];
        reader.read_exact(&mut read).await.expect("read");
        assert!(read == contents);
        writer.flush().await.expect("written");
    });
}
