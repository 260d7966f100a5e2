import AFBase
import Dispatch

@testable import AFNetworking
@testable import AFSerialization

/// Calls that gather for the main queue share an operation.
@Suite struct MainQueueTests {
    @Test func `calls are made in order, on the operation queue, and leave their group`() async throws {
        let (heard, group) = (Heard<Int>(), DispatchGroup())
        for number in 0..<100 {
            MainQueue.async(group: number.isMultiple(of: 2) ? group : nil) {
                heard.add(OperationQueue.current === OperationQueue.main ? number : -1)
            }
        }
        #expect(try await heard.wait(for: 100) == Array(0..<100))
        await withCheckedContinuation { continuation in
            group.notify(queue: .global()) { continuation.resume() }
        }
    }

    @Test func `a call that is made by another comes after those that wait, and after other work`() async throws {
        let (heard, gate) = (Heard<String>(), DispatchSemaphore(value: 0))
        MainQueue.async {
            gate.wait()
            heard.add("first")
            MainQueue.async { heard.add("third") }
            DispatchQueue.main.async { heard.add("other work") }
        }
        MainQueue.async { heard.add("second") }
        gate.signal()
        let all = try await heard.wait(for: 4)
        #expect(all.filter { $0 != "other work" } == ["first", "second", "third"])
    }

    @Test func `calls of many threads are each made once`() async throws {
        let heard = Heard<Int>()
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    for number in 0..<200 { MainQueue.async { heard.add(thread * 200 + number) } }
                }
            }
        }
        let all = try await heard.wait(for: 1600)
        #expect(all.sorted() == Array(0..<1600))
        for thread in 0..<8 { #expect(all.filter { $0 / 200 == thread } == Array(thread * 200..<(thread + 1) * 200)) }
    }

    @Test func `calls by way of the network thread stay in order, on the operation queue`() async throws {
        let heard = Heard<Int>()
        for number in 0..<100 {
            MainQueue.whenQuiet { heard.add(OperationQueue.current === OperationQueue.main ? number : -1) }
        }
        #expect(try await heard.wait(for: 100) == Array(0..<100))
    }

    @Test(arguments: [nil, "completions"])
    func `a completion by way of the network thread is within its group`(name: String?) async throws {
        let (queue, group) = (name.map { DispatchQueue(label: $0) }, DispatchGroup())
        let (heard, gate) = (Heard<String>(), DispatchSemaphore(value: 0))

        MainQueue.completeWhenQuiet(on: queue, group: group) {
            gate.wait()
            heard.add("completion")
        }
        group.notify(queue: .global()) { heard.add("group") }
        #expect(heard.all.isEmpty)
        gate.signal()

        #expect(try await heard.wait(for: 2) == ["completion", "group"])
    }
}
