@Suite("Old names of request serialization")
struct OldNameTests {
    @Test("1.4 8.4 constants have the values that programs compare")
    func constants() {
        #expect(AFURLRequestSerializationErrorDomain == "com.alamofire.error.serialization.request")
        #expect(
            AFNetworkingOperationFailingURLRequestErrorKey == "com.alamofire.serialization.request.error.response"
        )
        #expect(kAFUploadStream3GSuggestedPacketSize == 16_384 && kAFUploadStream3GSuggestedDelay == 0.2)
        #expect(AFHTTPRequestQueryStringSerializationStyle.defaultStyle.rawValue == 0)
        #expect(AFURLResponseSerializationErrorDomain == "com.alamofire.error.serialization.response")
        #expect(AFPercentEscapedStringFromString("a b") == "a%20b")
        #expect(AFQueryStringFromParameters(["key": "value"]) == "key=value")
        #expect((AFJSONObjectByRemovingKeysWithNullValues([NSNull(), 1], []) as? [Int]) == [1])
    }

    @Test("the types are those of the new names")
    func types() {
        #expect(type(of: AFHTTPRequestSerializer.serializer()) == HTTPRequestSerializer.self)
        #expect(
            type(of: AFJSONRequestSerializer.serializer(withWritingOptions: .sortedKeys)) == JSONRequestSerializer.self
        )
        #expect(AFPropertyListRequestSerializer.self == PropertyListRequestSerializer.self)
        #expect(AFJSONResponseSerializer.serializer(with: .mutableContainers).readingOptions == .mutableContainers)
        #expect(AFPropertyListResponseSerializer.self == PropertyListResponseSerializer.self)
        #expect(AFCompoundResponseSerializer.self == CompoundResponseSerializer.self)
        #expect(AFSecurityPolicy.self == SecurityPolicy.self && AFSSLPinningMode.certificate == .certificate)
    }

    @Test("a user name and a password are set as in AFNetworking 2")
    func password() {
        let serializer = HTTPRequestSerializer.serializer()
        serializer.setAuthorizationHeaderField(withUsername: "Aladdin", password: "open sesame")

        #expect(serializer.value(forHTTPHeaderField: "Authorization") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    }

    @Test("a class written for AFNetworking compiles and works")
    func ported() throws {
        final class Ported: NSObject, AFURLRequestSerialization {
            static var supportsSecureCoding: Bool { true }
            override init() {}
            init?(coder: NSCoder) {}
            func encode(with coder: NSCoder) {}
            func copy(with zone: NSZone? = nil) -> Any { self }

            func request(
                bySerializing request: AFNetworking.URLRequest,
                withParameters parameters: Any?,
                error: NSErrorPointer
            ) -> AFNetworking.URLRequest? {
                guard parameters != nil else { return nil }
                return AFHTTPRequestSerializer().request(
                    bySerializing: request,
                    withParameters: parameters,
                    error: error
                )
            }
        }
        let request = URLRequest(url: try #require(URL(string: "http://api.test/")))
        let serializer: any AFURLRequestSerialization = Ported()

        #expect(try serializer.request(bySerializing: request, withParameters: ["a": 1]).url?.query == "a=1")
        // Neither a request nor an error.
        let error = #expect(throws: NSError.self) {
            try serializer.request(bySerializing: request, withParameters: nil)
        }
        #expect(error?.domain == AFURLRequestSerializationErrorDomain)
        let form: ((any AFMultipartFormData) -> Void)? = nil
        #expect(form == nil)
    }

    @Test("8.3 a token is sent as it was in AFNetworking 2")
    @available(*, deprecated)
    func token() {
        let serializer = HTTPRequestSerializer.serializer()
        serializer.setAuthorizationHeaderFieldWithToken("abc")

        #expect(serializer.value(forHTTPHeaderField: "Authorization") == "Token token=\"abc\"")
    }
}
