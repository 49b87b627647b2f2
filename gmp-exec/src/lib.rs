//! The executor: tasks, processors, machines, timers, blocking sections.
