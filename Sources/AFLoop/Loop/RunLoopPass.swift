import CAFLinux

/// The run loop of Foundation's that runs on this thread, if one does, has handled input: `run(mode:before:)` returns.
///
/// Timers do not do that by themselves, and nothing that does can be had from Foundation on Linux.
package func endRunLoopPass() {
    caf_end_run_loop_pass()
}
