import Foundation
import Glibc

/// Standard output for transfers that run in parallel. All but the first wait in files, so that bodies stay whole and
/// in the order of the URLs.
@MainActor final class OutputQueue {
    /// Each waiting transfer needs an open file, and a process usually may have 1024, connections included.
    private static let mostWaiting = 100

    private var turn = 0
    private var waiting: [Int: Descriptor] = [:]
    private var finished: Set<Int> = []

    /// Whether the next transfer may begin. Running transfers can always finish, and make room.
    var hasRoom: Bool { waiting.count < Self.mostWaiting }

    func write(_ data: Data, of index: Int) throws(SystemFailure) {
        if index == turn { return try Descriptor.standardOutput.write(data) }
        if waiting[index] == nil { waiting[index] = try Descriptor.temporary() }
        try waiting[index]?.write(data)
    }

    /// The output of this transfer is complete: lets the next ones through.
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
