//! Protobuf's encoding: fields in sequence, each with a number and a type.

/// A message that grows.
#[derive(Debug, Default)]
pub(super) struct Message(Vec<u8>);

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const BYTES: u32 = 2;

impl Message {
    pub(super) fn uint(&mut self, field: u32, value: u64) -> &mut Message {
        self.tag(field, VARINT);
        self.varint(value);
        self
    }

    pub(super) fn fixed(&mut self, field: u32, value: u64) -> &mut Message {
        self.tag(field, FIXED64);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(super) fn text(&mut self, field: u32, text: &str) -> &mut Message {
        self.bytes(field, text.as_bytes())
    }

    /// A message inside this one.
    pub(super) fn message(&mut self, field: u32, fill: impl FnOnce(&mut Message)) -> &mut Message {
        let mut inner = Message::default();
        fill(&mut inner);
        self.bytes(field, &inner.0)
    }

    /// The fields of another message.
    pub(super) fn append(&mut self, other: &Message) {
        self.0.extend(&other.0);
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn bytes(&mut self, field: u32, bytes: &[u8]) -> &mut Message {
        self.tag(field, BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    fn tag(&mut self, field: u32, kind: u32) {
        self.varint(u64::from(field << 3 | kind));
    }

    /// Seven bits a byte, the lowest first; the eighth says that more follow.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of protobuf's own description.
    #[test]
    fn fields_are_encoded_as_described() {
        let mut message = Message::default();
        message.uint(1, 150);
        assert_eq!(message.as_bytes(), [0x08, 0x96, 0x01]);
        let mut message = Message::default();
        message.text(2, "testing");
        assert_eq!(message.as_bytes(), b"\x12\x07testing");
        let mut message = Message::default();
        message.message(3, |inner| {
            inner.uint(1, 150);
        });
        assert_eq!(message.as_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
    }

    #[test]
    fn large_numbers_have_all_their_bits() {
        let mut message = Message::default();
        message.uint(16, u64::MAX).fixed(1, 1 << 63);
        let expected = [0x80, 0x01, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0x09, 0, 0, 0, 0, 0, 0, 0, 0x80];
        assert_eq!(message.as_bytes(), expected);
    }
}
