import Foundation

/// What is added to the seeds of all models: `AFNET_SIMULATE_FROM`, so that other seeds of a simulation are other runs of
/// the models as well.
package enum ModelSeed {
    package static let first = ProcessInfo.processInfo.environment["AFNET_SIMULATE_FROM"].flatMap { UInt64($0) } ?? 0
}
