import Foundation
import Glibc

/// Standard output for transfers that run in parallel. The output of all but the first waits, in memory as long as it is
/// short, and then in a file, so that bodies stay whole and in the order of the URLs.
@MainActor final class OutputQueue {
    private enum Output {
        case short(Data)
        case long(Descriptor)
    }

    private static let longestInMemory = 64 << 10

    /// Each waiting transfer may need an open file, and a process usually may have 1024, connections included.
    private static let mostWaiting = 100

    private var turn = 0
    private var waiting: [Int: Output] = [:]
    private var finished: Set<Int> = []

    /// Whether the next transfer may begin. Running transfers can always finish, and make room.
    var hasRoom: Bool { waiting.count < Self.mostWaiting }

    func write(_ data: Data, of index: Int) throws(SystemFailure) {
        if index == turn { return try Descriptor.standardOutput.write(data) }
        switch waiting[index] ?? .short(Data()) {
        case .short(let former) where former.count + data.count <= Self.longestInMemory:
            waiting[index] = .short(former + data)
        case .short(let former):
            let file = try Descriptor.temporary()
            waiting[index] = .long(file)
            try file.write(former)
            try file.write(data)
        case .long(let file): try file.write(data)
        }
    }

    /// The output of this transfer is complete: lets the next ones through.
    func finish(_ index: Int) throws(SystemFailure) {
        finished.insert(index)
        while finished.remove(turn) != nil {
            turn += 1
            switch waiting.removeValue(forKey: turn) {
            case nil: break
            case .short(let data): try Descriptor.standardOutput.write(data)
            case .long(let file):
                let result = Result { () throws(SystemFailure) in try file.copyFromStart(to: .standardOutput) }
                try file.close()
                try result.get()
            }
        }
    }
}
