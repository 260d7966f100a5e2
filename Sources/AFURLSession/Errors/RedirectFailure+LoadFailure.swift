import AFWire

extension LoadFailure {
    init(_ failure: RedirectFailure, from peer: Endpoint?) {
        let (detail, what, advice): (Detail?, String, String?) =
            switch failure {
            case .tooMany(let count):
                (
                    nil,
                    "\(count) redirects have been followed already.",
                    "If it is no circle, raise maximumCount of the redirectPolicy."
                )
            case .unusable(let rejection):
                (.location, "it leads nowhere: \(rejection).", "The server has to correct its Location field.")
            case .ambiguous: (.location, "it has several Location fields, and they differ.", nil)
            case .foreignScheme(let scheme):
                (
                    .scheme,
                    "it leads to the scheme \(scheme), which is not loaded. The response says where, in its Location "
                        + "field.",
                    "To take it as it is, answer nil in "
                        + "urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:), or clear "
                        + "followsRedirects of the redirectPolicy."
                )
            case .plainText(let target):
                (
                    .scheme,
                    "it leads from https to http, at \(target.text), where everyone on the way can read along.",
                    "If that is all right, allow it with allowsPlainText of the redirectPolicy."
                )
            case .bodyIsGone(let target):
                (
                    .body,
                    "the body would have to be sent again, to \(target.text), and a stream cannot be read twice.",
                    "Answer urlSession(_:task:needNewBodyStream:), or upload from a file or from memory."
                )
            case .bodyLeavesOrigin(let target):
                (
                    .body,
                    "the body of the request would go to another origin, \(target.text).",
                    "Allow it in urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:), or with "
                        + "sendsBodyToOtherOrigins of the redirectPolicy."
                )
            }
        self.init(
            .redirect,
            detail,
            phase: .waitingForHead,
            message: "A redirect by \(peer?.text ?? "the server") was not followed: \(what)",
            advice: advice
        )
    }
}
