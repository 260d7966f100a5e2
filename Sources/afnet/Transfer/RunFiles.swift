import AFURLSession
import Foundation
import Glibc

/// Files that each run replaces, and to which every URL of the run adds: those of `--report`; each group those of
/// `--dump-header`.
@MainActor final class RunFiles {
    private var begun: Set<String> = []

    /// The next bytes for this file replace it.
    func begin(_ path: String) { begun.remove(path) }

    /// - Parameter path: `-` is standard output.
    func append(_ data: Data, to path: String) throws(SystemFailure) {
        if path != "-", begun.insert(path).inserted {
            try Descriptor.opening(path, flags: O_WRONLY | O_CREAT | O_TRUNC).close()
        }
        try Descriptor.append(data, to: path)
    }

    /// Adds a line of `--report`.
    func add(_ result: TransferResult, to path: String) throws(TransferFailure) {
        do {
            try append(TransferReport(result).line, to: path)
        } catch {
            let reason = (error as? SystemFailure)?.text ?? error.localizedDescription
            throw TransferFailure(.cannotWrite, "--report: cannot write \(path): \(reason)")
        }
    }
}
