/// What a run tells the program that started it. The numbers are curl's.
package enum ExitCode: Int32, Sendable, CaseIterable {
    case done = 0
    /// The scheme is not supported, or the reply is not HTTP/1.x.
    case unsupported = 1
    case usage = 2
    case malformedURL = 3
    case proxyNotResolved = 5
    case nameNotResolved = 6
    case cannotConnect = 7
    case headNotUnderstood = 8
    case otherProtocolError = 16
    case truncated = 18
    case statusRefused = 22
    case cannotWrite = 23
    case cannotRead = 26
    case timedOut = 28
    /// Neither the part that was asked for, nor the word that there is none.
    case rangeNotHonoured = 33
    case handshakeFailed = 35
    case badArgument = 43
    case tooManyRedirects = 47
    /// A place of `--resolve` or `--connect-to` that is none.
    case badPlace = 49
    case nothingReceived = 52
    case cannotSend = 55
    case cannotReceive = 56
    /// Our certificate: unreadable, wanted or refused.
    case clientCertificate = 58
    case serverNotTrusted = 60
    case contentNotDecoded = 61
    case tooLarge = 63
    case bodyCannotBeSentAgain = 65
    case authoritiesUnusable = 77
    case pinMismatch = 90
    case notAnImage = 91

    /// The answer of a command that was asked a question.
    static let no = ExitCode.unsupported
}
