import Foundation

extension LoadFailure {
    /// What programs tell failures by: reason, detail and code. Every kind that there is stands here; the article
    /// `Errors.md` explains each of them.
    struct Kind: Hashable, Sendable {
        let reason: Reason
        let detail: Detail?
        let code: URLError.Code

        private init(_ reason: Reason, detail: Detail? = nil, code: URLError.Code) {
            self.reason = reason
            self.detail = detail
            self.code = code
        }
    }
}

extension LoadFailure.Kind {
    static let request = Self(.request, code: .badURL)
    static let requestScheme = Self(.request, detail: .scheme, code: .unsupportedURL)
    static let requestProxy = Self(.request, detail: .proxy, code: .badURL)
    static let requestSize = Self(.request, detail: .size, code: .dataLengthExceedsMaximum)
    static let requestCaller = Self(.request, detail: .caller, code: .cannotLoadFromNetwork)
    static let requestMethod = Self(.request, detail: .method, code: .badURL)
    static let requestHeader = Self(.request, detail: .header, code: .badURL)

    static let resources = Self(.resources, code: .cannotConnectToHost)
    static let resourcesNameNotFound = Self(.resources, detail: .nameNotFound, code: .cannotFindHost)
    static let resourcesNameLookup = Self(.resources, detail: .nameLookup, code: .dnsLookupFailed)
    static let resourcesNetwork = Self(.resources, detail: .network, code: .notConnectedToInternet)
    static let resourcesCellular = Self(.resources, detail: .cellular, code: .dataNotAllowed)
    static let resourcesAddress = Self(.resources, detail: .address, code: .cannotConnectToHost)

    static let timeoutIdle = Self(.timeout, detail: .idle, code: .timedOut)
    static let timeoutResource = Self(.timeout, detail: .resource, code: .timedOut)
    static let timeoutUnanswered = Self(.timeout, detail: .unanswered, code: .timedOut)
    static let timeoutQueue = Self(.timeout, detail: .queue, code: .timedOut)
    static let timeoutConnect = Self(.timeout, detail: .connect, code: .timedOut)
    static let timeoutAttempt = Self(.timeout, detail: .attempt, code: .timedOut)
    static let timeoutHandshake = Self(.timeout, detail: .handshake, code: .timedOut)
    static let timeoutPong = Self(.timeout, detail: .pong, code: .timedOut)
    static let timeoutClose = Self(.timeout, detail: .close, code: .timedOut)

    static let lostHead = Self(.lost, detail: .head, code: .networkConnectionLost)
    static let lostBody = Self(.lost, detail: .body, code: .networkConnectionLost)
    static let lostTruncated = Self(.lost, detail: .truncated, code: .networkConnectionLost)
    static let lostReset = Self(.lost, detail: .reset, code: .networkConnectionLost)
    static let lostProxy = Self(.lost, detail: .proxy, code: .networkConnectionLost)
    static let lostClosed = Self(.lost, detail: .closed, code: .networkConnectionLost)

    static let malformedStatus = Self(.malformed, detail: .status, code: .cannotParseResponse)
    static let malformedHeader = Self(.malformed, detail: .header, code: .cannotParseResponse)
    static let malformedFraming = Self(.malformed, detail: .framing, code: .cannotParseResponse)
    static let malformedChunk = Self(.malformed, detail: .chunk, code: .cannotParseResponse)
    static let malformedFrame = Self(.malformed, detail: .frame, code: .cannotParseResponse)

    static let response = Self(.response, code: .badServerResponse)
    static let responseStatus = Self(.response, detail: .status, code: .badServerResponse)
    static let responseUpgrade = Self(.response, detail: .upgrade, code: .badServerResponse)

    static let limit = Self(.limit, code: .dataLengthExceedsMaximum)
    static let limitFrame = Self(.limit, detail: .frame, code: .dataLengthExceedsMaximum)

    // Apple's terms: raw data has a known coding, content data an unknown one.
    static let decoding = Self(.decoding, code: .cannotDecodeContentData)
    static let decodingCoding = Self(.decoding, detail: .coding, code: .cannotDecodeContentData)
    static let decodingDamaged = Self(.decoding, detail: .damaged, code: .cannotDecodeRawData)
    static let decodingTruncated = Self(.decoding, detail: .truncated, code: .cannotDecodeRawData)
    static let decodingBomb = Self(.decoding, detail: .bomb, code: .cannotDecodeRawData)
    static let decodingDigest = Self(.decoding, detail: .digest, code: .cannotDecodeContentData)
    static let decodingMemory = Self(.decoding, detail: .memory, code: .cannotDecodeRawData)

