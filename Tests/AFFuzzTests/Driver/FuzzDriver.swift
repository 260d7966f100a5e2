import Foundation
import Glibc

// What libFuzzer calls. The target is named by AFNET_FUZZ_TARGET, since arguments are libFuzzer's.

private let target: FuzzTarget = {
    let name = getenv("AFNET_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    if let target = FuzzTarget.named(name) { return target }
    // For `./dev fuzz --list`: each with the length of its longest input.
    for target in FuzzTarget.all { print(target.name, target.longest) }
    fflush(nil)
    exit(0)
}()

/// Writes the seeds of the target into the folder that AFNET_FUZZ_SEEDS names, and its words as a dictionary into the
/// file that AFNET_FUZZ_WORDS names. libFuzzer reads both afterwards.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzerInitialize(_ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    let target = target
    if let folder = getenv("AFNET_FUZZ_SEEDS").map({ String(cString: $0) }) {
        for (index, seed) in target.seeds.enumerated() {
            try? Data(seed).write(to: URL(fileURLWithPath: folder).appendingPathComponent("seed-\(index)"))
        }
    }
    if let file = getenv("AFNET_FUZZ_WORDS").map({ String(cString: $0) }) {
        // An empty dictionary is refused.
        let lines = ["# \(target.name)\n"] + target.words.map { "\"\($0.utf8.map(escaped).joined())\"\n" }
        try? Data(lines.joined().utf8).write(to: URL(fileURLWithPath: file))
    }
    return 0
}

/// A byte as it stands in a dictionary.
private func escaped(_ byte: UInt8) -> String {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), ..<0x20, 0x7F...:
        let digits = String(byte, radix: 16, uppercase: true)
        return "\\x\(digits.count == 1 ? "0" : "")\(digits)"
    default: return String(decoding: CollectionOfOne(byte), as: UTF8.self)
    }
}

/// Runs the target once.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzerTestOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try target.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    } catch let finding as FuzzTarget.Finding {
        fatalError(finding.description)
    } catch {}
    return 0
}
