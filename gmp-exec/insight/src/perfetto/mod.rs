//! Perfetto's format: a sequence of protobuf packets with "track events".

mod acquisitions;
mod encoder;
mod event;
mod follower;
mod item;
mod items;
mod snapshot;
mod timeline;
mod wire;

pub use self::encoder::{write, write_part};
pub use self::event::{Event, Left, Timed};
pub use self::snapshot::{Gone, Names, Place, Ring, Sight, Snapshot, Source};
pub use self::timeline::Carried;
