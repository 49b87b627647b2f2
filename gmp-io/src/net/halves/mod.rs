//! The halves of a split stream.
//!
//! TCP and Unix streams have halves of the same names and with the same methods, but of different types, one family in
//! each module. Macros and not one generic family: a program names `tcp::ReuniteError(read, write)` in patterns, which an
//! alias of a generic type doesn't allow. Each family is told the stream's type and that of its addresses.

mod borrowed;
mod methods;
mod owned;

pub(super) use borrowed::borrowed_halves;
pub(super) use methods::{either_half, reading_half, writing_half};
pub(super) use owned::owned_halves;
