@testable import AFSerialization

/// The description of the response in the errors of serializers: its URL, and how its body begins.
@Suite struct ResponseSummaryTests {
    private static let secretURL = "https://me:CANARY1@api.test/users?page=2&access_token=CANARY2"

    @Test func `404, a wrong content type and broken JSON name the URL and the beginning of the body`() throws {
        let body = "<!DOCTYPE html>\n\u{1B}[2J<title>\"Not here\"</title>" + String(repeating: "x", count: 5000)
        let shown = #"<!DOCTYPE html>\n\x1b[2J<title>\"Not here\"</title>xxx"#
        let cases: [(Int, String, String)] = [
            (404, "application/json", "NSCocoaErrorDomain 3840"), (200, "text/html", "-1016"),
            (200, "application/json", "NSCocoaErrorDomain 3840"),
        ]
        for (status, type, name) in cases {
            let response = try makeResponse(status, type: type, url: Self.secretURL)
            let error = try #require(serialized(JSONResponseSerializer(), response, body).error)

            let reason = try #require(error.localizedFailureReason, "\(name)")
            let place = "https://api.test/users?page=2&access_token=***"
            #expect(reason.hasPrefix("The response from \(place) has the status \(status) and the type \(type). "))
            #expect(reason.contains("Its body of \(body.utf8.count) bytes begins with \"\(shown)"), "\(reason)")
            #expect(reason.utf8.count < 500 && !reason.contains("CANARY") && !reason.contains("\n"))
            #expect("\(error)".contains(reason) && name.hasSuffix("\(error.code)"))
            #expect(error.localizedDescription.hasSuffix(reason) == (error.domain == NSCocoaErrorDomain))
            let url = try #require(error.userInfo[NSURLErrorFailingURLErrorKey] as? URL)
            #expect(url.user == nil && url.password == nil && url.path == "/users")
        }
    }

    @Test func `the error of a status keeps the sentence of AFNetworking, and has the rest in its reason`() throws {
        let response = try makeResponse(404, type: "text/plain")
        let error = try #require(serialized(HTTPResponseSerializer(), response, "gone").error)

        #expect(error.localizedDescription == "Request failed: not found (404)")
        #expect(
            error.localizedFailureReason
                == "The response from http://example.com/thing has the status 404 and the type "
                + "text/plain. Its body is \"gone\"."
        )
    }

    @Test func `other decoders name the response as well, and keep their own words in front`() throws {
        let json = try makeResponse(type: "application/json")
        let list = try makeResponse(type: "application/x-plist")
        let decoded = try #require(serialized(DecodingResponseSerializer([Int].self), json, "{}").error)
        let property = try #require(serialized(PropertyListResponseSerializer(), list, "no list").error)
        let nothing = try #require(
            #expect(throws: NSError.self) { try DecodingResponseSerializer([Int].self).value(for: json, data: nil) }
        )

        #expect(decoded.localizedDescription.hasPrefix("Could not decode Array<Int> from the body: "))
        #expect(decoded.localizedDescription.hasSuffix("Its body is \"{}\"."))
        #expect(property.localizedFailureReason?.contains("http://example.com/thing") == true)
        #expect(nothing.localizedFailureReason?.contains("http://example.com/thing") == true)
        for error in [decoded, property] { #expect((error as any Error) is CocoaError) }
    }

    @Test func `an error with a failure reason, and one of a subclass, stays as it is`() throws {
        final class Own: NSError, @unchecked Sendable {}
        let own = Own(domain: "mine", code: 1)
        let told = NSError(domain: "mine", code: 2, userInfo: [NSLocalizedFailureReasonErrorKey: "because"])
        let response = try makeResponse()

        #expect(own.naming(response, body: Data()) === own && told.naming(response, body: Data()) === told)
        let plain = NSError(domain: "mine", code: 3)
        #expect(plain.naming(nil, body: Data()) === plain)
        #expect(plain.naming(response, body: Data()).localizedFailureReason?.hasSuffix("Its body is empty.") == true)
    }
}
