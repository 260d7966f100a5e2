package import Foundation

/// What a delegate or completion handler heard about one task.
package enum TaskEvent: Sendable, Equatable {
    case sent(Int64)
    case response(Int)
    case data(Int)
    case metrics
    case waiting
    case finished
    case failed(URLError.Code)
}
