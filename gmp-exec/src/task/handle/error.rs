//! Why a task has no output: it panicked, or it was cancelled.

use std::any::Any;
use std::{fmt, io};

use crate::task::Id;

/// The error that a [`JoinHandle`](crate::task::JoinHandle) returns when its task has no output.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// let error = gmp_exec::spawn(async { panic!("boom") }).await.unwrap_err();
/// assert!(error.is_panic());
/// # });
/// ```
pub struct JoinError {
    /// In a box, because every task has room for an error, and every output passes through a
    /// `Result`: with a single pointer as error, the outcome of a task without output fits into two
    /// registers. So a task that is aborted allocates its error.
    failure: Box<Failure>,
}

struct Failure {
    id: Id,
    reason: Reason,
}

enum Reason {
    Cancelled,
    Panicked(Payload),
}

/// A panic's payload. The mutex makes it `Sync`; no code locks it for long.
struct Payload(std::sync::Mutex<Box<dyn Any + Send + 'static>>);

impl JoinError {
    fn new(id: Id, reason: Reason) -> JoinError {
        JoinError { failure: Box::new(Failure { id, reason }) }
    }

    pub(crate) fn cancelled(id: Id) -> JoinError {
        JoinError::new(id, Reason::Cancelled)
    }

    pub(crate) fn panicked(id: Id, payload: Box<dyn Any + Send + 'static>) -> JoinError {
        JoinError::new(id, Reason::Panicked(Payload(std::sync::Mutex::new(payload))))
    }

    /// Returns whether the task was cancelled, by [`JoinHandle::abort`](crate::task::JoinHandle::abort)
    /// or because the runtime shut down.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let task = gmp_exec::spawn(std::future::pending::<()>());
    /// task.abort();
    /// assert!(task.await.unwrap_err().is_cancelled());
    /// # });
    /// ```
    pub fn is_cancelled(&self) -> bool {
        matches!(self.failure.reason, Reason::Cancelled)
    }

    /// Returns whether the task panicked.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let error = gmp_exec::spawn(async { panic!("boom") }).await.unwrap_err();
    /// assert!(error.is_panic() && !error.is_cancelled());
    /// # });
    /// ```
    pub fn is_panic(&self) -> bool {
        matches!(self.failure.reason, Reason::Panicked(_))
    }

    /// Returns what the task panicked with.
    ///
    /// # Panics
    ///
    /// Panics if the task did not panic but was cancelled; see
    /// [`try_into_panic`](Self::try_into_panic).
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let error = gmp_exec::spawn(async { panic!("boom") }).await.unwrap_err();
    /// // `std::panic::resume_unwind` would let the panic go on here.
    /// assert_eq!(error.into_panic().downcast_ref(), Some(&"boom"));
    /// # });
    /// ```
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send + 'static> {
        self.try_into_panic().expect("`JoinError` reason is not a panic.")
    }

    /// Returns what the task panicked with.
    ///
    /// # Errors
    ///
    /// Returns the error unchanged if the task did not panic.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let task = gmp_exec::spawn(std::future::pending::<()>());
    /// task.abort();
    /// let error = task.await.unwrap_err().try_into_panic().unwrap_err();
    /// assert!(error.is_cancelled());
    /// # });
    /// ```
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send + 'static>, JoinError> {
        let Failure { id, reason } = *self.failure;
        match reason {
            Reason::Panicked(payload) => Ok(payload.0.into_inner().unwrap_or_else(|p| p.into_inner())),
            Reason::Cancelled => Err(JoinError::cancelled(id)),
        }
    }

    /// Returns the id of the task that failed.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let task = gmp_exec::spawn(async { panic!("boom") });
    /// let id = task.id();
    /// assert_eq!(task.await.unwrap_err().id(), id);
    /// # });
    /// ```
    pub fn id(&self) -> Id {
        self.failure.id
    }
}

impl Payload {
    /// The message, if the payload is one of the two types that `panic!` makes.
    fn message(&self) -> Option<String> {
        let payload = self.0.lock().unwrap_or_else(|p| p.into_inner());
        let text = payload.downcast_ref::<&'static str>().copied();
        text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).map(str::to_owned)
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.failure.reason {
            Reason::Cancelled => write!(f, "task {} was cancelled", self.failure.id),
            Reason::Panicked(payload) => match payload.message() {
                Some(message) => write!(f, "task {} panicked with message {message:?}", self.failure.id),
                None => write!(f, "task {} panicked", self.failure.id),
            },
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.failure.reason {
            Reason::Cancelled => write!(f, "JoinError::Cancelled({:?})", self.failure.id),
            Reason::Panicked(payload) => match payload.message() {
                Some(message) => write!(f, "JoinError::Panic({:?}, {message:?}, ...)", self.failure.id),
                None => write!(f, "JoinError::Panic({:?}, ...)", self.failure.id),
            },
        }
    }
}

impl std::error::Error for JoinError {}

impl From<JoinError> for io::Error {
    fn from(error: JoinError) -> io::Error {
        io::Error::other(match error.failure.reason {
            Reason::Cancelled => "task was cancelled",
            Reason::Panicked(_) => "task panicked",
        })
    }
}
