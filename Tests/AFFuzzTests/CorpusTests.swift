import Foundation
import Testing

/// Every target over its seeds, over what was found before, and over seeded changes of both.
struct CorpusTests {
    /// Inputs of former findings and those that reach far, by target: `./dev fuzz --keep` puts them there.
    private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Corpus")

    private static let names = FuzzTarget.all.map { $0.name }

    private static func inputs(_ target: FuzzTarget) throws -> [[UInt8]] {
        let folder = corpus.appendingPathComponent(target.name).path
        let files = try? FileManager.default.contentsOfDirectory(atPath: folder)
        return try target.seeds
            + (files ?? []).sorted().map { [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)"))) }
    }

    @Test(arguments: names)
    func `M-05 nothing in the corpus breaks anything`(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let inputs = try Self.inputs(target)

        #expect(!inputs.isEmpty, "there is nothing to begin with")
        for input in inputs { try Self.run(target, input) }
    }

    @Test(arguments: names)
    func `M-05 nor do seeded changes of it`(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        var random = SeededRandom(name)
        let inputs = try Self.inputs(target)
        try #require(!inputs.isEmpty)
        for round in 0..<200 {
            var input = inputs[round % inputs.count]
            for _ in 0..<Int.random(in: 1...4, using: &random) { Self.change(&input, &random) }
            try Self.run(target, Array(input.prefix(target.longest)))
        }
    }

    @Test func `M-05 there are targets enough, each under a name of its own`() {
        #expect(Self.names.count >= 20 && Set(Self.names).count == Self.names.count)
    }

    /// - Throws: what was found, with the input that found it.
    private static func run(_ target: FuzzTarget, _ input: [UInt8]) throws {
        do {
            try target.run(input)
        } catch let finding as FuzzTarget.Finding {
            Issue.record("\(target.name): \(finding), by \(Data(input).base64EncodedString())")
        }
    }

    private static func change(_ input: inout [UInt8], _ random: inout SeededRandom) {
        let place = Int.random(in: 0...input.count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: input.insert(UInt8.random(in: 0...255, using: &random), at: place)
        case 1 where place < input.count: input.remove(at: place)
        case 2 where place < input.count: input[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 3 where place < input.count:
            input[place] = [0, 0xFF, 0x7F, 0x80, 0x0A, 0x22].randomElement(using: &random) ?? 0
        case 4: input.insert(contentsOf: input.suffix(Int.random(in: 0...16, using: &random)), at: place)
        default: input = Array(input.prefix(place))
        }
    }
}

/// The same numbers in every run.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(_ name: String) {
        state = name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
