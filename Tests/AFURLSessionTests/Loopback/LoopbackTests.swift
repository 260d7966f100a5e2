/// Whole sessions against a real server on the loopback interface.
enum LoopbackTests {}

extension LoopbackTests {
    /// What changes or measures the whole process. Each test runs in a process of its
    /// own; one at a time, so that two cores are enough for what they measure.
    @Suite(.serialized) struct Alone {}
}
