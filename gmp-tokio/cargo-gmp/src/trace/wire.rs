//! Protobuf's encoding, as far as traces need it.

use anyhow::{Context, Result, bail};

use crate::escaped::escaped;

/// One field of a message.
pub(super) struct Field<'a> {
    pub(super) number: u64,
    pub(super) value: Value<'a>,
}

pub(super) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    pub(super) fn number(&self) -> u64 {
        match self {
            Value::Number(number) => *number,
            Value::Bytes(_) => 0,
        }
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        match self {
            Value::Number(_) => &[],
            Value::Bytes(bytes) => bytes,
        }
    }

    /// Without control characters.
    pub(super) fn text(&self) -> String {
        escaped(&String::from_utf8_lossy(self.bytes()))
    }
}

/// The fields of a message, in order.
pub(super) fn fields(mut message: &[u8]) -> impl Iterator<Item = Result<Field<'_>>> {
    std::iter::from_fn(move || {
        if message.is_empty() {
            return None;
        }
        let field = next(&mut message);
        if field.is_err() {
            message = &[];
        }
        Some(field)
    })
}

fn next<'a>(message: &mut &'a [u8]) -> Result<Field<'a>> {
    let tag = varint(message)?;
    let value = match tag & 7 {
        0 => Value::Number(varint(message)?),
        1 => Value::Number(u64::from_le_bytes(take(message, 8)?.try_into()?)),
        2 => {
            let length = varint(message)?;
            Value::Bytes(take(message, length)?)
        }
        5 => Value::Number(u32::from_le_bytes(take(message, 4)?.try_into()?).into()),
        other => bail!("a field of type {other}"),
    };
    Ok(Field { number: tag >> 3, value })
}

fn varint(message: &mut &[u8]) -> Result<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(message, 1)?[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    bail!("a number of more than ten bytes")
}

fn take<'a>(message: &mut &'a [u8], length: u64) -> Result<&'a [u8]> {
    let length = usize::try_from(length)?;
    let (taken, rest) = message.split_at_checked(length).context("the file is cut off")?;
    *message = rest;
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read() {
        let message = [0x08, 0x96, 0x01, 0x12, 2, b'h', b'i', 0x19, 1, 0, 0, 0, 0, 0, 0, 0x80];
        let read: Vec<_> = fields(&message).map(Result::unwrap).collect();
        assert_eq!((read[0].number, read[0].value.number()), (1, 150));
        assert_eq!((read[1].number, read[1].value.text()), (2, "hi".to_owned()));
        assert_eq!((read[2].number, read[2].value.number()), (3, 1 << 63 | 1));
    }

    #[test]
    fn what_is_cut_off_is_an_error() {
        for message in [&[0x08][..], &[0x08, 0x80], &[0x12, 5, b'h'], &[0x19, 1], &[0x0b], &[0x08; 1][..]] {
            assert!(fields(message).any(|field| field.is_err()), "{message:?}");
        }
        let endless = [&[0x08][..], &[0xff; 11]].concat();
        assert!(fields(&endless).any(|field| field.is_err()));
    }
}