    static let tls = Self(.tls, code: .secureConnectionFailed)
    static let tlsVersion = Self(.tls, detail: .version, code: .secureConnectionFailed)
    static let tlsCipher = Self(.tls, detail: .cipher, code: .secureConnectionFailed)
    static let tlsALPN = Self(.tls, detail: .alpn, code: .secureConnectionFailed)
    static let tlsRenegotiation = Self(.tls, detail: .renegotiation, code: .secureConnectionFailed)
    static let tlsAlert = Self(.tls, detail: .alert, code: .secureConnectionFailed)
    static let tlsNotTLS = Self(.tls, detail: .notTLS, code: .secureConnectionFailed)
    static let tlsFlood = Self(.tls, detail: .flood, code: .secureConnectionFailed)

    static let trustDate = Self(.trust, detail: .date, code: .serverCertificateHasBadDate)
    static let trustNotYetValid = Self(.trust, detail: .notYetValid, code: .serverCertificateNotYetValid)
    static let trustUnknownRoot = Self(.trust, detail: .unknownRoot, code: .serverCertificateHasUnknownRoot)
    static let trustSelfSigned = Self(.trust, detail: .selfSigned, code: .serverCertificateUntrusted)
    static let trustName = Self(.trust, detail: .name, code: .serverCertificateUntrusted)
    static let trustPurpose = Self(.trust, detail: .purpose, code: .serverCertificateUntrusted)
    static let trustWeakKey = Self(.trust, detail: .weakKey, code: .serverCertificateUntrusted)
    static let trustChain = Self(.trust, detail: .chain, code: .serverCertificateUntrusted)
    static let trustPolicy = Self(.trust, detail: .policy, code: .serverCertificateUntrusted)
    static let trustDelegate = Self(.trust, detail: .delegate, code: .serverCertificateUntrusted)
    static let trustAnchors = Self(.trust, detail: .anchors, code: .serverCertificateUntrusted)

    static let clientCertificate = Self(.clientCertificate, code: .clientCertificateRejected)
    static let clientCertificateRequired = Self(.clientCertificate, detail: .required, code: .clientCertificateRequired)

    static let redirect = Self(.redirect, code: .httpTooManyRedirects)
    static let redirectLate = Self(.redirect, detail: .late, code: .badServerResponse)
    static let redirectLocation = Self(.redirect, detail: .location, code: .redirectToNonExistentLocation)
    static let redirectScheme = Self(.redirect, detail: .scheme, code: .unsupportedURL)
    static let redirectBody = Self(.redirect, detail: .body, code: .requestBodyStreamExhausted)

    static let authentication = Self(.authentication, code: .userAuthenticationRequired)

    static let proxyNameNotFound = Self(.proxy, detail: .nameNotFound, code: .cannotConnectToHost)
    static let proxyNameLookup = Self(.proxy, detail: .nameLookup, code: .cannotConnectToHost)
    static let proxyConnect = Self(.proxy, detail: .connect, code: .cannotConnectToHost)
    static let proxyTLS = Self(.proxy, detail: .tls, code: .cannotConnectToHost)
    static let proxyRefused = Self(.proxy, detail: .refused, code: .cannotConnectToHost)
    static let proxyCredentials = Self(.proxy, detail: .credentials, code: .userAuthenticationRequired)
    static let proxyMalformed = Self(.proxy, detail: .malformed, code: .cannotConnectToHost)

    static let bodyStream = Self(.body, detail: .stream, code: .requestBodyStreamExhausted)
    static let bodyMemory = Self(.body, detail: .memory, code: .requestBodyStreamExhausted)
    static let bodyLength = Self(.body, detail: .length, code: .requestBodyStreamExhausted)
    static let bodyExhausted = Self(.body, detail: .exhausted, code: .requestBodyStreamExhausted)

    static let file = Self(.file, code: .cannotWriteToFile)
    static let fileCreate = Self(.file, detail: .create, code: .cannotCreateFile)
    static let fileOpen = Self(.file, detail: .open, code: .cannotOpenFile)
    static let fileRead = Self(.file, detail: .read, code: .cannotOpenFile)
    static let fileMove = Self(.file, detail: .move, code: .cannotMoveFile)
    static let fileMissing = Self(.file, detail: .missing, code: .fileDoesNotExist)
    static let filePermission = Self(.file, detail: .permission, code: .noPermissionsToReadFile)
    static let fileDirectory = Self(.file, detail: .directory, code: .fileIsDirectory)
    static let fileChanged = Self(.file, detail: .changed, code: .requestBodyStreamExhausted)

    static let cache = Self(.cache, code: .resourceUnavailable)
    static let fault = Self(.fault, code: .unknown)

    static let cancelled = Self(.cancelled, code: .cancelled)
    static let cancelledInvalidated = Self(.cancelled, detail: .invalidated, code: .cancelled)
    static let cancelledBecameStream = Self(.cancelled, detail: .becameStream, code: .cancelled)
}
