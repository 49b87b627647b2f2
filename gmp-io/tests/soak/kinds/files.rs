//! Files written, read and removed, and FIFOs given up on.

use std::io::{self, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gmp_exec::spawn;
use gmp_exec::time::{sleep, timeout};
use gmp_io::fs::{self, File, OpenOptions};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

use super::{same, wrong};
use crate::dice::Dice;
use crate::world::World;

pub(super) async fn turn(mut dice: Dice, world: Arc<World>) -> io::Result<()> {
    let path = world.new_path();
    match dice.below(4) {
        0 => whole(&mut dice, &path).await?,
        1 => in_pieces(&mut dice, &path).await?,
        2 => drop_while_writing(&mut dice, &path).await?,
        _ => return give_a_fifo_up(&mut dice, &path).await,
    }
    fs::remove_file(&path).await
}

async fn whole(dice: &mut Dice, path: &Path) -> io::Result<()> {
    let content = dice.bytes(64 * 1024);
    fs::write(path, &content).await?;
    if fs::metadata(path).await?.len() != content.len() as u64 {
        return Err(wrong("a file has another length than was written"));
    }
    same(&content, &fs::read(path).await?)
}

async fn in_pieces(dice: &mut Dice, path: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).write(true).create_new(true).open(path).await?;
    let content = dice.bytes(64 * 1024);
    let (start, end) = content.split_at(dice.below(content.len() as u64) as usize);
    file.write_all(start).await?;
    file.write_all(end).await?;
    file.flush().await?;
    file.seek(SeekFrom::Start(start.len() as u64)).await?;
    let mut read = Vec::new();
    file.read_to_end(&mut read).await?;
    same(end, &read)
}

/// A task is aborted between two writes, or in one.
async fn drop_while_writing(dice: &mut Dice, path: &Path) -> io::Result<()> {
    let mut file = File::create(path).await?;
    let writer = spawn(async move {
        for _ in 0..100 {
            file.write_all(&[1; 16 * 1024]).await?;
        }
        file.flush().await
    });
    sleep(dice.millis_below(2)).await;
    writer.abort();
    match writer.await {
        Ok(result) => result,
        Err(error) if error.is_cancelled() => Ok(()),
        Err(error) => Err(io::Error::other(error)),
    }
}

/// Nobody writes to it, so reading it waits in the kernel. A writer that comes and goes frees the
/// thread that does; the path is gone before the writer is, or a reader that is late would wait for
/// ever.
async fn give_a_fifo_up(dice: &mut Dice, path: &Path) -> io::Result<()> {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    if timeout(dice.millis_below(5), fs::read(path)).await.is_ok() {
        return Err(wrong("a FIFO that nobody writes to was read"));
    }
    // As reader and writer: opening it as a writer alone fails while there is no reader yet.
    let writer = open(path, OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    fs::remove_file(path).await?;
    sleep(Duration::from_millis(10)).await;
    drop(writer);
    Ok(())
}
