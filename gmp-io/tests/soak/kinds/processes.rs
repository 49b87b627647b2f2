//! Child processes that end by themselves, are killed, are talked to, or are forgotten.

use std::io;
use std::process::Stdio;

use gmp_exec::time::{sleep, timeout};
use gmp_io::process::Command;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{same, wrong};
use crate::dice::Dice;

pub(super) async fn turn(mut dice: Dice) -> io::Result<()> {
    match dice.below(6) {
        0 => exit_code(&mut dice).await,
        1 => talk(&mut dice).await,
        2 => kill(&mut dice).await,
        3 => kill_by_dropping(&mut dice).await,
        4 => give_up_waiting(&mut dice).await,
        // Whoever drops a child has no more to do with it; the runtime waits for its end.
        _ => Command::new("true").spawn().map(drop),
    }
}

async fn exit_code(dice: &mut Dice) -> io::Result<()> {
    let code = dice.below(100) as i32;
    let output = Command::new("sh").args(["-c", &format!("echo {code}; exit {code}")]).output().await?;
    same(format!("{code}\n").as_bytes(), &output.stdout)?;
    if output.status.code() == Some(code) { Ok(()) } else { Err(wrong("a child's exit code is another one's")) }
}

async fn talk(dice: &mut Dice) -> io::Result<()> {
    let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().expect("a pipe was asked for");
    let mut stdout = child.stdout.take().expect("a pipe was asked for");
    // No more than a pipe holds: nothing is read before all is written.
    let message = dice.bytes(16 * 1024);
    stdin.write_all(&message).await?;
    drop(stdin);
    let mut answer = Vec::new();
    stdout.read_to_end(&mut answer).await?;
    child.wait().await?;
    same(&message, &answer)
}

async fn kill(dice: &mut Dice) -> io::Result<()> {
    let mut child = endless().spawn()?;
    sleep(dice.millis_below(5)).await;
    child.kill().await
}

async fn kill_by_dropping(dice: &mut Dice) -> io::Result<()> {
    let child = endless().kill_on_drop(true).spawn()?;
    sleep(dice.millis_below(5)).await;
    drop(child);
    Ok(())
}

async fn give_up_waiting(dice: &mut Dice) -> io::Result<()> {
    let mut child = endless().kill_on_drop(true).spawn()?;
    match timeout(dice.millis_below(5), child.wait()).await {
        Err(_) => Ok(()),
        Ok(Ok(status)) => Err(io::Error::other(format!("an endless child ended: {status}"))),
        Ok(Err(error)) => Err(error),
    }
}

fn endless() -> Command {
    let mut command = Command::new("sleep");
    command.arg("1000000");
    command
}
