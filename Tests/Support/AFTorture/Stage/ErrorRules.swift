import AFNetworking
import Foundation

/// What an error must be like.
enum ErrorRules {
    /// Codes that say a broken world is to blame; not -1 (unknown) nor -999 (cancelled), unless a scenario asks for it.
    private static let codes: Set<Int> = [
        -1001, -1003, -1004, -1005, -1006, -1009, -1011, -1013, -1014, -1015, -1017, -1100, -1101, -1102, -1103,
        -1200, -1201, -1202, -1203, -1204, -1205, -1206, -3000, -3001, -3002, -3003, -3004, -3005, -3006, -3007,
        310, 311, -1007, -1010, -1021,
    ]

    /// What is wrong with an error; nil if nothing is.
    static func complaint(about error: any Error, orCodes others: Set<Int>) -> String? {
        if let failure = error as? RequestFailure { return complaint(about: failure.error, orCodes: others) }
        guard let error = error as? URLError else { return nil }
        let code = error.code.rawValue
        guard codes.contains(code) || others.contains(code) else {
            return "an error that the scenario does not expect: \(error)"
        }
        if isRude(error) { return "an error that tells control characters: \(text(of: error).debugDescription)" }
        return error.loadFailure == nil && !others.contains(code) ? "an error \(code) without a reason" : nil
    }

    /// What others have sent must not write to a terminal, nor begin a line of a log.
    private static func isRude(_ error: URLError) -> Bool {
        error.localizedDescription.contains("\n")
            || text(of: error).unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    /// All texts of an error that a program may log.
    static func text(of error: any Error) -> String {
        let bridged = error as NSError
        let causes = bridged.userInfo.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
        return "\(error) \(String(reflecting: error)) \(error.localizedDescription) \(causes)"
            .replacingOccurrences(of: "\n", with: " ")
    }
}
