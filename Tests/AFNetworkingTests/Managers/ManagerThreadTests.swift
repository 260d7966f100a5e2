import Dispatch
import Synchronization

@testable import AFNetworking

/// Settings that two threads change at once. Either may come first; each round is one more attempt.
@Suite struct ManagerThreadTests {
    private let site: ManagerSite
    private let manager: URLSessionManager

    init() throws {
        site = try ManagerSite()
        manager = site.manager
        // Applying a setting to the session needs one.
        _ = manager.session
    }

    /// Two threads that do one thing each, at once, as often as is asked for.
    private final class Race: Sendable {
        private let begun = Atomic(0)
        private let ended = Atomic(0)
        private let rounds = 6000

        /// - Parameter after: Called after each round, when both have done their thing.
        func run(_ one: () -> Void, _ other: @escaping @Sendable () -> Void, after: () -> Void) {
            let thread = Thread { [self] in
                for round in 1...rounds {
                    wait { begun.load(ordering: .acquiring) == round }
                    other()
                    ended.store(round, ordering: .releasing)
                }
            }
            thread.start()
            for round in 1...rounds {
                begun.store(round, ordering: .releasing)
                // This wakes the other thread, a little later each time.
                for _ in 0..<round % 100 { _ = ended.load(ordering: .relaxed) }
                one()
                wait { ended.load(ordering: .acquiring) == round }
                after()
            }
        }

        /// Spins, since waking a thread takes longer than the race; but not forever, on a machine with other work.
        private func wait(until isMet: () -> Bool) {
            var count = 0
            while !isMet() {
                count += 1
                if count > 10_000 { Thread.sleep(forTimeInterval: 0.0001) }
            }
        }
    }

    @Test func `5.8 a policy that pins applies once it is set, whatever another thread sets meanwhile`() throws {
        let plain = SecurityPolicy()
        let pinning = SecurityPolicy(pinningMode: .publicKey, certificates: [try CertificateAuthority().certificate])
        var unenforced = 0
        Race().run {
            manager.setAuthenticationChallengeHandler { _, _, _, _ in .performDefaultHandling }
        } _: { [manager] in
            manager.securityPolicy = pinning
        } after: {
            if manager.session.tls.evaluator as AnyObject !== pinning { unenforced += 1 }
            manager.setAuthenticationChallengeHandler(nil)
            manager.securityPolicy = plain
        }
        #expect(unenforced == 0)
    }

    @Test func `5.2 the tasks of a manager are told at once where waiting for them would be for ever`() async {
        await #expect(processExitsWith: .success) {
            let site = try ManagerSite()
            let manager = site.manager
            let request = URLRequest(url: site.server.url("/get"))
            let task = manager.dataTask(with: request, completionHandler: nil)
            let upload = manager.uploadTask(with: request, from: Data(), progress: nil, completionHandler: nil)

            let onThread: [[URLSessionTask]] = await withCheckedContinuation { continuation in
                URLConnection.perform(onNetworkThreadIn: [.default]) {
                    let lists = [manager.tasks, manager.dataTasks, manager.uploadTasks, manager.downloadTasks]
                    continuation.resume(returning: lists)
                }
            }
            let onQueueOfAnswers: [URLSessionTask] = await withCheckedContinuation { continuation in
                manager.session.getAllTasks { _ in continuation.resume(returning: manager.tasks) }
            }

            #expect(onThread == [[task, upload], [task], [upload], []])
            #expect(onQueueOfAnswers == [task, upload] && manager.tasks == [task, upload])
        }
    }

    @Test func `5.10 of closures that are set at once the session ignores none`() {
        let methods: URLSession.DelegateMethods = [.taskWillPerformHTTPRedirection, .dataTaskDidReceiveResponse]
        var ignored = 0
        Race().run {
            manager.setTaskWillPerformHTTPRedirectionBlock { $3 }
        } _: { [manager] in
            manager.setDataTaskDidReceiveResponseBlock { _, _, _ in .allow }
        } after: {
            if !manager.session.ignoredDelegateMethods.isDisjoint(with: methods) { ignored += 1 }
            manager.setTaskWillPerformHTTPRedirectionBlock(nil)
            manager.setDataTaskDidReceiveResponseBlock(nil)
        }
        #expect(ignored == 0)
    }
}
