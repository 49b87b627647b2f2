//! The packets of a file, one at a time: a file may be larger than the memory.

use std::io::{self, BufRead, BufReader, Read};

/// A packet with more bytes is damaged: the recorder writes a few hundred, and for names a few
/// million.
const MOST: u64 = 1 << 30;

pub(super) struct Packets<R> {
    file: BufReader<R>,
    packet: Vec<u8>,
    /// Where the next packet begins.
    at: u64,
}

/// Why there is no more packet.
#[derive(Debug)]
pub(super) enum End {
    /// The file ends there.
    File,
    /// The file ends inside a packet.
    CutOff,
    /// What follows is no packet.
    Damaged,
    Error(io::Error),
}

impl<R: Read> Packets<R> {
    pub(super) fn new(file: R) -> Packets<R> {
        Packets { file: BufReader::with_capacity(1 << 16, file), packet: Vec::new(), at: 0 }
    }

    /// Where the next packet begins, in bytes.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    pub(super) fn next(&mut self) -> Result<&[u8], End> {
        if self.file.fill_buf().map_err(End::Error)?.is_empty() {
            return Err(End::File);
        }
        // Field 1, which is a message.
        if self.byte()? != 1 << 3 | 2 {
            return Err(End::Damaged);
        }
        let (length, bytes_of_length) = self.length()?;
        self.packet.clear();
        let read = (&mut self.file).take(length).read_to_end(&mut self.packet).map_err(End::Error)?;
        if read as u64 != length {
            return Err(End::CutOff);
        }
        self.at += 1 + bytes_of_length + length;
        Ok(&self.packet)
    }

    fn length(&mut self) -> Result<(u64, u64), End> {
        let mut length = 0;
        for number in 0..5 {
            let byte = self.byte()?;
            length |= u64::from(byte & 0x7f) << (7 * number);
            if byte < 0x80 && length <= MOST {
                return Ok((length, number + 1));
            }
        }
        Err(End::Damaged)
    }

    fn byte(&mut self) -> Result<u8, End> {
        let byte = self.file.fill_buf().map_err(End::Error)?.first().copied().ok_or(End::CutOff)?;
        self.file.consume(1);
        Ok(byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (Vec<Vec<u8>>, u64, End) {
        let mut packets = Packets::new(bytes);
        let mut read = Vec::new();
        loop {
            match packets.next() {
                Ok(packet) => read.push(packet.to_vec()),
                Err(end) => return (read, packets.at(), end),
            }
        }
    }

    #[test]
    fn packets_are_read_until_the_file_ends_or_is_cut_off_or_damaged() {
        let (packets, at, end) = read(b"\x0a\x02hi\x0a\x00");
        assert!(matches!(end, End::File) && packets == [b"hi".to_vec(), vec![]] && at == 6);
        for (rest, is_cut_off) in [("\x0a", true), ("\x0a\x05abcd", true), ("\x12\x00", false), ("{}", false)] {
            let (packets, at, end) = read(&[b"\x0a\x02hi", rest.as_bytes()].concat());
            assert_eq!((packets.len(), at), (1, 4), "{rest:?}");
            assert_eq!((matches!(end, End::CutOff), matches!(end, End::Damaged)), (is_cut_off, !is_cut_off));
        }
        let (_, at, end) = read(&[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff]);
        assert!(matches!(end, End::Damaged) && at == 0);
    }
}
