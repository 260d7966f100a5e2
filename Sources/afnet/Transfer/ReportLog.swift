import Foundation
import Glibc

/// The files of `--report`: begun anew in each run, and added to by every group that names them.
@MainActor final class ReportLog {
    private var begun: Set<String> = []

    func add(_ result: TransferResult, to path: String) throws(TransferFailure) {
        do {
            if path != "-", begun.insert(path).inserted {
                try Descriptor.opening(path, O_WRONLY | O_CREAT | O_TRUNC).close()
            }
            try Descriptor.append(TransferReport(result).line, to: path)
        } catch {
            let reason = (error as? SystemFailure)?.text ?? error.localizedDescription
            throw TransferFailure(.cannotWrite, "--report: cannot write \(path): \(reason)")
        }
    }
}
