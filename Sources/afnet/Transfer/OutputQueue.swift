import Foundation
import Glibc

/// Standard output for transfers that run at the same time: what is not first waits in a file, so that bodies stay
/// whole and in the order of the URLs.
@MainActor final class OutputQueue {
    /// Each that waits is an open file, and of those a process usually may have 1024, its connections included.
    private static let mostWaiting = 100

    private var turn = 0
    private var waiting: [Int: Descriptor] = [:]
    private var finished: Set<Int> = []

    /// Whether the next one may begin: what is under way can always end, and with the first of it others get their turn.
    var hasRoom: Bool { waiting.count < Self.mostWaiting }

    func write(_ data: Data, of index: Int) throws(SystemFailure) {
        if index == turn { return try Descriptor.standardOutput.write(data) }
        if waiting[index] == nil { waiting[index] = try Descriptor.temporary() }
        try waiting[index]?.write(data)
    }

    /// What came of this one is complete: the next ones may go on.
    func finish(_ index: Int) throws(SystemFailure) {
        finished.insert(index)
        while finished.remove(turn) != nil {
            turn += 1
            guard let file = waiting.removeValue(forKey: turn) else { continue }
            let result = Result { () throws(SystemFailure) in try file.copyFromStart(to: .standardOutput) }
            try file.close()
            try result.get()
        }
    }
}
