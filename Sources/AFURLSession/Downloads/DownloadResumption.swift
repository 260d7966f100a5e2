import AFState
import AFTransport
import AFWire
import Foundation

/// A part, and the request for the rest of it.
struct EarlierPart: Sendable {
    let record: ResumeRecord
    /// The resume data as the program gave it.
    let data: Data
    let rest: Result<WireRequest, RequestRejection>
    /// The request that `rest` was made from.
    let restRequest: URLRequest
}

/// What was asked for, and under which judgement the answer comes.
struct DownloadQuestion {
    /// The request that the task began with.
    let request: URLRequest
    let scope: TrustScope?
    /// Whether the request that was sent asks for a part. The caller, an interceptor or the session may have added the
    /// field.
    let asksForPart: Bool
}

/// What a download goes on from, and from where another may go on. It judges what a response means for that.
struct DownloadResumption {
    /// How the download begins.
    enum Origin {
        case nothing
        /// The same, and not a second time: the delegate has got the response while the task was a data task, or the
        /// request asked for the rest of a part that the download has let go of.
        case nothingOnce
        /// With an earlier part, to resume it.
        case part(EarlierPart)
        case flawed(ResumeFlaw)
    }

    /// From where the download can be resumed.
    struct Ground {
        var point: ResumePoint
        /// The digest of the scope under which the bytes came.
        let scope: [UInt8]
    }

    private enum Basis {
        case nothing
        case part(Ground)
        /// Whether the whole can be resumed is asked when it breaks off: most downloads never ask.
        case whole(HTTPURLResponse, DownloadQuestion)
    }

    private(set) var origin: Origin
    private var basis = Basis.nothing
    /// Where the rest that is being received must end.
    private var restEnd: Int64?

    init(after origin: Origin) {
        self.origin = origin
        guard case .part(let part) = origin else { return }
        basis = .part(Ground(point: part.record.point, scope: part.record.scope))
    }

    /// Nil if it cannot be resumed.
    var ground: Ground? {
        switch basis {
        case .nothing: return nil
        case .part(let ground): return ground
        case .whole(let response, let question):
            guard let scope = question.scope?.digest,
                let point = ResumePoint(response, to: question.request)
            else { return nil }
            return Ground(point: point, scope: scope)
        }
    }

    var part: EarlierPart? { if case .part(let part) = origin { part } else { nil } }

    /// Only a download that began without a part starts over: a part can be resumed another time.
    var mayStartOver: Bool { if case .nothing = origin { true } else { false } }

    /// Nothing of the file is there, and the next request is for the whole.
    mutating func startOver() {
        (origin, basis) = (.nothing, .nothing)
    }

    /// Whether a file of this length has more than the response has announced.
    func isTooLong(_ length: Int64) -> Bool { restEnd.map { length > $0 } ?? false }
    /// Whether a file of this length has all that the response has announced.
    func isComplete(_ length: Int64) -> Bool { restEnd.map { length == $0 } ?? true }

    /// What the response means for the file.
    mutating func judge(
        _ response: URLResponse,
        to question: DownloadQuestion
    ) throws(LoadError) -> DownloadMachine.Event {
        let http = response as? HTTPURLResponse
        guard let part, let http else { return try judgeWhole(http, to: question) }
        let length = http.expectedContentLength
        let answer = ResumeAnswer.judge(http.statusCode, headers: http.headers, length: length, at: part.record.point)
        // The part came under another judgement: an impostor may have sent it.
        let isImpostors = answer.continuesPart && question.scope?.digest != part.record.scope
        switch isImpostors ? .unusable : answer {
        case .rest(let end, let total):
            restEnd = end
            var point = part.record.point
            point.total = total
            basis = .part(Ground(point: point, scope: part.record.scope))
            return .rest
        case .complete: return .complete
        case .whole:
            (origin, basis) = (.nothingOnce, .whole(http, question))
            return .whole
        case .other:
            (origin, basis) = (.nothingOnce, .nothing)
            return .other
        case .unusable: return .unusable
        }
    }

    /// A response to a request that did not ask for the rest of a part, or one that cannot be resumed.
    private mutating func judgeWhole(
        _ response: HTTPURLResponse?,
        to question: DownloadQuestion
    ) throws(LoadError) -> DownloadMachine.Event {
        if part != nil { origin = .nothingOnce }
        guard let response else {
            basis = .nothing
            return .whole
        }
        guard question.asksForPart || !response.isPartial else { throw .unaskedPart(response.statusCode) }
        // The resumed request would ask for its own part again, and not for the missing bytes.
        basis = question.asksForPart ? .nothing : .whole(response, question)
        return .whole
    }
}

extension HTTPURLResponse {
    /// Whether the response concerns a part of the resource.
    fileprivate var isPartial: Bool { statusCode == 206 || statusCode == 416 }
}
