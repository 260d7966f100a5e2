import Foundation
import Glibc

// What libFuzzer calls. The target is named by AFNET_FUZZ_TARGET, since arguments are libFuzzer's.

private let target: FuzzTarget = {
    let name = getenv("AFNET_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget.named(name) else {
        fputs("AFNET_FUZZ_TARGET must be one of: \(FuzzTarget.all.map(\.name).joined(separator: " "))\n", stderr)
        exit(2)
    }
    return target
}()

/// Writes the seeds of the target where libFuzzer looks for them, if AFNET_FUZZ_SEEDS names a folder.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzerInitialize(_ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    if let folder = getenv("AFNET_FUZZ_SEEDS").map({ String(cString: $0) }) {
        for (index, seed) in target.seeds.enumerated() {
            try? Data(seed).write(to: URL(fileURLWithPath: folder).appendingPathComponent("seed-\(index)"))
        }
    }
    return 0
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
