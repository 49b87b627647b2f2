//! What the first runtime of a process finds prepared.

use rustix::thread::{MembarrierCommand, MembarrierQuery, membarrier, membarrier_query};

use crate::support::in_child;

/// In a process with several threads, as this one, registering takes tens of milliseconds. The
/// kernel refuses the barrier to a process that has not registered.
#[test]
fn a_program_has_registered_for_barriers_before_its_first_runtime() {
    in_child("first_runtime::a_program_has_registered_for_barriers_before_its_first_runtime", || {
        if membarrier_query().contains(MembarrierQuery::PRIVATE_EXPEDITED) {
            assert_eq!(membarrier(MembarrierCommand::PrivateExpedited), Ok(()));
        }
    });
}
