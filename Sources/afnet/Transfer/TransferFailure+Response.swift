import AFURLSession
import Foundation

extension HTTPURLResponse {
    /// Whether the coding is the word "none", with which some servers say that there is none.
    var namesNoCoding: Bool {
        let coding = value(forHTTPHeaderField: "Content-Encoding") ?? ""
        return coding.split(separator: ",").allSatisfy {
            ["none", "identity"].contains($0.trimmingCharacters(in: .whitespaces).lowercased())
        }
    }
}

extension TransferFailure {
    static let binaryForTerminal = TransferFailure(
        .cannotWrite,
        "the body is binary and would upset the terminal: send it to a file with --output PATH"
    )

    static func refused(_ status: Int) -> TransferFailure {
        let phrase = HTTPURLResponse.localizedString(forStatusCode: status)
        return TransferFailure(.statusRefused, "the server answered \(status), \(phrase)")
    }

    static func notResumed(_ part: PartialTransfer, status: Int) -> TransferFailure {
        let reason = part.validator == nil ? "" : ", perhaps because what is there has changed"
        return TransferFailure(
            .rangeNotHonoured,
            "the server does not go on at byte \(part.offset), it answered \(status)\(reason): "
                + "load it from the beginning"
        )
    }

    static func coded(_ response: HTTPURLResponse) -> TransferFailure {
        let coding = response.value(forHTTPHeaderField: "Content-Encoding") ?? ""
        return TransferFailure(
            .contentNotDecoded,
            "the body has the coding \(coding), which afnet cannot undo: leave --compressed out to get it as it is"
        )
    }

    static func tooLarge(_ limit: Int64) -> TransferFailure {
        TransferFailure(.tooLarge, "the body is larger than the \(limit) bytes of --max-filesize")
    }
}
