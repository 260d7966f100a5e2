import AFBase
import AFFaults
import AFLoop
import CAFLinux
import Dispatch
import Glibc

/// On the kernel of this machine, in processes of their own.
@Suite(.serialized) struct ReachabilityProcessTests {
    @Test func `ten thousand starts and stops leave nothing open`() async {
        await #expect(processExitsWith: .success) {
            let queue = DispatchQueue(label: "test")
            func run(_ count: Int) {
                DispatchQueue.concurrentPerform(iterations: 4) { _ in
                    let manager = NetworkReachabilityManager.manager(forDomain: "127.0.0.1")
                    manager.callbackQueue = queue
                    for _ in 1...count / 4 {
                        manager.startMonitoring()
                        manager.stopMonitoring()
                    }
                }
            }
            run(40)
            let before = LeakCheck.now
            run(10_000)

            if let excess = before.excess(within: 30) { Issue.record("\(excess)") }
        }
    }

    @Test("starts, stops and settings from many threads end with the last of them, T-NET-07, T-API-15")
    func threads() async {
        await #expect(processExitsWith: .success) {
            let manager = NetworkReachabilityManager.manager(forDomain: "127.0.0.1")
            let queue = DispatchQueue(label: "test")
            let calls = Lock(0)
            manager.callbackQueue = queue
            DispatchQueue.concurrentPerform(iterations: 16) { number in
                for round in 1...20 {
                    switch (number + round) % 6 {
                    case 0: manager.stopMonitoring()
                    case 1: manager.setReachabilityStatusChange { _ in calls.withLock { $0 += 1 } }
                    case 2: manager.callbackQueue = queue
                    case 3: _ = (manager.isReachable, manager.localizedNetworkReachabilityStatusString())
                    default: manager.startMonitoring()
                    }
                }
            }
            manager.stopMonitoring()
            queue.sync {}
            let before = calls.withLock { $0 }
            let (stream, told) = AsyncStream.makeStream(of: NetworkReachabilityStatus.self)
            manager.setReachabilityStatusChange { told.yield($0) }
            manager.startMonitoring()
            for await status in stream {
                #expect(status == .reachableViaWiFi)
                break
            }

            #expect(calls.withLock { $0 } == before)
        }
    }

    @Test func `by default callbacks are made on the main queue`() async {
        await #expect(processExitsWith: .success) {
            let manager = NetworkReachabilityManager.manager(forDomain: "127.0.0.1")
            let (stream, told) = AsyncStream.makeStream(of: Bool.self)
            manager.setReachabilityStatusChange { status in
                dispatchPrecondition(condition: .onQueue(.main))
                told.yield(status == .reachableViaWiFi)
            }
            manager.startMonitoring()
            for await isReachable in stream {
                #expect(isReachable)
                break
            }
        }
    }

    @Test("where netlink is refused everything else works, T-NET-09")
    func refused() async {
        await #expect(processExitsWith: .success) {
            let manager = NetworkReachabilityManager.manager(forDomain: "127.0.0.1")
            manager.callbackQueue = DispatchQueue(label: "test")
            // The first socket is that of the reading.
            await FaultInjector.enumerate(.fails(EPERM), of: CAF_CALL_SOCKET, limit: 1) { _ in
                let path = manager.reachability.currentPath
                #expect(path.status == .unknown && path.reason?.contains("Operation not permitted") == true)
            }
            // Whichever call fails, there is a status at the end.
            for call in [CAF_CALL_SOCKET, CAF_CALL_BIND, CAF_CALL_SEND, CAF_CALL_RECV, CAF_CALL_EPOLL_CTL] {
                await FaultInjector.enumerate(.fails(ENOBUFS), of: call, limit: 8) { _ in
                    let (stream, told) = AsyncStream.makeStream(of: NetworkReachabilityStatus.self)
                    manager.setReachabilityStatusChange { told.yield($0) }
                    manager.startMonitoring()
                    for await status in stream where status != .unknown {
                        #expect(status == .reachableViaWiFi)
                        break
                    }
                    manager.stopMonitoring()
                }
            }
            #expect(FaultInjector.badCloses == 0)
        }
    }

    @Test func `a forked child reads for itself`() async {
        await #expect(processExitsWith: .success) {
            let monitor = NetworkMonitor(host: "127.0.0.1")
            var iterator = monitor.paths.makeAsyncIterator()
            let first = await iterator.next()
            #expect(first?.status == .satisfied)

            #expect(Fork.run { monitor.currentPath == first ? 0 : 1 } == 0)
        }
    }
}
