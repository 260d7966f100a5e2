import AFWire
import Foundation

/// Something that takes the bytes of a stranger.
struct FuzzTarget: Sendable {
    /// What broke although nothing crashed: something that must hold for all bytes does not.
    struct Finding: Error, CustomStringConvertible {
        let description: String
    }

    let name: String
    /// How long an input may be, in bytes.
    let longest: Int
    /// To begin with: each reaches a part of it that random bytes hardly would.
    let seeds: [[UInt8]]
    let run: @Sendable (_ input: [UInt8]) throws -> Void

    init(
        _ name: String,
        longest: Int = 4096,
        seeds: [[UInt8]],
        run: @escaping @Sendable (_ input: [UInt8]) throws -> Void
    ) {
        self.name = name
        self.longest = longest
        self.seeds = seeds
        self.run = run
    }

    init(
        _ name: String,
        longest: Int = 4096,
        _ seeds: String...,
        run: @escaping @Sendable (_ input: [UInt8]) throws -> Void
    ) {
        self.init(name, longest: longest, seeds: seeds.map { Array($0.utf8) }, run: run)
    }

    static let all =
        messages + webSockets + fields + addresses + requests + stores + contents + peers + certificates + pictures
        + conversations

    static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }

    static func expect(_ holds: Bool, _ claim: @autoclosure () -> String) throws {
        if !holds { throw Finding(description: claim()) }
    }
}

extension Array<UInt8> {
    /// Cuts the rest where the first bytes say, so that fuzzers choose the cuts as well.
    var cutByItself: (whole: [UInt8], pieces: [[UInt8]]) {
        guard let count = first.map({ Int($0 % 8) + 1 }), self.count > count else { return (self, [self]) }
        let whole = Array(self[count...])
        var pieces: [[UInt8]] = []
        var rest = whole[...]
        for step in self[1..<count] where !rest.isEmpty {
            let piece = rest.prefix(Int(step) + 1)
            pieces.append(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        return (whole, rest.isEmpty ? pieces : pieces + [Array(rest)])
    }

    var text: String { String(decoding: self, as: UTF8.self) }
}

/// Without a part of a number that the system has a name for.
func little(_ number: some FixedWidthInteger) -> [UInt8] { Swift.withUnsafeBytes(of: number.littleEndian, Array.init) }
