import AFImages
import AFNetworkingTesting
import AFSecurity
import Foundation
import Testing

@testable import AFNetworking

/// The pages at work: their closures run on the main queue, where they may change them.
@MainActor @Suite struct PageTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.install(.everything)
    }

    private func url(_ path: String) -> String { server.url(path).absoluteString }

    @Test func `closures of verbs change the page that made the request`() async throws {
        let page = ListPage()

        page.get(url("/get"))
        try await eventually { page.reloads == 1 || page.errorText != nil }
        page.readError(url("/status/404"))
        try await eventually { page.errorText != nil }

        #expect(!page.isLoading && page.user["url"] != nil)
        #expect(page.errorText?.hasPrefix("404") == true)
    }

    @Test func `the form of a page arrives with the field that was added to it`() async throws {
        let page = TransferPage()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("page-\(UUID()).txt")
        try Data("hello".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }

        page.uploadForm(file, to: url("/post"))
        try await eventually { page.answer != nil }

        let answer = page.answer as? [String: Any]
        #expect((answer?["files"] as? [String: String])?["file"] == "hello")
        #expect((answer?["headers"] as? [String: String])?["Authorization"] == "Bearer token")
    }

    @Test func `blocks for challenges answer under the names that Swift gave them`() async throws {
        let page = HookPage()
        page.answerForTasks(user: "user", password: "passwd")
        page.watch()
        let answer = try await page.manager.get(url("/basic-auth/user/passwd"))
        try await eventually { page.count == 1 }

        page.manager.setTaskDidReceiveAuthenticationChallenge(nil)
        page.manager.setTaskDidComplete(nil)
        #expect(answer.response?.statusCode == 200)
        #expect(page.manager.state.withLock { $0.hooks.authenticationChallenge == nil })

        page.answerForSession(user: "user", password: "passwd")
        #expect(page.manager.state.withLock { $0.hooks.sessionDidReceiveChallenge != nil })
    }

    @Test func `an operation's block for challenges answers under the name that Swift gave it`() async throws {
        let page = OperationPage()
        page.challenge(
            URLRequest(url: server.url("/basic-auth/user/passwd")),
            user: "user",
            password: "passwd"
        )
        try await eventually { page.finished == 1 }

        #expect(server.requests.last?.headers["Authorization"] != nil)
    }

    @Test func `progress and ends of operations change the page that made them`() async throws {
        let page = OperationPage()

        page.single(server.url("/get"))
        page.verbs(url("/post"))
        try await eventually { page.answer != nil && page.finished == 1 }
        page.batch((0..<3).map { _ in URLRequest(url: server.url("/get")) })
        try await eventually { page.answer as? Int == 3 }

        #expect(page.percent == 100 && page.finished == 3)
    }

    @Test func `a request made with a pointer for the error can be changed`() {
        let requests = SerializerPage().requests("http://a.test/")

        #expect(requests.map(\.timeoutInterval) == [5, 60, 60])
        #expect(requests[0].value(forHTTPHeaderField: "X-A") == "a" && !requests[1].httpShouldHandleCookies)
        #expect(requests[2].value(forHTTPHeaderField: "Content-Type") == "application/json")

        var error: NSError?
        let request = AFJSONRequestSerializer()
            .request(withMethod: "POST", urlString: "http://a.test/", parameters: Date(), error: &error)
        #expect(error?.domain == AFURLRequestSerializationErrorDomain && request.url == nil)
    }

    @Test func `an encoding is a value or its number`() throws {
        let serializer = AFHTTPRequestSerializer()
        let usual = serializer.stringEncoding
        #expect(usual == .utf8)

        serializer.stringEncoding = String.Encoding.isoLatin1.rawValue
        let number: UInt = serializer.stringEncoding
        let request = try serializer.request(withMethod: "POST", urlString: "http://a.test/", parameters: ["a": "b"])

        #expect(serializer.stringEncoding == String.Encoding.isoLatin1 && number == 5)
        #expect(request.httpBody == Data("a=b".utf8))
    }

    @Test func `a task says whose it is, until the program says something else`() async throws {
        let page = TransferPage()
        let others = AFHTTPSessionManager()
        let request = URLRequest(url: server.url("/get"))
        let task = page.manager.dataTask(with: request, completionHandler: nil)
        let other = others.dataTask(with: request, completionHandler: nil)

        let address = String(UInt(bitPattern: ObjectIdentifier(page.manager)), radix: 16)
        #expect(task.taskDescription == "0x\(address)")
        #expect(other.taskDescription?.hasPrefix("0x") == true && other.taskDescription != task.taskDescription)

        task.taskDescription = "mine"
        #expect(task.taskDescription == "mine")
        page.cancelAll()
        others.invalidateSessionCancelingTasks(true, resetSession: false)
    }

    @Test func `each class of views has a downloader of its own`() {
        let page = PicturePage()
        page.shareDownloaders()
        defer { PictureView.sharedImageDownloader = .shared }

        #expect(AvatarView.sharedImageDownloader === ImageDownloader.shared)
        #expect(PictureView.sharedImageDownloader !== ImageDownloader.shared)
        #expect(PictureButton.sharedImageDownloader === ImageDownloader.shared)
        AvatarView.sharedImageDownloader = PictureView.sharedImageDownloader
        #expect(AvatarView.sharedImageDownloader === PictureView.sharedImageDownloader)
    }

    @Test func `a picture is loaded by the downloader of the view's class`() async throws {
        final class Own: PictureView {}
        let used = AFImageDownloader(sessionConfiguration: .ephemeral)
        Own.sharedImageDownloader = used
        let view: PictureView = Own()
        view.setImage(with: server.url("/delay/10"))

        #expect(view.imageLoading.activeReceipt?.task.session === used.sessionManager.session)
        view.cancelImageDownloadTask()
    }

    @Test func `the status of the network reaches the page`() async throws {
        let page = StatusPage()

        page.watchNetwork()
        defer { AFNetworkReachabilityManager.shared().stopMonitoring() }
        try await eventually { !page.statusText.isEmpty }

        #expect(["Reachable via WiFi", "Reachable via WWAN", "Not Reachable", "Unknown"].contains(page.statusText))
    }

    @Test func `networks that Linux does not tell apart are kept, in requests and their archives`() throws {
        let request = LoaderPage().networks(server.url("/get"))
        let object = try #require((request as NSURLRequest).mutableCopy() as? NSMutableURLRequest)
        let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
        let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSMutableURLRequest.self, from: data))

        for one in [object, read] {
            #expect(!one.allowsExpensiveNetworkAccess && !one.allowsConstrainedNetworkAccess)
            #expect(one.attribution == .user && one.assumesHTTP3Capable && !one.requiresDNSSECValidation)
        }
        #expect(request != URLRequest(url: server.url("/get")))
        object.attribution = .developer
        object.assumesHTTP3Capable = false
        object.allowsExpensiveNetworkAccess = true
        object.allowsConstrainedNetworkAccess = true
        object.requiresDNSSECValidation = true
        #expect((object as URLRequest).requiresDNSSECValidation)
        object.requiresDNSSECValidation = false
        #expect(object as URLRequest == URLRequest(url: server.url("/get")))

        let configuration = URLSessionConfiguration.default
        #expect(configuration.allowsExpensiveNetworkAccess && configuration.allowsConstrainedNetworkAccess)
        configuration.multipathServiceType = .aggregate
        configuration.requiresDNSSECValidation = true
        configuration.allowsExpensiveNetworkAccess = false
        let copy = configuration.copied()
        #expect(copy.multipathServiceType == .aggregate && copy.requiresDNSSECValidation)
        #expect(!copy.allowsExpensiveNetworkAccess && copy.allowsConstrainedNetworkAccess)
    }

    @Test func `bytes, keys and certificates are compared as in CoreFoundation`() throws {
        let authority = try CertificateAuthority()
        let bytes = authority.certificate.derBytes
        let certificate = try #require(SecCertificateCreateWithData(nil, Data(bytes) as CFData))
        let other = try #require(
            SecCertificateCreateWithData(nil, Data(try CertificateAuthority().certificate.derBytes) as CFData)
        )

        let data: CFData = SecCertificateCopyData(certificate)
        #expect(CFDataGetLength(data) == bytes.count)
        #expect(Array(UnsafeBufferPointer(start: CFDataGetBytePtr(data), count: CFDataGetLength(data))) == bytes)
        #expect(CFEqual(SecCertificateCopyKey(certificate), SecCertificateCopyKey(certificate)))
        #expect(!CFEqual(SecCertificateCopyKey(certificate), SecCertificateCopyKey(other)))
        #expect(CFEqual(certificate, certificate) && !CFEqual(certificate, other) && !CFEqual(certificate, data))
        #expect(CFEqual("a", "a") && CFEqual([1, "a"], [1, "a"]) && !CFEqual(["a": 1], ["a": 2]))

        let short = Data([1, 2, 3])
        #expect(Array(UnsafeBufferPointer(start: CFDataGetBytePtr(short), count: 3)) == [1, 2, 3])
        #expect(CFDataGetBytePtr(short) == CFDataGetBytePtr(Data([1, 2, 3])) && CFDataGetLength(Data()) == 0)
        #expect(CFDataGetBytePtr(nil) == nil && !CFEqual(nil, data))
    }
}
