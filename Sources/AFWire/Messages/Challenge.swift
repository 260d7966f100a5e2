/// One challenge of `WWW-Authenticate` or `Proxy-Authenticate` (RFC 9110 §11.6.1).
package struct Challenge: Sendable, Equatable {
    package struct Parameter: Sendable, Equatable {
        /// In lower case.
        package let name: String
        /// Quotes and escapes resolved.
        package let value: [UInt8]

        package var text: String { HTTPText.decode(value) }
    }

    /// Challenges of one response, and parameters of one challenge, that are read. A server has a handful of each.
    package static let maximumCount = 32
    package static let maximumParameters = 64

    /// In lower case.
    package let scheme: String
    package let token68: String?
    package let parameters: [Parameter]

    /// The first parameter called `name`.
    /// - Parameter name: in lower case.
    package func parameter(_ name: String) -> String? { parameters.first { $0.name == name }?.text }

    /// The bytes of the first parameter called `name`.
    /// - Parameter name: in lower case.
    package func bytes(_ name: String) -> [UInt8]? { parameters.first { $0.name == name }?.value }

    /// Whether it may be answered at all. Which of two parameters of one name counts is where readers differ
    /// (RFC 9110 §11.2 allows each once), and a control character could get from it into a field of ours.
    package var isUsable: Bool {
        Set(parameters.map(\.name)).count == parameters.count
            && parameters.allSatisfy { !$0.value.contains(where: ByteScanning.isForbiddenControl) }
    }

    /// All challenges of every field called `name`, in order.
    package static func list(in headers: HTTPHeaders, name: String) -> [Challenge] {
        var challenges: [Challenge] = []
        headers.forEachValue(of: name) { value in
            if challenges.count < maximumCount { challenges += list(value).prefix(maximumCount - challenges.count) }
        }
        return challenges
    }

    /// The parameters of a field that holds nothing else, as `Authentication-Info` does; nil if it is malformed or
    /// has one of them twice.
    package static func parameters(of bytes: UnsafeRawBufferPointer) -> [Parameter]? {
        var scanner = FieldScanner(bytes)
        guard let parameters = parameters(&scanner), scanner.isAtEnd else { return nil }
        return Challenge(scheme: "", token68: nil, parameters: parameters).isUsable ? parameters : nil
    }

    /// All challenges of one field value, in order. Challenges and their parameters share the comma, so a word is a
    /// parameter if `=` follows and the next scheme if not. Parsing ends at the first malformed challenge, which is
    /// left out: credentials must not be chosen by what was guessed. Of Basic, which has a realm and nothing else that
    /// matters, two faults that many servers make are read all the same: see `looseBasic`.
    package static func list(_ bytes: UnsafeRawBufferPointer) -> [Challenge] {
        var scanner = FieldScanner(bytes)
        var challenges: [Challenge] = []
        while true {
            scanner.skipListSeparators()
            guard !scanner.isAtEnd, challenges.count < maximumCount, let challenge = one(&scanner) else {
                return challenges
            }
            challenges.append(challenge)
        }
    }

    package static func list(_ text: String) -> [Challenge] { text.withUTF8Bytes { list($0) } }

    private static func one(_ scanner: inout FieldScanner) -> Challenge? {
        guard let scheme = scanner.loweredToken() else { return nil }
        guard let byte = scanner.next, byte != UInt8(ascii: ",") else {
            return Challenge(scheme: scheme, token68: nil, parameters: [])
        }
        guard ByteScanning.isOWS(byte) else { return nil }
        scanner.skipBlanks()
        let start = scanner.position
        if let token68 = token68(&scanner) {
            return Challenge(scheme: scheme, token68: token68, parameters: [])
        }
        guard let parameters = parameters(&scanner) else {
            scanner.rewind(to: start)
            return scheme == "basic" ? looseBasic(&scanner) : nil
        }
        return Challenge(scheme: scheme, token68: nil, parameters: parameters)
    }

    /// Reads a realm of several words without quotation marks, and parameters behind semicolons, which do not count.
    private static func looseBasic(_ scanner: inout FieldScanner) -> Challenge? {
        guard scanner.loweredToken() == "realm" else { return nil }
        scanner.skipBlanks()
        guard scanner.take(UInt8(ascii: "=")) else { return nil }
        scanner.skipBlanks()
        var realm: [UInt8]
        if scanner.next == UInt8(ascii: "\"") {
            guard let text = scanner.quotedString() else { return nil }
            realm = text
            scanner.skipBlanks()
            guard scanner.next == UInt8(ascii: ";") else { return nil }
        } else {
            realm = Array(ByteScanning.trimmingOWS(scanner.text(beforeAny: [UInt8(ascii: ","), UInt8(ascii: ";")])))
            // Another parameter follows without a comma, or a quoted string stands where none may.
            guard !realm.isEmpty, !realm.contains(UInt8(ascii: "=")), !realm.contains(UInt8(ascii: "\"")) else {
                return nil
            }
        }
        scanner.skip(to: UInt8(ascii: ","))
        return Challenge(scheme: "basic", token68: nil, parameters: [Parameter(name: "realm", value: realm)])
    }

    /// Only if nothing but the end of the challenge follows: `abc=` is one, `abc=def` is a parameter.
    private static func token68(_ scanner: inout FieldScanner) -> String? {
        let start = scanner.position
        guard let text = scanner.take(while: .token68) else { return nil }
        var padding = 0
        while scanner.take(UInt8(ascii: "=")) { padding += 1 }
        scanner.skipBlanks()
        guard scanner.isAtEnd || scanner.next == UInt8(ascii: ",") else {
            scanner.rewind(to: start)
            return nil
        }
        return String(decoding: text, as: UTF8.self) + String(repeating: "=", count: padding)
    }

    private static func parameters(_ scanner: inout FieldScanner) -> [Parameter]? {
        var parameters: [Parameter] = []
        while true {
            let start = scanner.position
            scanner.skipListSeparators()
            if scanner.isAtEnd { return parameters }
            guard parameters.count < maximumParameters else { return nil }
            guard let parameter = scanner.parameter() else {
                // Another scheme, unless it follows without a comma.
                scanner.rewind(to: start)
                scanner.skipBlanks()
                return scanner.next == UInt8(ascii: ",") || parameters.isEmpty && scanner.isAtEnd ? parameters : nil
            }
            parameters.append(Parameter(name: parameter.name, value: parameter.value))
            scanner.skipBlanks()
            guard scanner.isAtEnd || scanner.next == UInt8(ascii: ",") else { return nil }
        }
    }
}
