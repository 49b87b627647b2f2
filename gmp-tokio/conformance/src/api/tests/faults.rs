//! `tokio.rs` with differences: everything that `faults.txt` names is different.
use std::fmt::Debug;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;

pub mod one {
    #[derive(Debug)]
    pub struct Error(());
}
pub mod two {
    #[derive(Debug)]
    pub struct Error(());
}

pub fn argument(a: u64) {}
pub fn output() -> u8 {
    0
}
pub fn error() -> Result<(), two::Error> {
    Ok(())
}
pub fn bound<T: Send + Sync>(t: T) {}
pub fn generics<U: Debug, T: Debug>(t: T, u: U) {}
pub fn hidden_generic(t: impl Debug) {}
pub fn lifetimes<'a, 'b>(a: &'a str, b: &'b str) -> &'b str {
    b
}
pub fn elided(a: &str) -> &'static str {
    ""
}
pub fn wait(a: &str) -> u32 {
    0
}
pub fn constant() {}
pub unsafe fn safe() {}
pub fn added() {}
pub fn closure<F>(f: F)
where
    F: for<'x> Fn(&'x str) -> &'static str + Send + 'static,
{
}
pub type Alias<T> = Result<T, two::Error>;

#[macro_export]
macro_rules! rule {
    () => {};
}

/// It is `Unpin` only if `T` is.
pub struct Set<T>(T);

impl<T> Set<T> {
    pub fn new() -> Set<T> {
        loop {}
    }
    pub fn shared(&mut self) {}
    pub fn first(&self, other: &'static str) -> &T {
        &self.0 
    }
    pub fn pinned(self: Pin<&mut Self>) -> Option<&mut T> {
        None
    }
}

impl<T: 'static + Debug> Set<T> {
    pub fn spawn<F>(&mut self, f: F)
    where
        F: Future<Output = T> + Send + 'static,
        T: Send + Sync,
    {
    }
    pub fn loose(&self) {}
}

impl Set<i8> {
    pub const MOST: usize = 1;
    pub fn bytes(&self) {}
}

impl<T> Drop for Set<T> {
    fn drop(&mut self) {}
}

impl<T> Iterator for Set<T> {
    type Item = u8;
    fn next(&mut self) -> Option<u8> {
        None
    }
}

pub struct Sendable(*const ());
pub struct Thread(PhantomData<*const ()>);
pub struct Growing {
    pub a: u32,
}
pub struct Fields {
    pub a: u32,
    b: u32,
}
#[derive(Clone, Debug)]
pub enum Variants {
    B(u32),
}

pub trait Super {}

pub trait Trait<T>: Super + Send {
    type Type: Sync;
    fn required(&self, t: T) {}
    fn provided<'a>(&'a mut self, other: &'a mut u8) -> Pin<&'a mut Self>
    where
        Self: Sized + Unpin + Send,
    {
        Pin::new(self)
    }
}

impl Super for str {}

pub struct Borrowed<'a, T: ?Sized>(&'a T);
impl<'a, T: ?Sized> Borrowed<'a, T> {
    pub fn get(&self) -> &T {
        self.0
    }
}
