#if DEBUG
    import Dispatch
    import Foundation
    import Glibc
    import Testing

    @testable import AFNetworking

    /// What programmers are told whose main queue no thread serves.
    @Suite struct BlockedMainQueueTests {
        /// A warning whose time is up when the test says so.
        private final class Watched: Sendable {
            let checks = Heard<@Sendable () -> Void>()
            let texts = Heard<String>()
            let warning: BlockedMainQueueWarning

            init() {
                warning = BlockedMainQueueWarning { [checks] in
                    checks.add($0)
                } say: { [texts] in
                    texts.add($0)
                }
            }
        }

        @Test func `a completion handler that waits too long is told of, once`() {
            let watched = Watched()
            // The checks hold the warning, which holds them.
            defer { watched.checks.removeAll() }
            watched.warning.willCall()
            watched.warning.willCall()
            #expect(watched.checks.all.count == 1 && watched.texts.all.isEmpty)

            watched.checks.all[0]()
            watched.warning.willCall()

            #expect(watched.texts.all.count == 1 && watched.checks.all.count == 1)
            for word in ["completionQueue", "async", "dispatchMain()"] {
                #expect(watched.texts.all[0].contains(word))
            }
        }

        @Test func `a main queue that has called once is not warned about again`() {
            let watched = Watched()
            // The checks hold the warning, which holds them.
            defer { watched.checks.removeAll() }
            watched.warning.willCall()
            watched.warning.calls()
            watched.checks.all[0]()
            watched.warning.willCall()

            #expect(watched.texts.all.isEmpty && watched.checks.all.count == 1)
        }

        /// What is written to standard error first while the main queue is blocked.
        private static func firstWords(_ body: () -> Void) -> String {
            let pipe = Pipe()
            let original = dup(STDERR_FILENO)
            dup2(pipe.fileHandleForWriting.fileDescriptor, STDERR_FILENO)
            // The pipe has no reader any more.
            defer { dup2(original, STDERR_FILENO) }
            DispatchQueue.main.async { while true { pause() } }
            body()
            return String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
        }

        @Test func `a manager in a program that blocks its main thread warns on standard error`() async {
            await #expect(processExitsWith: .success) {
                let words = BlockedMainQueueTests.firstWords {
                    // Fails without a task.
                    HTTPSessionManager().get("http://[", parameters: nil, success: nil, failure: { _, _ in })
                }

                #expect(words.hasPrefix("AFNetworking: ") && words.contains("completionQueue"), "\(words)")
            }
        }

        @Test func `an operation in a program that blocks its main thread warns on standard error`() async {
            await #expect(processExitsWith: .success) {
                let operation = HTTPRequestOperation(request: URLRequest(url: URL(fileURLWithPath: "/")))
                operation.setCompletionBlock { _, _ in
                } failure: { _, _ in
                }
                operation.cancel()
                let words = BlockedMainQueueTests.firstWords { operation.start() }

                #expect(words.hasPrefix("AFNetworking: ") && words.contains("completionQueue"), "\(words)")
            }
        }
    }
#endif
