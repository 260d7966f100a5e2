import AFBase
import CAFLinux

/// Answers some system calls in the place of the kernel, and notes them all. There is one hook for all of them, so this
/// is for a process of the test's own.
enum PlayedKernel {
    struct Call: Equatable {
        let kind: caf_call
        let descriptor: Int32
        let length: Int
    }

    private struct State {
        var answers: [(kind: caf_call, result: Int)] = []
        var longest = Int.max
        var calls: [Call] = []
    }

    private static let state = Lock(State())

    /// Each call takes the first answer for its kind that is left: an error number, or minus what is done. Without one it
    /// is made, and moves no more than `longest` bytes.
    static func play<Result>(
        _ answers: [(caf_call, Int32)] = [],
        longest: Int = .max,
        _ body: () -> Result
    ) -> (result: Result, calls: [Call]) {
        state.withLock { $0 = State(answers: answers.map { (kind: $0.0, result: -Int($0.1)) }, longest: longest) }
        caf_set_hook { call in
            guard let call else { return false }
            return PlayedKernel.state.withLock { state in
                let made = call.pointee
                state.calls.append(Call(kind: made.call, descriptor: made.descriptor, length: made.length))
                call.pointee.length = min(made.length, state.longest)
                guard let index = state.answers.firstIndex(where: { $0.kind == made.call }) else { return false }
                call.pointee.result = state.answers.remove(at: index).result
                return true
            }
        }
        defer { caf_set_hook(nil) }
        let result = body()
        return (result, state.withLock(\.calls))
    }

    /// What comes of calls of one kind that fail with these codes, one after the other. `EPERM` is -1, next to success.
    static func refuse<Result>(_ kind: caf_call, _ codes: Int32..., body: () -> Result) -> Result {
        play(codes.map { (kind, $0) }, body).result
    }
}
